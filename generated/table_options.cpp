#include "generated/table_options.hpp"
#include "runtime/cpu_name.hpp"
#include "schedules/schedule_tables.hpp"

namespace attune {

void table_options::add_to(CLI::App &app) {
  app.add_option("--tables", tables, "folder of tables to look at before ATTUNE_TABLES and the shipped ones");
  app.add_option("--cpu", cpu, "CPU whose table comes first; ATTUNE_CPU, or else this machine's, if not given");
}

void table_options::use() const {
  table_places places = places_from_environment(cpu_name());
  if (!tables.empty()) places.folders.insert(places.folders.begin(), tables);
  if (!cpu.empty()) places.cpu = cpu;
  use_tables(places);
}

} // namespace attune
