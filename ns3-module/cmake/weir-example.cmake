# SPDX-License-Identifier: GPL-2.0-only
# weir_example(NAME LINK...): the program NAME.cc of this folder. In the standalone build ctest runs
# it and compares what it prints with NAME.expected beside it; inside an ns-3 tree ns-3's test.py
# runs it (test/examples-to-run.py).
set(WEIR_CHECK_OUTPUT ${CMAKE_CURRENT_LIST_DIR}/check-output.cmake)

function(weir_example name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  if(COMMAND build_lib_example)
    build_lib_example(NAME ${name} SOURCE_FILES ${name}.cc LIBRARIES_TO_LINK ${libweir})
    return()
  endif()
  add_executable(${name} ${name}.cc)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} weir-options)
  if(WEIR_BUILD_TESTS)
    add_test(NAME example-${name}
      COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${name}>
        -DEXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/${name}.expected
        -P ${WEIR_CHECK_OUTPUT})
  endif()
endfunction()
