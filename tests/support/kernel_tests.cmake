# Tests of emitted libraries: what a library holds, as C++, and one ctest test for each spec and target.
set(ATTUNE_TEST_SUPPORT ${CMAKE_CURRENT_LIST_DIR})
set(ATTUNE_NOT_RUN 77) # exit status of a test whose target cannot run here

# Of the two targets that multiply bf16 no machine runs both: the tests' own specs are emitted for the one that runs here. The stock
# library has both, on every machine.
set(widest_target avx512_bf16)
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo amx LIMIT_COUNT 1 REGEX " amx_bf16")
  if(amx)
    set(widest_target avx512_amx)
  endif()
endif()
set(ATTUNE_TEST_TARGETS avx2 avx512 ${widest_target} CACHE STRING "x86 targets that the tests' own specs are emitted for and every test runs on")

# ARM targets that the tests' own specs are emitted for: all of them, and those of 16-bit elements only.
set(ATTUNE_TEST_ARM_TARGETS neon neon_fp16 CACHE STRING "ARM targets that the tests' own specs are emitted for")
set(arm_targets neon)
set(arm_halves neon_fp16)
foreach(set arm_targets arm_halves)
  if(NOT ${set} IN_LIST ATTUNE_TEST_ARM_TARGETS)
    set(${set} "")
  endif()
endforeach()

# The spec structs that headers define in one namespace: a struct with a body. Input tags are empty.
function(attune_specs_in result namespace)
  set(specs "")
  foreach(header IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(STRINGS ${header} lines REGEX "^struct [A-Za-z0-9_]+ {")
    foreach(line IN LISTS lines)
      if(NOT line MATCHES "{};" AND line MATCHES "^struct ([A-Za-z0-9_]+) {")
        list(APPEND specs ${namespace}::${CMAKE_MATCH_1})
      endif()
    endforeach()
  endforeach()
  set(${result} "${specs}" PARENT_SCOPE)
endfunction()

# The specs that a library holds for a target.
function(attune_specs_for result library target)
  get_target_property(specs ${library} ATTUNE_PAIRS)
  list(FILTER specs INCLUDE REGEX ":${target}$")
  list(TRANSFORM specs REPLACE ":${target}$" "")
  set(${result} "${specs}" PARENT_SCOPE)
endfunction()

# attune_list_kernels(<library> HEADERS <header>... SPECS <struct>...)
# Writes <library>_under_test.hpp (specs and emitted headers) and <library>_under_test.cpp (tested_kernels()), and makes the
# program kernel_check_<library>. Both lie in the folder that ATTUNE_TESTED names.
set(ATTUNE_TESTED ${CMAKE_BINARY_DIR}/tests/under_test)
function(attune_list_kernels library)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SPECS")
  set(includes "")
  set(rows "")
  foreach(header IN LISTS arg_HEADERS)
    string(APPEND includes "#include \"${header}\"\n")
  endforeach()
  foreach(spec IN LISTS arg_SPECS)
    string(REGEX REPLACE "^.*::" "" stem ${spec})
    string(APPEND includes "#include \"${library}/${stem}.hpp\"\n")
    string(APPEND rows "      {\"${stem}\", refer<::${spec}>, artefact<::${spec}>::info},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${ATTUNE_TESTED}/${library}_under_test.hpp @ONLY CONTENT "#pragma once\n@includes@")
  file(CONFIGURE OUTPUT ${ATTUNE_TESTED}/${library}_under_test.cpp @ONLY CONTENT [[
#include "@library@_under_test.hpp"
#include "dsl/reference/refer.hpp"
#include "tests/support/tested_kernel.hpp"

const std::vector<attune::tested_kernel> &attune::tested_kernels() {
  static const std::vector<tested_kernel> all{
@rows@  };
  return all;
}
]])
  add_executable(kernel_check_${library} ${ATTUNE_TEST_SUPPORT}/kernel_check.cpp ${ATTUNE_TEST_SUPPORT}/native_answers.cpp ${ATTUNE_TESTED}/${library}_under_test.cpp)
  target_link_libraries(kernel_check_${library} PRIVATE attune_check ${library})
  attune_warnings(kernel_check_${library})
endfunction()

# attune_test_kernels(<library> LABELS <label>... SPECS <struct>... TARGETS <target>... [COMMAND <program>...] [WORK <n>])
# One test for each spec and target: <first label>.<library>.<spec>.<target>. COMMAND runs another program than kernel_check_<library>.
function(attune_test_kernels library)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "WORK" "LABELS;SPECS;TARGETS;COMMAND")
  if(NOT arg_COMMAND)
    set(arg_COMMAND kernel_check_${library})
  endif()
  list(GET arg_LABELS 0 folder)
  string(REGEX REPLACE "^attune_|_kernels$" "" library_name ${library})
  foreach(spec IN LISTS arg_SPECS)
    string(REGEX REPLACE "^.*::" "" stem ${spec})
    foreach(target IN LISTS arg_TARGETS)
      set(test ${folder}.${library_name}.${stem}.${target})
      add_test(NAME ${test} COMMAND ${arg_COMMAND} ${stem} ${target} ${arg_WORK})
      set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE ${ATTUNE_NOT_RUN} TIMEOUT 600)
    endforeach()
  endforeach()
endfunction()

# attune_add_target_program(<name> SOURCES <file>... LIBRARIES <library>...): a Catch2 program that runs on the target which
# ATTUNE_TEST_TARGET names.
function(attune_add_target_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(NOT TARGET attune_target_main)
    add_library(attune_target_main OBJECT ${ATTUNE_TEST_SUPPORT}/catch_main.cpp)
    target_link_libraries(attune_target_main PRIVATE attune_check)
    target_compile_options(attune_target_main PRIVATE -O0)
    attune_warnings(attune_target_main)
  endif()
  add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:attune_target_main>)
  target_compile_options(${name} PRIVATE -O1) # what is tested lies in libraries
  target_include_directories(${name} PRIVATE ${ATTUNE_TESTED})
  target_link_libraries(${name} PRIVATE attune_check ${arg_LIBRARIES})
  attune_warnings(${name})
endfunction()

# attune_add_pinned_program(<name> SOURCES <file>...): the same for tests that compile kernels themselves, at schedules that they pin.
function(attune_add_pinned_program name)
  if(NOT TARGET attune_pinned_kernels)
    add_library(attune_pinned_kernels STATIC ${ATTUNE_TEST_SUPPORT}/pinned_kernel.cpp)
    target_link_libraries(attune_pinned_kernels PUBLIC attune_tuning)
    attune_warnings(attune_pinned_kernels)
  endif()
  attune_add_target_program(${name} ${ARGN} LIBRARIES attune_pinned_kernels)
endfunction()

# attune_test_on_targets(<program> LABELS <label>... TARGETS <target>... [COMMAND <program>...]): one test for each target,
# <first label>.<program>.<target>.
function(attune_test_on_targets name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS;TARGETS;COMMAND")
  if(NOT arg_COMMAND)
    set(arg_COMMAND ${name})
  endif()
  list(GET arg_LABELS 0 folder)
  foreach(target IN LISTS arg_TARGETS)
    add_test(NAME ${folder}.${name}.${target} COMMAND ${arg_COMMAND})
    set_tests_properties(${folder}.${name}.${target} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE ${ATTUNE_NOT_RUN} TIMEOUT 600
                         ENVIRONMENT ATTUNE_TEST_TARGET=${target})
  endforeach()
endfunction()
