// Inputs and the reference's answers from another program: one that runs under an emulator asks one that the machine runs itself, where
// they take a twentieth of the time. What is left to emulate is the call and the comparison.
#pragma once
#include "generated/check.hpp"
#include "tests/support/tested_kernel.hpp"
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace attune {

struct close_file {
  void operator()(std::FILE *f) const { std::fclose(f); }
};
using file_pointer = std::unique_ptr<std::FILE, close_file>;

/// In the program that asks: questions go to descriptor 3, answers come from standard input.
class native_answers {
public:
  native_answers(const tested_kernel &kernel, target_id target);
  /// The case's inputs go into `call`. Throws where no answer comes, one that is cut off, or one to another question.
  reference_answer ask(check_call &call) const;

private:
  std::string subject_;
  file_pointer questions_;
};

/// In the program that answers: starts the one that asks, answers it until it ends, and returns its exit status. The last of `command`
/// is null.
int run_with_answers(const tested_kernel &kernel, target_id target, const std::vector<char *> &command);

} // namespace attune
