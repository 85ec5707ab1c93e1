// Names of specs are the same text from every compiler.
#include "dsl/spec.hpp"
#include <catch2/catch.hpp>
#include <string>

struct outside {};
namespace my_app::inner {
struct variant {};
} // namespace my_app::inner
namespace {
struct hidden {};
} // namespace

TEST_CASE("a spec is named with its namespaces") {
  CHECK(attune::spec_name<outside>() == "outside");
  CHECK(attune::spec_name<my_app::inner::variant>() == "my_app::inner::variant");
  CHECK(attune::spec_name<hidden>() == "(anonymous)::hidden");
}

TEST_CASE("an input is named by the last part of its tag") {
  CHECK(std::string(attune::language::short_name<my_app::inner::variant>::value) == "variant");
  CHECK(std::string(attune::language::short_name<outside>::value) == "outside");
}
