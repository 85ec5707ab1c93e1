# cmake -DCOMPILER=<c++> -DPROGRAM=<file.cpp> -DROOT=<repository> -DHEADERS=<header> -P check_program.cmake
# The program must compile with -DCORRECTED, without a word. Without it, it must not; what the compiler then says must match the regular
# expression of the program's line `// expect: <regex>`, and be at most 12 lines.
set(longest_diagnostic 12)
# HEADERS: what programs include, precompiled as <header>.gch or, by clang, <header>.pch; for the silent one, since a diagnostic names them.
set(command ${COMPILER} -std=c++20 -fsyntax-only -I${ROOT} ${PROGRAM})
set(precompiled -Winvalid-pch -include ${HEADERS})
if(COMPILER MATCHES "clang")
  set(precompiled -include-pch ${HEADERS}.pch)
endif()

file(STRINGS ${PROGRAM} expected REGEX "^// expect: ")
string(REGEX REPLACE "^// expect: " "" expected "${expected}")

function(fail reason)
  message(NOTICE "${said}") # FATAL_ERROR would wrap its lines
  message(FATAL_ERROR "${reason}")
endfunction()

if(expected STREQUAL "")
  fail("the program has no line \"// expect: <regular expression>\"")
endif()

execute_process(COMMAND ${command} ${precompiled} -DCORRECTED RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result EQUAL 0 OR NOT said STREQUAL "")
  fail("the corrected program does not compile in silence")
endif()

execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE said)
string(REGEX MATCHALL "\n" lines "${said}")
list(LENGTH lines count)
if(result EQUAL 0)
  fail("the program compiles, and should not")
elseif(NOT said MATCHES "${expected}")
  fail("expected a diagnostic that matches: ${expected}")
elseif(count GREATER longest_diagnostic)
  fail("the diagnostic has ${count} lines, more than ${longest_diagnostic}")
endif()
message(STATUS "${count} lines")
