// The tool "attune": what is there, what runs here, emit it, check it, tune it.
#include "generated/tool/commands.hpp"
#include <fmt/format.h>

[[gnu::weak]] void attune::add_bench_command(CLI::App &) {}

int main(int argc, char **argv) {
  CLI::App app("Attune: attention operators as libraries of machine code, one per target.");
  app.set_version_flag("--version", ATTUNE_VERSION);
  app.require_subcommand(1);
  attune::add_specs_command(app);
  attune::add_targets_command(app);
  attune::add_emit_command(app);
  attune::add_check_command(app);
  attune::add_tune_command(app);
  attune::add_bench_command(app);
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands([&](CLI::App *known) { return known->check_name(argv[1]); }).empty()) {
    fmt::print(stderr, "attune: there is no subcommand \"{}\"; --help lists them\n", argv[1]);
    return 1;
  }
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError &e) {
    return app.exit(e);
  } catch (const std::exception &e) {
    fmt::print(stderr, "attune: {}\n", e.what());
    return 1;
  }
}
