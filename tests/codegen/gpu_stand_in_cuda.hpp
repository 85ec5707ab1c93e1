// A libcuda.so.1 that computes nothing: it keeps device memory on the host and records what is loaded and launched. It lets
// the host side of a CUDA call run on a machine without a GPU.
#pragma once

struct stand_in_launch {
  unsigned grid[3], block[3], shared_bytes;
};

struct stand_in_record {
  int modules;             ///< loaded
  char module_head[2048];  ///< the beginning of the last one
  int launches;
  stand_in_launch last;
  long long bytes_to_device, bytes_from_device;
  int allocations_alive;
};

/// What the library exports beside the driver's functions.
using stand_in_record_function = stand_in_record *();
