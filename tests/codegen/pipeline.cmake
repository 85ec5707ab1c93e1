# The pipeline's stages one by one and how many tiles of the score matrix a kernel runs, just-in-time on AVX2; rules of the families,
# and their results at several points, on every target.
include(${PROJECT_SOURCE_DIR}/tests/support/kernel_tests.cmake)
attune_test(pipeline_stages SOURCES pipeline_stages.cpp LIBRARIES attune_generate)
attune_test(tiles SOURCES tiles.cpp LIBRARIES attune_generate)
attune_add_pinned_program(families SOURCES families.cpp)
attune_test_on_targets(families LABELS codegen TARGETS ${ATTUNE_TEST_TARGETS})
attune_test(tile_products_pass SOURCES tile_products_pass.cpp LIBRARIES attune_generate)
attune_add_pinned_program(tiled_products SOURCES tiled_products.cpp)
attune_test_on_targets(tiled_products LABELS codegen TARGETS avx512_amx)
attune_test(schedule_rules SOURCES schedule_rules.cpp LIBRARIES attune_generate)

# The shipped tables' schedules in a test of their own, which is not run where no table is for the target.
attune_add_pinned_program(recorded_schedules SOURCES shipped_records.cpp)
target_compile_definitions(recorded_schedules PRIVATE ATTUNE_SOURCES="${PROJECT_SOURCE_DIR}")
attune_test_on_targets(recorded_schedules LABELS codegen TARGETS ${ATTUNE_TEST_TARGETS})
attune_test_on_targets(shipped_records LABELS codegen TARGETS ${ATTUNE_TEST_TARGETS} COMMAND recorded_schedules [.shipped])
