// Ctrl-C and SIGTERM as a question that long work asks, so that what is complete can be written first.
#pragma once

namespace attune {

/// From here on the first SIGINT or SIGTERM only sets the answer; a second one ends the program.
void catch_interrupts();
bool interrupted();

} // namespace attune
