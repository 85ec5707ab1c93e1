// The peers of a run: which are installed, which one can do a work and gives the right answer, and which are left out and why.
#pragma once
#include "bench/peer_process.hpp"
#include "bench/timed_call.hpp"
#include <memory>
#include <optional>

namespace attune::bench {

struct peer_setting {
  std::vector<std::string> names;  ///< "auto": all that are installed; "none"; or names
  std::filesystem::path folder;    ///< <folder>/<name>/attune-peer is the program of a peer (scripts/setup_peers)
  std::chrono::seconds patience{180};
};

/// One way of a peer to compute the work at hand, checked.
struct peer_way {
  peer_process *process = nullptr;
  std::string name;                ///< "onnxruntime MultiHeadAttention"
  std::string way;                 ///< as the peer calls it
  double seconds = 0;              ///< of a call, roughly
};

class peer_list {
public:
  /// Throws std::runtime_error if a name is given that is neither known nor in the folder.
  explicit peer_list(const peer_setting &);
  ~peer_list();

  /// The ways that gave the right answer, for rounds to time. Processes of the work before are ended. `left_out` gets a
  /// sentence for each way or peer that is not timed.
  std::vector<peer_way> prepare(const work &, const timed_call &ours, const expected_rows &, std::map<std::string, std::string> &left_out);
  /// Ends the processes.
  void end();

  const std::vector<std::string> &missing() const { return missing_; }
  const std::map<std::string, std::string> &versions() const { return versions_; } ///< of those that have answered

private:
  std::optional<std::string> check(peer_process &, const std::string &way, const work &, const std::vector<float> &ours, const expected_rows &);

  peer_setting setting_;
  std::vector<std::string> installed_, missing_;
  std::map<std::string, std::string> versions_;
  std::vector<std::unique_ptr<peer_process>> processes_;
  std::filesystem::path scratch_; ///< inputs and results of the work at hand
};

/// A peer's output may be off by so many times what our own kernels may (generated/check.hpp).
inline constexpr double peer_tolerance = 4;

} // namespace attune::bench
