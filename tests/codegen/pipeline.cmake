# The pipeline's stages one by one and how many tiles of the score matrix a kernel runs, just-in-time on AVX2; rules of the families,
# and their results at several points, on every target.
include(${PROJECT_SOURCE_DIR}/tests/support/kernel_tests.cmake)
attune_test(pipeline_stages SOURCES pipeline_stages.cpp LIBRARIES attune_generate)
attune_test(tiles SOURCES tiles.cpp LIBRARIES attune_generate)
attune_add_pinned_program(families SOURCES families.cpp)
attune_test_on_targets(families LABELS codegen TARGETS ${ATTUNE_TEST_TARGETS})
attune_test(schedule_rules SOURCES schedule_rules.cpp LIBRARIES attune_generate)
