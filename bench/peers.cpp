#include "bench/peers.hpp"
#include "generated/timing/interrupt.hpp"
#include "bench/sampling.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>
#include <unistd.h>

namespace attune::bench {
namespace {
namespace fs = std::filesystem;

/// Those that bench/peers/ has a program for, best known first.
const std::vector<std::string> known_peers{"onnxruntime", "openvino", "llama_cpp", "torch"};

bool is_installed(const fs::path &folder, const std::string &name) { return access((folder / name / "attune-peer").c_str(), X_OK) == 0; }

/// The request "prepare" for a work whose inputs lie in a folder.
nlohmann::json request_for(const work &w, const fs::path &folder) {
  const numbers &n = w.info().n;
  std::vector<int> cores(usable_cores().begin(), usable_cores().begin() + w.threads);
  const char *const form = is_projected(n) ? "layer" : w.counts == measure::bytes ? "decode" : "attention";
  return {{"form", form},         {"element", name_of(n.element)},
          {"batch", w.batch},     {"heads", n.heads},
          {"kv_heads", n.kv_heads}, {"head_dim", n.head_dim},
          {"model_dim", n.model_dim}, {"queries", w.queries},
          {"keys", w.keys},       {"causal", n.causal != causal_alignment::off},
          {"copies", w.copies()}, {"threads", w.threads},
          {"cores", cores},       {"folder", folder.string()}};
}

/// The ways that a peer does not offer; one sentence for all of them where the reason is the same.
void note_left_out(const std::string &name, const peer_offer &offer, std::map<std::string, std::string> &left_out) {
  std::set<std::string> reasons;
  for (const auto &[way, why] : offer.left_out) reasons.insert(why);
  if (offer.ways.empty() && reasons.size() <= 1) left_out[name] = reasons.empty() ? "it has no operator for this work" : *reasons.begin();
  else
    for (const auto &[way, why] : offer.left_out) left_out[name + " " + way] = why;
}

/// Whether files can be made there, and the largest work's fit: K and V of 16,384 keys in 8 heads of 128 f32 take 134 MB, and a result comes on top.
bool has_room(const fs::path &folder) {
  constexpr std::uintmax_t enough = std::uintmax_t{256} << 20;
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  return !failed && space.available >= enough && access(folder.c_str(), W_OK) == 0;
}

/// Memory where there is enough (containers often have little), so that large inputs do not go through a disk.
fs::path make_scratch() {
  const char *chosen = std::getenv("TMPDIR");
  const fs::path memory = "/dev/shm", parent = chosen ? fs::path(chosen) : has_room(memory) ? memory : fs::temp_directory_path();
  std::string pattern = (parent / "attune-bench.XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error(fmt::format("no folder could be made in {}; TMPDIR names another one", parent.string()));
  return pattern;
}
} // namespace

peer_list::peer_list(const peer_setting &setting) : setting_(setting) {
  if (setting_.names == std::vector<std::string>{"none"}) return;
  const bool all = setting_.names.empty() || setting_.names == std::vector<std::string>{"auto"};
  for (const std::string &name : all ? known_peers : setting_.names) {
    if (is_installed(setting_.folder, name)) installed_.push_back(name);
    else if (std::find(known_peers.begin(), known_peers.end(), name) != known_peers.end()) missing_.push_back(name);
    else
      throw std::runtime_error(fmt::format("there is no peer \"{}\"; peers are {}, and every {}/<name>/attune-peer", name, fmt::join(known_peers, ", "),
                                           setting_.folder.string()));
  }
  if (!installed_.empty()) scratch_ = make_scratch();
}

peer_list::~peer_list() {
  end();
  std::error_code ignored;
  if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
}

void peer_list::end() { processes_.clear(); }

std::vector<peer_way> peer_list::prepare(const work &w, const timed_call &ours, const expected_rows &expected, std::map<std::string, std::string> &left_out) {
  end();
  std::vector<peer_way> ready;
  if (installed_.empty() || !w.compared) return ready;
  ours.write_inputs(scratch_);
  const std::vector<float> our_output = ours.output();
  for (const std::string &name : installed_) {
    if (interrupted()) break;
    try {
      processes_.push_back(std::make_unique<peer_process>(name, setting_.folder / name / "attune-peer", scratch_ / (name + ".log"), setting_.patience));
      peer_process &process = *processes_.back();
      const peer_offer offer = process.prepare(request_for(w, scratch_));
      versions_[name] = offer.version;
      note_left_out(name, offer, left_out);
      for (const std::string &way : offer.ways) {
        if (const auto wrong = check(process, way, w, our_output, expected)) left_out[name + " " + way] = *wrong;
        else ready.push_back({&process, name + " " + way, way, median_of(process.run(way, 3))});
      }
    } catch (const peer_error &e) {
      left_out[name] = e.what();
      std::erase_if(ready, [&](const peer_way &r) { return r.process->name() == name; });
    }
  }
  for (const auto &file : fs::directory_iterator(scratch_))
    if (file.path().extension() == ".bin") fs::remove(file.path());
  return ready;
}

/// What is wrong with a way's answer: against the reference in the last queries, against ours everywhere.
std::optional<std::string> peer_list::check(peer_process &process, const std::string &way, const work &w, const std::vector<float> &ours,
                                            const expected_rows &expected) {
  process.run(way, 1);
  const std::vector<float> theirs = process.result(way, scratch_ / "result.bin");
  const auto wrong = [&](const char *from, double off, double allowed) {
    return fmt::format("its answer is wrong: off from {} by {:.3g}, allowed {:.3g}", from, off, allowed);
  };
  if (theirs.size() != ours.size()) return fmt::format("its answer is wrong: {} numbers, expected {}", theirs.size(), ours.size());
  const double error = error_in_bounds(theirs, expected, w);
  if (!(error <= peer_tolerance)) return wrong("the reference", error * expected.bound, peer_tolerance * expected.bound);
  double largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double off = std::abs(double(theirs[i]) - ours[i]);
    if (!(off <= largest)) largest = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
  }
  const double allowed = (peer_tolerance + 1) * expected.bound;
  if (!(largest <= allowed)) return wrong("ours", largest, allowed);
  return std::nullopt;
}

} // namespace attune::bench
