# Halide comes as a Python wheel with a CMake package inside. scripts/setup puts it into build/release/venv; a Halide of
# your own goes into CMAKE_PREFIX_PATH (for a wheel: <site-packages>/halide/lib64/cmake) and is found first.
set(ATTUNE_VENV ${PROJECT_SOURCE_DIR}/build/release/venv CACHE PATH "Python environment made by scripts/setup")
file(GLOB attune_wheel_packages ${ATTUNE_VENV}/lib/python3*/site-packages/halide/lib64/cmake)
list(APPEND CMAKE_PREFIX_PATH ${attune_wheel_packages})
find_package(Halide 21.0.0 QUIET)
if(NOT Halide_FOUND)
  message(FATAL_ERROR "Halide 21.0.0 was not found, neither in ${ATTUNE_VENV} nor in CMAKE_PREFIX_PATH. "
                      "Run scripts/setup once, then configure again.")
endif()
