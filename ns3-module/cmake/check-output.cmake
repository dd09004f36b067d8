# SPDX-License-Identifier: GPL-2.0-only
# Runs a program and compares what it prints with a checked-in file:
#   cmake -DPROGRAM=FILE -DEXPECTED=FILE [-DACCEPT=ON] -P check-output.cmake
# With ACCEPT the file is written instead.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${result}\n${complaint}")
endif()
if(ACCEPT)
  file(WRITE ${EXPECTED} "${printed}")
  return()
endif()
file(READ ${EXPECTED} expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed\n${printed}\nbut ${EXPECTED} expects\n${expected}\n\
If the new output is right: cmake -DACCEPT=ON -DPROGRAM=${PROGRAM} -DEXPECTED=${EXPECTED} \
-P ${CMAKE_CURRENT_LIST_FILE}")
endif()
