# The emitter and attune_add_library. The two libraries hold one spec in common.
attune_add_library(emission_first HEADERS emission/specs.hpp SPECS sample::both sample::nested::only_first TARGETS avx2 avx512 neon)
attune_add_library(emission_second HEADERS emission/specs.hpp SPECS sample::both sample::only_second TARGETS avx2)

attune_test(emission SOURCES emission/emitter_test.cpp emission/manifest_test.cpp LIBRARIES attune_generate nlohmann_json::nlohmann_json)
attune_test(lengths SOURCES emission/lengths_test.cpp LIBRARIES attune_generate attune_check fmt::fmt)
target_compile_definitions(codegen_lengths_test PRIVATE CXX="${CMAKE_CXX_COMPILER}" SOURCES="${PROJECT_SOURCE_DIR}" RUNTIME="$<TARGET_FILE:attune_runtime>"
  HALIDE_INCLUDES="'$<JOIN:$<TARGET_PROPERTY:Halide::Runtime,INTERFACE_INCLUDE_DIRECTORIES>,' -isystem '>'")
add_test(NAME codegen.lengths_opencl COMMAND codegen_lengths_test [.opencl])
set_tests_properties(codegen.lengths_opencl PROPERTIES LABELS codegen SKIP_RETURN_CODE 77)

# Two libraries with the same spec in one program, each called through a header of its own.
add_executable(two_libraries emission/two_libraries.cpp emission/call_first.cpp emission/call_second.cpp)
target_link_libraries(two_libraries PRIVATE emission_first emission_second)
attune_warnings(two_libraries)
add_test(NAME codegen.two_libraries COMMAND two_libraries)
set(emission_tests codegen.two_libraries codegen.emitted_header codegen.own_project)

get_target_property(first_folder emission_first ATTUNE_FOLDER)
foreach(machine X86_64 AARCH64)
  get_target_property(kernels emission_first ATTUNE_${machine}_KERNELS)
  if(kernels)
    string(TOLOWER ${machine} lower)
    set(link "")
    if(lower STREQUAL CMAKE_SYSTEM_PROCESSOR)
      set(link -DCXX=${CMAKE_CXX_COMPILER} -DRUNTIME=$<TARGET_FILE:attune_runtime> -DREADELF=${CMAKE_READELF} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/symbols_test)
    endif()
    add_test(NAME codegen.symbols_${lower} COMMAND ${CMAKE_COMMAND} -DKERNELS=${kernels} -DNM=${CMAKE_NM} -DVISIBLE=${first_folder}/${lower}.visible ${link}
      -P ${CMAKE_CURRENT_LIST_DIR}/emission/symbols_test.cmake)
    list(APPEND emission_tests codegen.symbols_${lower})
  endif()
endforeach()
get_target_property(stock_folder attune_stock ATTUNE_FOLDER)
add_test(NAME codegen.emitted_header COMMAND ${CMAKE_COMMAND} -DFOLDER=${first_folder} -DSTOCK=${stock_folder} -DINCLUDE=${PROJECT_SOURCE_DIR} -DCXX=${CMAKE_CXX_COMPILER}
  -P ${CMAKE_CURRENT_LIST_DIR}/emission/header_test.cmake)
add_test(NAME codegen.own_project COMMAND ${CMAKE_COMMAND} -DATTUNE_BUILD=${CMAKE_BINARY_DIR} -DSOURCE=${CMAKE_CURRENT_LIST_DIR}/emission/project
  "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/project test" -DCXX=${CMAKE_CXX_COMPILER} -DMAKE=${CMAKE_MAKE_PROGRAM}
  -P ${CMAKE_CURRENT_LIST_DIR}/emission/project_test.cmake)
set_tests_properties(${emission_tests} PROPERTIES LABELS codegen)
set_tests_properties(codegen.own_project PROPERTIES LABELS "codegen;package")
