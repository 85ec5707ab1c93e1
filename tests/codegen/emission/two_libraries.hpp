// Both libraries hold sample::both; each of these files includes the header of one of them.
#pragma once

struct answers {
  float both, own; ///< an element of the output when every value is 1, by the spec in common and by one of the library's own
};

answers call_first();
answers call_second();
