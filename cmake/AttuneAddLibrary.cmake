# attune_add_library(<name>
#   HEADERS <file>...      headers that define the specs, relative to the current source folder
#   SPECS <struct>...      the spec structs, with their namespaces: gpt2 my_app::variant
#   TARGETS <target>...    avx2 avx512 avx512_bf16 avx512_amx neon neon_fp16 cuda_sm80 opencl (dsl/targets.hpp)
#   [ALSO <struct>:<target>...]  single specs for further targets
#   [INCLUDES <folder>...] further include folders that the headers need
# )
# For the tool that checks and tunes the library's specs see attune_add_tool (AttuneAddTool.cmake).
#
# Makes the static library <name> with one kernel per spec and target. A target that links it can
#   #include "<name>/<spec>.hpp"       (the last part of the spec's name)
# and call attune::kernel<spec>. A target that cannot carry a spec is skipped; the build says so in one line.
#
# Where things are (properties of the target <name>):
#   ATTUNE_FOLDER     all that is emitted: include/<name>/*.hpp, registration.cpp, objects/<spec>.<target>.{o,json}
#   ATTUNE_<MACHINE>_KERNELS   (X86_64, AARCH64) one relocatable object: the kernels, their Halide runtime and hooks, with
#                     only the generated functions and the installation of the hooks visible. The one of the machine that
#                     is built for is part of <name>. The other one is built where binutils and a C++ compiler for it
#                     are there (Debian: g++-aarch64-linux-gnu); a build for that machine makes the library from the
#                     folder by attune_import_library(<name> <folder>).
# Schedules come from tables of tuned ones where there is a record (docs/tuning.md): the cache variables ATTUNE_TABLES and ATTUNE_CPU.
# An untouched spec is not emitted again: the emitter compares a fingerprint of the spec's text, target, schedule and
# versions, and leaves the object alone.

include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/AttuneCheckSpecs.cmake)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH attune_folder)
set(ATTUNE_SOURCE_FOLDER ${attune_folder} CACHE INTERNAL "")

# Which machine each target's objects are for, from the one table of targets.
file(STRINGS ${ATTUNE_SOURCE_FOLDER}/dsl/targets.hpp rows REGEX "{target_id::")
set(ATTUNE_ALL_TARGETS "" CACHE INTERNAL "")
foreach(row IN LISTS rows)
  string(REGEX MATCH "\"([a-z0-9_]+)\", \"(x86|arm)-64" match "${row}")
  set(ATTUNE_ALL_TARGETS ${ATTUNE_ALL_TARGETS} ${CMAKE_MATCH_1} CACHE INTERNAL "")
  if(CMAKE_MATCH_2 STREQUAL "x86")
    set(ATTUNE_MACHINE_OF_${CMAKE_MATCH_1} x86_64 CACHE INTERNAL "")
  else()
    set(ATTUNE_MACHINE_OF_${CMAKE_MATCH_1} aarch64 CACHE INTERNAL "")
  endif()
endforeach()

# Tuned schedules (docs/tuning.md): a folder of tables to look at before the shipped ones, and the CPU whose tables come first.
set(ATTUNE_TABLES "" CACHE PATH "Folder of schedule tables to look at before the shipped ones; empty: none")
set(ATTUNE_CPU "" CACHE STRING "CPU whose schedule tables come first, as amd-zen4 or intel-sapphire-rapids; empty: the CPU of the machine that builds")

