// The subcommands of the tool "attune". Each adds itself to the app and does its work in a callback.
#pragma once
#include <CLI/CLI.hpp>

namespace attune {

void add_specs_command(CLI::App &);
void add_targets_command(CLI::App &);
void add_emit_command(CLI::App &);
void add_check_command(CLI::App &);
void add_tune_command(CLI::App &);
/// Does nothing in tools for libraries of one's own: the benchmarks are of Attune's kernels (bench/bench_command.cpp).
void add_bench_command(CLI::App &);

} // namespace attune
