# SPDX-License-Identifier: GPL-2.0-only
# Writes nccl-table-rows.cc from tables.yaml, whose lines are `table:` and its rows,
# `  - {computeCapability: 90, since: 17, values: [38.7, 41.4, 33.0]}`.
include(${CMAKE_CURRENT_LIST_DIR}/../../ns3-module/cmake/write-changed.cmake)

set(path ${CMAKE_CURRENT_LIST_DIR}/tables.yaml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
file(READ ${path} text)
# Lists of CMake do not bear brackets.
string(REPLACE "[" "<" text "${text}")
string(REPLACE "]" ">" text "${text}")
string(REPLACE ";" "," text "${text}")
string(REPLACE "\n" ";" lines "${text}")
set(code "#include \"collectives/nccl/nccl-constants.h\"\n\nnamespace weir\n{\n\n")
string(APPEND code "const std::vector<NcclTableRow>&\nNcclTableRows()\n{\n")
string(APPEND code "    static const std::vector<NcclTableRow> rows{\n")
foreach(line IN LISTS lines)
  if(line MATCHES "^([a-z])([A-Za-z0-9]+):$")
    string(TOUPPER ${CMAKE_MATCH_1} initial)
    set(table ${initial}${CMAKE_MATCH_2})
  elseif(line MATCHES "^  - {computeCapability: ([0-9]+), since: ([0-9]+), values: <([0-9., ]+)>}$")
    string(APPEND code
      "        {NcclTable::${table}, ${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}, {${CMAKE_MATCH_3}}},\n")
  elseif(NOT line MATCHES "^(#.*|source: .*|)$")
    message(FATAL_ERROR "${path}: found '${line}', expected a table or a row of one")
  endif()
endforeach()
string(APPEND code "    };\n    return rows;\n}\n\n} // namespace weir\n")
set(WEIR_NCCL_TABLE_ROWS ${CMAKE_CURRENT_BINARY_DIR}/weir-figures/nccl-table-rows.cc)
weir_write_changed(${WEIR_NCCL_TABLE_ROWS} "${code}")
list(APPEND WEIR_COLLECTIVES_SOURCES ${WEIR_NCCL_TABLE_ROWS})
