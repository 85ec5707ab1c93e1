#include "generated/table_options.hpp"
#include "runtime/cpu_name.hpp"
#include "schedules/schedule_tables.hpp"
#include <cstdlib>
#include <stdexcept>

namespace attune {

void table_options::add_to(CLI::App &app) {
  app.add_option("--tables", tables, "folder of tables to look at before ATTUNE_TABLES and the shipped ones");
  app.add_option("--cpu", cpu, "CPU whose table comes first; ATTUNE_CPU, or else this machine's, if not given");
}

void table_options::require_tables() const {
  if (!tables.empty() && !std::filesystem::is_directory(tables))
    throw std::runtime_error("--tables " + tables.string() + ": there is no such folder. \"attune tune\" makes one.");
}

void table_options::use() const {
  if (const char *folder = std::getenv("ATTUNE_TABLES"); folder && *folder && !std::filesystem::is_directory(folder))
    throw std::runtime_error(std::string("the environment variable ATTUNE_TABLES says ") + folder + ", and there is no such folder. Set it to a folder of tables, or unset it.");
  table_places places = places_from_environment(cpu_name());
  if (!tables.empty()) places.folders.insert(places.folders.begin(), tables);
  if (!cpu.empty()) places.cpu = cpu;
  use_tables(places);
}

} // namespace attune
