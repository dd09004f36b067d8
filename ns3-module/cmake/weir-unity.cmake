# SPDX-License-Identifier: GPL-2.0-only
option(WEIR_UNITY_BUILD "Compile files of a folder as one unit; OFF compiles file by file" ON)
set(WEIR_UNITY_FILES 32 CACHE STRING "How many files of a folder are compiled as one unit at most")

# weir_unity(TARGET SOURCE...): where WEIR_UNITY_BUILD is on, each source is compiled in one unit with
# others of its folder, WEIR_UNITY_FILES at a time
function(weir_unity target)
  # NS_LOG_COMPONENT_DEFINE defines the same name in each file.
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${WEIR_UNITY_BUILD} UNITY_BUILD_MODE GROUP UNITY_BUILD_UNIQUE_ID WEIR_UNIT
    UNITY_BUILD_CODE_BEFORE_INCLUDE [[
#ifndef g_log
#define WEIR_JOIN_EXPANDED(left, right) left##right
#define WEIR_JOIN(left, right) WEIR_JOIN_EXPANDED(left, right)
#define g_log WEIR_JOIN(g_log_, WEIR_UNIT)
#endif]])
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REPLACE "/" "-" folder "${folder}")
    get_target_property(before ${target} WEIR_FILES_OF_${folder})
    if(NOT before)
      set(before 0)
    endif()
    math(EXPR files "${before} + 1")
    math(EXPR group "${before} / ${WEIR_UNITY_FILES} + 1")
    set_target_properties(${target} PROPERTIES WEIR_FILES_OF_${folder} ${files})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES
      UNITY_GROUP ${folder}-${group})
  endforeach()
endfunction()
