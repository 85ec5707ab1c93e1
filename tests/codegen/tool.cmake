# The tool "attune", as people call it, and the shared stock library.
# SAYS: what its output must hold; without it, the exit status must be 0.
function(attune_test_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SAYS" "ARGUMENTS")
  add_test(NAME codegen.tool_${name} COMMAND attune ${arg_ARGUMENTS})
  set_tests_properties(codegen.tool_${name} PROPERTIES LABELS codegen)
  if(arg_SAYS)
    set_tests_properties(codegen.tool_${name} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_SAYS}")
  endif()
endfunction()
attune_test_tool(specs ARGUMENTS specs SAYS "gemma2_2b +8/4 × 256 +f32 +causal bottom_right +scale 0.0625, softcap 50")
attune_test_tool(specs_json ARGUMENTS specs --json SAYS "\"struct\": \"attune::stock::llama3_8b\"")
attune_test_tool(targets ARGUMENTS targets SAYS "avx2 +yes +yes")
attune_test_tool(targets_elsewhere ARGUMENTS targets SAYS "neon +for AArch64 programs +no +this machine lacks an AArch64 CPU")
attune_test_tool(near_match ARGUMENTS emit gpt3 --out nowhere SAYS "there is no spec \"gpt3\"; did you mean .*gpt2")
attune_test_tool(emit ARGUMENTS emit minilm -t avx2 --out ${CMAKE_CURRENT_BINARY_DIR}/tool_emit --asm --stmt SAYS "avx2 +(emitted|unchanged) +[0-9]+")
attune_test_tool(emit_merged ARGUMENTS emit article2_single_head -t avx2 --out ${CMAKE_CURRENT_BINARY_DIR}/tool_emit --schedule "prefill_short=chunk"
  SAYS "prefill_short, prefill_long: chunk .*pinned for prefill_short; the other buckets' own schedule is the same, so all share one kernel")
attune_test_tool(emit_unknown_target ARGUMENTS emit minilm -t avx3 --out nowhere SAYS "avx3 not in {avx2")
attune_test_tool(check ARGUMENTS check article2_single_head -t avx2 --work 1e7)

add_test(NAME codegen.specs_page COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:attune> -DPAGE=${PROJECT_SOURCE_DIR}/docs/specs.md
  -P ${CMAKE_CURRENT_LIST_DIR}/emission/page_test.cmake)
add_test(NAME codegen.stock_exports COMMAND ${CMAKE_COMMAND} -DLIBRARY=$<TARGET_FILE:attune_stock_shared> -DNM=${CMAKE_NM}
  -DHEADER=${PROJECT_SOURCE_DIR}/runtime/c_abi.h -P ${CMAKE_CURRENT_LIST_DIR}/emission/exports_test.cmake)
add_test(NAME codegen.tool_refusals COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:attune> -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/tool_refusals
  -P ${CMAKE_CURRENT_LIST_DIR}/emission/refusal_test.cmake)
set_tests_properties(codegen.specs_page codegen.tool_refusals codegen.stock_exports PROPERTIES LABELS codegen)
