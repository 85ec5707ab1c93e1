# docs/specs.md is what the tool prints.   TOOL, PAGE
execute_process(COMMAND ${TOOL} specs --markdown OUTPUT_VARIABLE now COMMAND_ERROR_IS_FATAL ANY)
file(READ ${PAGE} page)
if(NOT now STREQUAL page)
  message(FATAL_ERROR "${PAGE} is not current: run \"attune specs --markdown > docs/specs.md\"")
endif()
