// The tool "attune": what is there, what runs here, emit it, check it, tune it.
#include "generated/command_line.hpp"
#include "generated/tool/commands.hpp"

[[gnu::weak]] void attune::add_bench_command(CLI::App &) {}

int main(int argc, char **argv) {
  CLI::App app("Attune: attention operators as libraries of machine code, one per target.");
  app.set_version_flag("--version", ATTUNE_VERSION);
  app.require_subcommand(1);
  app.footer(attune::exit_status_help);
  attune::add_specs_command(app);
  attune::add_targets_command(app);
  attune::add_emit_command(app);
  attune::add_check_command(app);
  attune::add_tune_command(app);
  attune::add_bench_command(app);
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands([&](CLI::App *known) { return known->check_name(argv[1]); }).empty()) {
    fmt::print(stderr, "attune: there is no subcommand \"{}\"; --help lists them\n", argv[1]);
    return attune::exit_status::not_done;
  }
  return attune::run_command_line(app, argc, argv, "attune");
}
