# A user's project against the build of Attune, in a folder with a space in its name: it builds and runs, a second build does nothing,
# an edited spec is emitted again and the other one is not.
#   ATTUNE_BUILD, SOURCE (the project), WORK (a folder to build in), CXX, MAKE
file(REMOVE_RECURSE ${WORK})

function(write_specs HEADS)
  configure_file(${SOURCE}/my_specs.hpp.in ${WORK}/my_specs.hpp @ONLY)
endfunction()
function(build result)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
function(expect_output expected)
  execute_process(COMMAND ${WORK}/my_program OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(NOT text STREQUAL "${expected}\n")
    message(FATAL_ERROR "my_program: expected \"${expected}\", got \"${text}\"")
  endif()
endfunction()
function(time_of result spec)
  file(TIMESTAMP ${WORK}/my_kernels/objects/${spec}.avx2.o time "%s" UTC)
  set(${result} ${time} PARENT_SCOPE)
endfunction()

write_specs(2)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G Ninja -DCMAKE_MAKE_PROGRAM=${MAKE} -DCMAKE_CXX_COMPILER=${CXX}
                        -Dattune_DIR=${ATTUNE_BUILD} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
build(text)
expect_output("2 heads, 1 targets")

build(text)
if(NOT text MATCHES "no work to do")
  message(FATAL_ERROR "the second build had something to do:\n${text}")
endif()

time_of(plain_before plain)
time_of(causal_before causal)
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1) # time stamps here are whole seconds
write_specs(3)
build(text)
expect_output("3 heads, 1 targets")
time_of(plain_after plain)
time_of(causal_after causal)
if(plain_after EQUAL plain_before)
  message(FATAL_ERROR "the edited spec was not emitted again")
endif()
if(NOT causal_after EQUAL causal_before)
  message(FATAL_ERROR "a spec that nobody touched was emitted again")
endif()
