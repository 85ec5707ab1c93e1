# Sourced by scripts/demo and scripts/test, from the top of the project: the release build, quiet where all is well.
export PATH="$PWD/build/release/venv/bin:$PATH"

# As many compilers as there are cores, but no more than memory holds at 2 GiB each.
jobs=$(awk -v cores="$(nproc)" '/^MemAvailable/ { fit = int($2 / 2097152); print fit < 1 ? 1 : (fit < cores ? fit : cores) }' /proc/meminfo)

build_release() { # targets of CMake
  local log=build/release/configure.log
  cmake --preset release >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  cmake --build --preset release -j "$jobs" --target "$@"
}
