#include "generated/manifest.hpp"
#include "generated/files.hpp"
#include <fstream>
#include <nlohmann/json.hpp>

namespace attune {
namespace {
using json = nlohmann::ordered_json;

json json_of(const schedule_point &point) {
  json parameters = json::object();
  for (const auto &[name, value] : point.parameters) parameters[name] = value;
  return {{"family", point.family}, {"parameters", parameters}, {"origin", point.origin}, {"why", point.why}, {"text", point.text()}};
}

schedule_point schedule_from(const json &j) {
  schedule_point point{j.at("family"), {}, j.at("origin"), j.at("why")};
  for (const auto &[name, value] : j.at("parameters").items()) point.parameters.emplace_back(name, value);
  return point;
}

json json_of(const emitted_kernel &kernel) {
  json buckets = json::array();
  for (const length_bucket b : kernel.buckets) buckets.push_back(name_of(b));
  return {{"buckets", buckets}, {"run", kernel.run}, {"schedule", json_of(kernel.schedule)}};
}

emitted_kernel kernel_from(const json &j) {
  emitted_kernel kernel{{}, j.at("run"), schedule_from(j.at("schedule"))};
  for (const std::string name : j.at("buckets")) kernel.buckets.push_back(find_length_bucket(name).value());
  return kernel;
}
} // namespace

void write(const manifest &m, const std::filesystem::path &file) {
  json j = {{"schema", manifest::schema}, {"spec", m.spec}, {"hash", m.hash}, {"canonical_text", m.canonical_text},
            {"target", m.target}, {"halide_target", m.halide_target}};
  if (m.refused.empty()) {
    j["status"] = "emitted";
    j["kernels"] = json::array();
    for (const emitted_kernel &kernel : m.kernels) j["kernels"].push_back(json_of(kernel));
    j["panel_lanes"] = m.panel_lanes;
    j["pack"] = m.pack;
    j["object"] = m.object;
    j["bytes"] = m.bytes;
    j["compile_seconds"] = m.compile_seconds;
  } else {
    j["status"] = "refused";
    j["reason"] = m.refused;
  }
  j["fingerprint"] = m.fingerprint;
  j["versions"] = {{"attune", m.attune_version}, {"halide", m.halide_version}, {"llvm", m.llvm_version}, {"generator", m.generator}};
  write_if_different(file, j.dump(2) + "\n");
}

std::optional<manifest> read_manifest(const std::filesystem::path &file) try {
  const json j = json::parse(text_of(file), nullptr, /*allow_exceptions=*/false);
  if (!j.is_object() || j.value("schema", 0) != manifest::schema) return std::nullopt;
  manifest m;
  m.spec = j.at("spec");
  m.hash = j.at("hash");
  m.canonical_text = j.at("canonical_text");
  m.target = j.at("target");
  m.halide_target = j.at("halide_target");
  if (j.at("status") == "emitted") {
    for (const json &kernel : j.at("kernels")) m.kernels.push_back(kernel_from(kernel));
    m.panel_lanes = j.at("panel_lanes");
    m.pack = j.at("pack");
    m.object = j.at("object");
    m.bytes = j.at("bytes");
    m.compile_seconds = j.at("compile_seconds");
  } else {
    m.refused = j.at("reason");
  }
  m.fingerprint = j.at("fingerprint");
  m.attune_version = j.at("versions").at("attune");
  m.halide_version = j.at("versions").at("halide");
  m.llvm_version = j.at("versions").at("llvm");
  m.generator = j.at("versions").at("generator");
  return m;
} catch (const json::exception &) { // a member is missing or of another kind
  return std::nullopt;
}

} // namespace attune
