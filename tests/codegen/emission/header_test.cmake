# An emitted header is C++17 without warnings, brings neither Boost nor Halide nor the spec itself with it, and lists a call's arguments.
#   FOLDER (of the library), STOCK (the same of the stock library), INCLUDE (Attune's sources), CXX
file(WRITE ${FOLDER}/header_test.cpp [[
#include "emission_first/both.hpp"
#include "emission_first/only_first.hpp"
#include "runtime/kernel.hpp"
static_assert(attune::artefact<sample::both>::n.heads == 2);
static_assert(attune::artefact<sample::both>::call.tensor_count == 4);
static_assert(attune::artefact<sample::nested::only_first>::n.head_dim == 32);
static_assert(static_cast<int>(attune::artefact<sample::both>::argument::output) == 3);
const attune::artefact_info &info() { return attune::artefact<sample::both>::info(); }
]])
set(compile ${CXX} -std=c++17 -I${FOLDER}/include -I${INCLUDE} ${FOLDER}/header_test.cpp)
string(TIMESTAMP begin "%s%f" UTC) # microseconds
execute_process(COMMAND ${compile} -fsyntax-only -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -pedantic -Werror
                RESULT_VARIABLE failed ERROR_VARIABLE text)
if(failed)
  message(FATAL_ERROR "the emitted header does not compile as C++17 without warnings:\n${text}")
endif()
string(TIMESTAMP end "%s%f" UTC)
file(WRITE ${FOLDER}/header_beside_spec.cpp "#include \"dsl/spec.hpp\"\n#include \"attune_stock/minilm.hpp\"\n")
execute_process(COMMAND ${CXX} -std=c++20 -I${STOCK}/include -I${INCLUDE} -fsyntax-only -Wall -Wextra -Wshadow -pedantic -Werror ${FOLDER}/header_beside_spec.cpp
                RESULT_VARIABLE failed ERROR_VARIABLE text)
if(failed)
  message(FATAL_ERROR "an emitted header beside dsl/spec.hpp does not compile without warnings:\n${text}")
endif()
math(EXPR milliseconds "(${end} - ${begin}) / 1000")
message(STATUS "a file with two emitted headers and the wrapper compiles in ${milliseconds} ms")
execute_process(COMMAND ${compile} -M OUTPUT_VARIABLE files COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]*(boost|[Hh]alide|dsl/spec|emission/specs)[^ \n]*" strangers "${files}")
if(strangers)
  message(FATAL_ERROR "a file that calls a kernel must not see ${strangers}")
endif()
file(READ ${FOLDER}/include/emission_first/only_first.hpp header)
foreach(line "query: [batch, head 2, query, head_dim 32] f32" "value: [batch, kv_head 2, key, value_dim 32] f32" "output (written): [batch, head 2, query, value_dim 32] f32")
  string(FIND "${header}" "//   ${line}\n" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "the emitted header does not say \"${line}\"")
  endif()
endforeach()
