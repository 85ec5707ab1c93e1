# Programs for AArch64, built by the cross compiler from the sources and the emitted kernels, and run under qemu.
include_guard(GLOBAL)
find_program(ATTUNE_aarch64_CXX aarch64-linux-gnu-g++)
find_program(ATTUNE_aarch64_AR aarch64-linux-gnu-ar)
find_program(ATTUNE_QEMU_AARCH64 NAMES qemu-aarch64-static qemu-aarch64)
set(ATTUNE_ARM ${CMAKE_BINARY_DIR}/tests/arm)

# Headers that know no machine, and nothing else of the host's /usr/include.
file(MAKE_DIRECTORY ${ATTUNE_ARM}/include)
find_path(attune_catch2_include catch2/catch.hpp REQUIRED)
find_path(attune_boost_include boost/hana.hpp REQUIRED)
file(CREATE_LINK ${attune_boost_include}/boost ${ATTUNE_ARM}/include/boost SYMBOLIC)
file(CREATE_LINK ${attune_catch2_include}/catch2 ${ATTUNE_ARM}/include/catch2 SYMBOLIC)

# Compiles sources; their objects are in <result>. FOLDERS are further include folders.
function(attune_arm_objects result)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FOLDERS;DEPENDS")
  list(TRANSFORM arg_FOLDERS PREPEND -I)
  set(objects "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    string(MD5 id ${source})
    string(SUBSTRING ${id} 0 8 id)
    cmake_path(GET source FILENAME name)
    set(object ${ATTUNE_ARM}/${name}.${id}.o)
    list(APPEND objects ${object})
    get_property(made DIRECTORY PROPERTY attune_arm_objects)
    if(object IN_LIST made)
      continue() # another program has it too
    endif()
    set_property(DIRECTORY APPEND PROPERTY attune_arm_objects ${object})
    add_custom_command(OUTPUT ${object}
      COMMAND ${ATTUNE_aarch64_CXX} -std=c++20 -O1 -I${PROJECT_SOURCE_DIR} -I${ATTUNE_ARM}/include -I${ATTUNE_TESTED} ${arg_FOLDERS}
              "-isystem$<JOIN:$<TARGET_PROPERTY:Halide::Runtime,INTERFACE_INCLUDE_DIRECTORIES>,;-isystem>" -MD -MF ${object}.d -MQ ${object} -c ${source} -o ${object}
      DEPENDS ${source} ${arg_DEPENDS} DEPFILE ${object}.d COMMENT "Compiling ${name} for aarch64"
      COMMAND_EXPAND_LISTS VERBATIM)
  endforeach()
  set(${result} "${objects}" PARENT_SCOPE)
endfunction()

# attune_add_arm_program(<name> SOURCES <file>... LIBRARIES <library>...): libraries made by attune_add_library with an ARM target.
function(attune_add_arm_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  set(folders "")
  set(kernels "")
  set(registrations "")
  foreach(library IN LISTS arg_LIBRARIES)
    get_target_property(folder ${library} ATTUNE_FOLDER)
    get_target_property(object ${library} ATTUNE_AARCH64_KERNELS)
    list(APPEND folders ${folder}/include)
    list(APPEND kernels ${object})
    list(APPEND registrations ${folder}/registration.cpp)
  endforeach()
  list(TRANSFORM arg_LIBRARIES APPEND _aarch64 OUTPUT_VARIABLE packages)
  attune_arm_objects(objects SOURCES ${arg_SOURCES} ${registrations} FOLDERS ${folders} DEPENDS ${packages})
  set(program ${ATTUNE_ARM}/${name})
  add_custom_command(OUTPUT ${program}
    COMMAND ${ATTUNE_aarch64_CXX} ${objects} ${kernels} ${ATTUNE_ARM}/libattune_arm.a -pthread -ldl -o ${program}
    DEPENDS ${objects} ${kernels} ${ATTUNE_ARM}/libattune_arm.a COMMENT "Linking ${name} for aarch64" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${program})
endfunction()

# What every ARM program links: runtime, reference and checker.
file(GLOB arm_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/*.cpp ${PROJECT_SOURCE_DIR}/dsl/reference/*.cpp ${PROJECT_SOURCE_DIR}/generated/check*.cpp)
list(REMOVE_ITEM arm_sources ${PROJECT_SOURCE_DIR}/runtime/halide_hooks.cpp)
attune_arm_objects(arm_objects SOURCES ${arm_sources})
add_custom_command(OUTPUT ${ATTUNE_ARM}/libattune_arm.a
  COMMAND ${CMAKE_COMMAND} -E rm -f ${ATTUNE_ARM}/libattune_arm.a
  COMMAND ${ATTUNE_aarch64_AR} rcs ${ATTUNE_ARM}/libattune_arm.a ${arm_objects} DEPENDS ${arm_objects} VERBATIM)

# The command that runs a program on a machine that has what <target> needs and no more.
function(attune_arm_command result program target)
  set(cpu cortex-a57)
  if(target STREQUAL neon_fp16)
    set(cpu max)
  endif()
  set(${result} ${ATTUNE_QEMU_AARCH64} -cpu ${cpu} -L /usr/aarch64-linux-gnu ${ATTUNE_ARM}/${program} PARENT_SCOPE)
endfunction()
