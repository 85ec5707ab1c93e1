# The GPU family: results on an OpenCL device, CUDA kernels through ptxas, calls through the wrapper on both. A test whose device
# or tool is not there ends with 77: not run.
foreach(name results conversions)
  add_executable(gpu_${name}_test gpu_${name}.cpp gpu_trial.cpp gpu_opencl_main.cpp)
  target_link_libraries(gpu_${name}_test PRIVATE attune_generate attune_runtime Catch2::Catch2)
  attune_warnings(gpu_${name}_test)
  add_test(NAME codegen.gpu_${name} COMMAND gpu_${name}_test)
endforeach()

add_executable(gpu_ptx_test gpu_ptx.cpp gpu_trial.cpp)
target_link_libraries(gpu_ptx_test PRIVATE attune_generate Catch2::Catch2)
attune_warnings(gpu_ptx_test)
add_test(NAME codegen.gpu_ptx COMMAND gpu_ptx_test)

attune_add_library(gpu_call_library HEADERS gpu_call_specs.hpp SPECS gpu_call::causal gpu_call::grouped TARGETS avx2 opencl cuda_sm80)
add_executable(gpu_call_opencl_test gpu_call_opencl.cpp gpu_opencl_main.cpp)
target_link_libraries(gpu_call_opencl_test PRIVATE gpu_call_library attune_runtime Catch2::Catch2)
attune_warnings(gpu_call_opencl_test)
add_test(NAME codegen.gpu_call_opencl COMMAND gpu_call_opencl_test)

add_library(gpu_stand_in_cuda SHARED gpu_stand_in_cuda.cpp)
set_target_properties(gpu_stand_in_cuda PROPERTIES OUTPUT_NAME cuda VERSION 1 SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/stand_in)
target_include_directories(gpu_stand_in_cuda PRIVATE ${PROJECT_SOURCE_DIR})
attune_warnings(gpu_stand_in_cuda)
add_executable(gpu_call_cuda_test gpu_call_cuda.cpp)
target_link_libraries(gpu_call_cuda_test PRIVATE attune_catch_main gpu_call_library ${CMAKE_DL_LIBS})
add_dependencies(gpu_call_cuda_test gpu_stand_in_cuda)
attune_warnings(gpu_call_cuda_test)
add_test(NAME codegen.gpu_call_cuda COMMAND gpu_call_cuda_test)
set_tests_properties(codegen.gpu_call_cuda PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/stand_in)

set_tests_properties(codegen.gpu_results codegen.gpu_conversions codegen.gpu_ptx codegen.gpu_call_opencl codegen.gpu_call_cuda
                     PROPERTIES LABELS codegen SKIP_RETURN_CODE 77 TIMEOUT 900)
set_tests_properties(codegen.gpu_ptx codegen.gpu_call_cuda PROPERTIES LABELS "codegen;cuda")
