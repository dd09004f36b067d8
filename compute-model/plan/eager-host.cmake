# SPDX-License-Identifier: GPL-2.0-only
# Writes eager-host.cc: the host costs of the framework that is the default, for programs that read
# no YAML. Its lines are `  host.kernel: {value: 52us, source: "..."}`.
include(${CMAKE_CURRENT_LIST_DIR}/../../ns3-module/cmake/write-changed.cmake)

set(path ${CMAKE_CURRENT_LIST_DIR}/../../scenarios/frameworks/megatron-lm.yaml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
set(code "#include \"compute-model/plan/parallel-plan.h\"\n\nnamespace weir\n{\n\n")
string(APPEND code "HostCosts\nEagerHost()\n{\n    HostCosts host;\n")
foreach(cost kernel communication)
  file(STRINGS ${path} line REGEX "^  host\\.${cost}: ")
  if(NOT line MATCHES "{value: ([0-9.]+)us, source: ")
    message(FATAL_ERROR "${path}: found '${line}', expected host.${cost}: {value: ...us, source: ...}")
  endif()
  string(APPEND code "    host.${cost} = Time::Microseconds(${CMAKE_MATCH_1});\n")
endforeach()
string(APPEND code "    return host;\n}\n\n} // namespace weir\n")
set(WEIR_EAGER_HOST ${CMAKE_CURRENT_BINARY_DIR}/weir-figures/eager-host.cc)
weir_write_changed(${WEIR_EAGER_HOST} "${code}")
list(APPEND WEIR_COMPUTE_SOURCES ${WEIR_EAGER_HOST})