# The tables that schedules for a target come from, and the emitter's options that say where they are.
function(_attune_tables_of target files options)
  set(folders ${ATTUNE_SOURCE_FOLDER}/schedules/tables)
  set(words "")
  if(ATTUNE_TABLES)
    if(NOT IS_DIRECTORY ${ATTUNE_TABLES})
      message(FATAL_ERROR "ATTUNE_TABLES is ${ATTUNE_TABLES}, and there is no such folder: set it to a folder of schedule tables, or to nothing")
    endif()
    list(APPEND folders ${ATTUNE_TABLES})
    list(APPEND words --tables ${ATTUNE_TABLES})
  endif()
  if(ATTUNE_CPU)
    list(APPEND words --cpu ${ATTUNE_CPU})
  endif()
  list(TRANSFORM folders APPEND /${target}/*.json)
  file(GLOB found CONFIGURE_DEPENDS ${folders})
  set(${files} "${found}" PARENT_SCOPE)
  set(${options} "${words}" PARENT_SCOPE)
endfunction()

# A target whose precompiled headers every emitter of the project uses: of the seconds from an edited spec to its emitter, they
# are two thirds. An executable, as the emitters are, so that the compiler's options are theirs.
function(_attune_add_emitter_headers)
  set(main ${CMAKE_BINARY_DIR}/attune_emitter_headers.cpp)
  file(CONFIGURE OUTPUT ${main} CONTENT "int main() {}\n")
  add_executable(attune_emitter_headers EXCLUDE_FROM_ALL ${main})
  target_link_libraries(attune_emitter_headers PRIVATE attune_generate)
  target_compile_features(attune_emitter_headers PRIVATE cxx_std_20)
  target_precompile_headers(attune_emitter_headers PRIVATE <dsl/pipeline/describe.hpp> <generated/emitter_command.hpp>)
endfunction()

# The emitter of one library: its specs, compiled in.
function(_attune_add_emitter emitter folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "HEADERS;SPECS;INCLUDES")
  set(includes "")
  foreach(header IN LISTS arg_HEADERS)
    string(APPEND includes "#include \"${header}\"\n")
  endforeach()
  set(rows "")
  foreach(spec IN LISTS arg_SPECS)
    string(APPEND rows "    {\"${spec}\", attune::describe<::${spec}>},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/emitter_main.cpp @ONLY CONTENT [[
// Written by attune_add_library.
#include "dsl/pipeline/describe.hpp"
#include "generated/emitter_command.hpp"
@includes@
int main(int argc, char **argv) {
  return attune::emitter_command({
@rows@  }, argc, argv);
}
]])
  add_executable(${emitter} EXCLUDE_FROM_ALL ${folder}/emitter_main.cpp)
  target_link_libraries(${emitter} PRIVATE attune_generate)
  target_include_directories(${emitter} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${arg_INCLUDES})
  target_compile_features(${emitter} PRIVATE cxx_std_20)
  if(NOT TARGET attune_emitter_headers)
    _attune_add_emitter_headers()
  endif()
  target_precompile_headers(${emitter} REUSE_FROM attune_emitter_headers)
  set_target_properties(${emitter} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
endfunction()

# The tools that make the kernels of a machine into one object; empty variables where there are none.
function(_attune_find_tools machine)
  if(machine STREQUAL CMAKE_SYSTEM_PROCESSOR)
    set(ATTUNE_${machine}_LD ${CMAKE_LINKER} PARENT_SCOPE)
    set(ATTUNE_${machine}_OBJCOPY ${CMAKE_OBJCOPY} PARENT_SCOPE)
    set(ATTUNE_${machine}_CXX ${CMAKE_CXX_COMPILER} PARENT_SCOPE)
    return()
  endif()
  find_program(ATTUNE_${machine}_LD ${machine}-linux-gnu-ld)
  find_program(ATTUNE_${machine}_OBJCOPY ${machine}-linux-gnu-objcopy)
  find_program(ATTUNE_${machine}_CXX ${machine}-linux-gnu-g++)
endfunction()

# Kernels, Halide runtime and hooks of one machine -> one relocatable object with few visible symbols.
function(_attune_package name machine folder targets manifests result)
  set(${result} "" PARENT_SCOPE)
  _attune_find_tools(${machine})
  if(NOT ATTUNE_${machine}_LD OR NOT ATTUNE_${machine}_OBJCOPY OR NOT ATTUNE_${machine}_CXX)
    message(STATUS "attune: ${name}: kernels for ${machine} are emitted, but not made into one object: "
                   "${machine}-linux-gnu-ld, -objcopy and -g++ are not all there")
    return()
  endif()
  set(runtime ${folder}/${machine}.halide_runtime.o)
  set(hooks ${folder}/${machine}.halide_hooks.o)
  set(package ${folder}/lib${name}_${machine}_kernels.o)
  add_custom_command(OUTPUT ${runtime}
    COMMAND ${name}_emitter runtime --targets ${targets} --out ${runtime}
    DEPENDS ${name}_emitter COMMENT "Halide runtime of ${name} for ${machine}" VERBATIM)
  set(definitions -DATTUNE_LIBRARY=${name})
  if("cuda_sm80" IN_LIST targets)
    list(APPEND definitions -DATTUNE_LIBRARY_CUDA)
  endif()
  add_custom_command(OUTPUT ${hooks}
    COMMAND ${ATTUNE_${machine}_CXX} -std=c++17 -O2 -fPIC -fvisibility=hidden ${definitions} -I${ATTUNE_SOURCE_FOLDER} "-I$<JOIN:$<TARGET_PROPERTY:Halide::Runtime,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
            -MD -MF ${hooks}.d -MQ ${hooks} -c ${ATTUNE_SOURCE_FOLDER}/runtime/halide_hooks.cpp -o ${hooks}
    DEPENDS ${ATTUNE_SOURCE_FOLDER}/runtime/halide_hooks.cpp DEPFILE ${hooks}.d COMMENT "Runtime hooks of ${name} for ${machine}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_command(OUTPUT ${package}
    COMMAND ${ATTUNE_${machine}_LD} -r --force-group-allocation -z noexecstack -o ${package} @${folder}/${machine}.objects ${runtime} ${hooks}
    COMMAND ${ATTUNE_${machine}_OBJCOPY} --keep-global-symbols=${folder}/${machine}.visible ${package}
    DEPENDS ${manifests} ${folder}/${machine}.objects ${folder}/${machine}.visible ${runtime} ${hooks}
    COMMENT "Kernels of ${name} for ${machine}" VERBATIM)
  set(${result} ${package} PARENT_SCOPE)
endfunction()

function(_attune_check_arguments name headers specs pairs)
  foreach(keyword IN ITEMS headers specs pairs)
    if(NOT ${keyword})
      string(REPLACE pairs targets keyword ${keyword})
      string(TOUPPER ${keyword} keyword)
      message(FATAL_ERROR "attune_add_library(${name}): ${keyword} needs at least one entry; the keywords are HEADERS, SPECS, TARGETS, ALSO and INCLUDES")
    endif()
  endforeach()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "attune_add_library(${name}): the name becomes part of C symbols, so it may hold letters, digits and _ only")
  endif()
  foreach(pair IN LISTS pairs)
    string(REGEX MATCH "^(.*):([^:]*)$" match ${pair})
    if(NOT CMAKE_MATCH_1 IN_LIST specs)
      message(FATAL_ERROR "attune_add_library(${name}): ALSO names \"${CMAKE_MATCH_1}\", which is not among SPECS")
    elseif(NOT CMAKE_MATCH_2 IN_LIST ATTUNE_ALL_TARGETS)
      list(JOIN ATTUNE_ALL_TARGETS ", " known)
      message(FATAL_ERROR "attune_add_library(${name}): there is no target \"${CMAKE_MATCH_2}\"; targets are ${known}")
    endif()
  endforeach()
  set(earlier "")
  foreach(spec IN LISTS specs)
    string(REGEX REPLACE "^.*::" "" stem ${spec})
    set(same ${earlier})
    list(FILTER same INCLUDE REGEX "(^|::)${stem}$")
    if(spec IN_LIST same)
      message(FATAL_ERROR "attune_add_library(${name}): SPECS names \"${spec}\" twice; leave one of them")
    elseif(same)
      message(FATAL_ERROR "attune_add_library(${name}): SPECS names \"${same}\" and \"${spec}\", and the header of both would be ${name}/${stem}.hpp; rename one of the structs, or put them into two libraries")
    endif()
    list(APPEND earlier ${spec})
  endforeach()
endfunction()

# The library's C++ side around its packaged kernels. Used where they are emitted and where they are imported.
function(_attune_library_target name folder kernels)
  add_library(${name} STATIC ${folder}/registration.cpp ${kernels})
  set_source_files_properties(${kernels} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${folder}/include>)
  target_link_libraries(${name} PUBLIC attune_runtime)
  target_compile_features(${name} PUBLIC cxx_std_17)
  set_target_properties(${name} PROPERTIES ATTUNE_FOLDER ${folder} POSITION_INDEPENDENT_CODE ON)
endfunction()

# Paths in a list variable, from the current source folder on: other folders use them too (attune_add_tool).
function(_attune_make_absolute paths)
  set(absolute "")
  foreach(path IN LISTS ${paths})
    if(NOT path MATCHES "^\\$<") # a generator expression says by itself where it is
      cmake_path(ABSOLUTE_PATH path NORMALIZE)
    endif()
    list(APPEND absolute ${path})
  endforeach()
  set(${paths} ${absolute} PARENT_SCOPE)
endfunction()

function(attune_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SPECS;TARGETS;ALSO;INCLUDES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attune_add_library(${name}): ${arg_UNPARSED_ARGUMENTS} stands before any keyword; the keywords are HEADERS, SPECS, TARGETS, ALSO and INCLUDES")
  endif()
  _attune_make_absolute(arg_HEADERS)
  _attune_make_absolute(arg_INCLUDES)
  set(pairs "")
  foreach(spec IN LISTS arg_SPECS)
    list(TRANSFORM arg_TARGETS PREPEND "${spec}:" OUTPUT_VARIABLE pairs_of_spec)
    list(APPEND pairs ${pairs_of_spec})
  endforeach()
  list(APPEND pairs ${arg_ALSO})
  list(REMOVE_DUPLICATES pairs)
  _attune_check_arguments(${name} "${arg_HEADERS}" "${arg_SPECS}" "${pairs}")
  _attune_check_specs(${name} "${arg_HEADERS}" "${arg_SPECS}" "${CMAKE_CURRENT_SOURCE_DIR};${arg_INCLUDES};${ATTUNE_SOURCE_FOLDER}")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  _attune_add_emitter(${name}_emitter ${folder} HEADERS ${arg_HEADERS} SPECS ${arg_SPECS} INCLUDES ${arg_INCLUDES})

  set(manifests "")
  set(machines "")
  set(foreign "")
  foreach(pair IN LISTS pairs)
    string(REGEX MATCH "^((.*:)?([^:]*)):([^:]*)$" match ${pair})
    set(spec ${CMAKE_MATCH_1})
    set(target ${CMAKE_MATCH_4})
    set(manifest ${folder}/objects/${CMAKE_MATCH_3}.${target}.json)
    _attune_tables_of(${target} tables table_options)
    add_custom_command(OUTPUT ${manifest} # written after the object; a refused pair has a manifest and no object
      COMMAND ${name}_emitter emit ${spec} --target ${target} --library ${name} --out ${folder}/objects ${table_options}
      DEPENDS ${name}_emitter ${tables} COMMENT "Emitting ${spec} for ${target}" VERBATIM)
    list(APPEND manifests ${manifest})
    if(NOT ATTUNE_MACHINE_OF_${target} STREQUAL CMAKE_SYSTEM_PROCESSOR)
      list(APPEND foreign ${target})
    endif()
    list(APPEND machines ${ATTUNE_MACHINE_OF_${target}})
    list(APPEND targets_of_${ATTUNE_MACHINE_OF_${target}} ${target})
  endforeach()
  list(REMOVE_DUPLICATES machines)
  list(REMOVE_DUPLICATES foreign)

  set(headers ${arg_SPECS})
  list(TRANSFORM headers REPLACE "^.*::" "")
  list(TRANSFORM headers REPLACE "(.+)" "${folder}/include/${name}/\\1.hpp")
  set(lists "")
  foreach(machine IN LISTS machines)
    list(APPEND lists ${folder}/${machine}.objects ${folder}/${machine}.visible)
  endforeach()
  add_custom_command(OUTPUT ${folder}/registration.cpp ${headers} ${lists}
    COMMAND ${name}_emitter register ${manifests} --library ${name} --out ${folder}
    DEPENDS ${name}_emitter ${manifests} COMMENT "Headers of ${name}" VERBATIM)

  foreach(machine IN LISTS machines)
    list(REMOVE_DUPLICATES targets_of_${machine})
    _attune_package(${name} ${machine} ${folder} "${targets_of_${machine}}" "${manifests}" kernels_of_${machine})
  endforeach()
  _attune_library_target(${name} ${folder} "${kernels_of_${CMAKE_SYSTEM_PROCESSOR}}")
  set_target_properties(${name} PROPERTIES ATTUNE_SPECS "${arg_SPECS}" ATTUNE_PAIRS "${pairs}" ATTUNE_FOREIGN_TARGETS "${foreign}" ATTUNE_SPEC_HEADERS "${arg_HEADERS}" ATTUNE_SPEC_INCLUDES "${CMAKE_CURRENT_SOURCE_DIR};${arg_INCLUDES}")
  foreach(machine IN LISTS machines)
    string(TOUPPER ${machine} MACHINE)
    set_target_properties(${name} PROPERTIES ATTUNE_${MACHINE}_KERNELS "${kernels_of_${machine}}")
    if(NOT machine STREQUAL CMAKE_SYSTEM_PROCESSOR AND kernels_of_${machine})
      add_custom_target(${name}_${machine} ALL DEPENDS ${kernels_of_${machine}})
      add_dependencies(${name}_${machine} ${name})
    endif()
  endforeach()
endfunction()

# In a build for another machine: the library <name> from the folder that attune_add_library filled on the build machine.
function(attune_import_library name folder)
  set(kernels ${folder}/lib${name}_${CMAKE_SYSTEM_PROCESSOR}_kernels.o)
  if(NOT EXISTS ${kernels})
    message(FATAL_ERROR "attune_import_library(${name}): ${kernels} is not there; build the target ${name} for this machine first")
  endif()
  _attune_library_target(${name} ${folder} ${kernels})
endfunction()
