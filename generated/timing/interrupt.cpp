#include "generated/timing/interrupt.hpp"
#include <csignal>

namespace attune {
namespace {
volatile std::sig_atomic_t caught = 0;
} // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { caught = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND); // no SA_RESTART: waiting ends
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return caught != 0; }

} // namespace attune
