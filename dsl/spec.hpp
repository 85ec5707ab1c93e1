// The language: include this file to write specs. Each part is included here before any other part includes it, so that a
// diagnostic shows a short path of includes.
#pragma once
#include "dsl/numbers.hpp"
#include "dsl/signature.hpp"
#include "dsl/lists.hpp"
#include "dsl/words.hpp"
#include "dsl/properties.hpp"
#include "dsl/position.hpp"
#include "dsl/trial.hpp"
#include "dsl/spec_name.hpp"
#include "dsl/conditions.hpp"
#include "dsl/stages.hpp"
#include "dsl/stage_maker.hpp"
#include "dsl/flat.hpp"
#include "dsl/chain.hpp"
#include "dsl/short_forms.hpp"
#include "dsl/read_spec.hpp"
#include "dsl/spec_list.hpp"
