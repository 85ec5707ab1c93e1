# cmake -DTOOL=<attune> -DFOLDER=<folder> -P refusal_test.cmake
# Commands that have nothing to do say so, fail, and leave nothing behind.
function(must_fail expected)
  execute_process(COMMAND ${TOOL} ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(result EQUAL 0 OR NOT said MATCHES "${expected}")
    message(FATAL_ERROR "attune ${ARGN}: expected a failure that says \"${expected}\", got status ${result} and:\n${said}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
must_fail("nothing of .*minilm_layer was emitted.*cuda_sm80: projections.*opencl: projections" emit minilm_layer -t cuda_sm80 opencl --out ${FOLDER})
if(EXISTS ${FOLDER})
  message(FATAL_ERROR "attune emit wrote ${FOLDER}, although every target refuses the spec")
endif()

must_fail("there is no subcommand \"frob\"" frob)
must_fail("--tables ${FOLDER}/tables: there is no such folder" emit article2_single_head -t avx2 --out ${FOLDER} --tables ${FOLDER}/tables)
must_fail("the folder /proc/attune cannot be made" emit article2_single_head -t avx2 --out /proc/attune)
must_fail("--schedule is for one target" emit article2_single_head --out ${FOLDER} --schedule "prefill_long=chunk query_tile=48")
must_fail("--work is -5, expected a number above 0" check article2_single_head -t avx2 --work -5)
must_fail("--work is 0, expected a number above 0" check article2_single_head -t avx2 --work 0)
