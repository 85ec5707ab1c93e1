# The pipeline's stages one by one, how many tiles of the score matrix a kernel runs, and the families' results at several points;
# just-in-time, on AVX2.
attune_test(pipeline_stages SOURCES pipeline_stages.cpp LIBRARIES attune_generate)
attune_test(tiles SOURCES tiles.cpp LIBRARIES attune_generate)
attune_test(families SOURCES families.cpp LIBRARIES attune_generate attune_reference)
attune_test(schedule_rules SOURCES schedule_rules.cpp LIBRARIES attune_generate)
