# attune_add_tool(<tool> <library>)
#
# Makes the program <tool>: "attune", without bench, for the specs of a library made by attune_add_library, to check its kernels, to tune its specs and to emit
# them with schedules of one's own (docs/tuning.md). Built only when asked for: cmake --build <folder> --target <tool>.

include_guard(GLOBAL)

function(attune_add_tool tool library)
  if(NOT TARGET ${library})
    message(FATAL_ERROR "attune_add_tool(${tool}): there is no library ${library}; attune_add_library makes one, before this line")
  endif()
  get_target_property(specs ${library} ATTUNE_SPECS)
  get_target_property(spec_headers ${library} ATTUNE_SPEC_HEADERS)
  get_target_property(includes ${library} ATTUNE_SPEC_INCLUDES)
  get_target_property(folder ${library} ATTUNE_FOLDER)
  get_target_property(targets ${library} ATTUNE_FOREIGN_TARGETS)
  if(NOT specs)
    message(FATAL_ERROR "attune_add_tool(${tool}): ${library} was not made by attune_add_library in this project")
  endif()
  set(headers "")
  foreach(header IN LISTS spec_headers)
    string(APPEND headers "#include \"${header}\"\n")
  endforeach()
  set(rows "")
  foreach(spec IN LISTS specs)
    string(REGEX REPLACE "^.*::" "" name ${spec})
    string(APPEND headers "#include \"${library}/${name}.hpp\"\n")
    string(APPEND rows "      {\"${name}\", describe<::${spec}>, refer<::${spec}>, artefact<::${spec}>::info},\n")
  endforeach()
  list(TRANSFORM targets REPLACE "(.+)" "\"\\1\"")
  list(JOIN targets ", " targets)
  set(table ${folder}/${tool}_specs.cpp)
  file(CONFIGURE OUTPUT ${table} @ONLY CONTENT [[
// Written by attune_add_tool.
#include "dsl/pipeline/describe.hpp"
#include "dsl/reference/refer.hpp"
#include "generated/tool/catalogue.hpp"
@headers@
const std::vector<attune::tool_spec> &attune::tool_specs() {
  static const std::vector<tool_spec> all{
@rows@  };
  return all;
}
const std::vector<std::string> &attune::foreign_targets() {
  static const std::vector<std::string> all{@targets@};
  return all;
}
]])
  add_executable(${tool} EXCLUDE_FROM_ALL ${table})
  target_link_libraries(${tool} PRIVATE attune_tool ${library})
  target_include_directories(${tool} PRIVATE ${includes})
  target_compile_features(${tool} PRIVATE cxx_std_20)
endfunction()
