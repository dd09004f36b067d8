# SPDX-License-Identifier: GPL-2.0-only
# The contrib door: this repository cloned or linked as contrib/weir of an ns-3 tree. One ns-3 module
# holds all plain code, the ns-3 objects and the jobs; the readers of scenario files and the result
# files join where yaml-cpp, pugixml, zlib and HDF5 are found.
#
# ns-3 lays the public headers of all modules into one folder, ns3/. Ours there are those of the
# ns-3 objects; plain headers stay in their folders ("fabric/units.h") and are found by include path.
include(ns3-module/fabric/sources.cmake)
include(ns3-module/sources.cmake)
include(collectives/sources.cmake)
include(compute-model/sources.cmake)
include(scenarios/job/sources.cmake)

include(scenarios/sources.cmake)
include(ns3-module/cmake/weir-example.cmake)
include(ns3-module/cmake/weir-unity.cmake)

set(plainSources ${WEIR_FABRIC_SOURCES} ${WEIR_COLLECTIVES_SOURCES} ${WEIR_COMPUTE_SOURCES})
set(objectSources ${WEIR_NS3_SOURCES} ${WEIR_JOB_SOURCES})

find_package(yaml-cpp QUIET)
find_package(pugixml QUIET)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/ns3-module/cmake)
find_package(Hdf5Serial QUIET)
find_package(nlohmann_json 3 QUIET)
find_package(ZLIB QUIET)
if(yaml-cpp_FOUND AND Hdf5Serial_FOUND AND nlohmann_json_FOUND AND pugixml_FOUND AND ZLIB_FOUND)
  set(WEIR_WITH_READERS ON)
  message(STATUS "Weir: with readers and result files")
  list(APPEND plainSources ${WEIR_SCENARIO_SOURCES})
  list(APPEND objectSources ${WEIR_RECORDER_SOURCES})
  list(APPEND WEIR_JOB_HEADERS ${WEIR_RECORDER_HEADERS})
  set(weirThirdParty yaml-cpp pugixml::pugixml ZLIB::ZLIB ${Hdf5Serial_LIBRARIES})
  set(weirThirdPartyIncludes ${Hdf5Serial_INCLUDE_DIR})
  file(STRINGS VERSION weirVersion LIMIT_COUNT 1)
  set_source_files_properties(scenarios/versions.cc PROPERTIES COMPILE_DEFINITIONS
    "WEIR_VERSION_TEXT=\"${weirVersion}\";WEIR_NS3_VERSION_TEXT=\"${NS3_VER}\"")
else()
  set(WEIR_WITH_READERS OFF)
  message(STATUS "Weir: without readers and result files (yaml-cpp, HDF5, pugixml, zlib or nlohmann-json is missing)")
  list(APPEND plainSources ${WEIR_UNREAD_SOURCES})
  list(APPEND objectSources ${WEIR_UNREAD_JOB_SOURCES})
  set(weirThirdParty)
  set(weirThirdPartyIncludes)
endif()

set(weirHeaders)
foreach(header ${WEIR_NS3_HEADERS} ${WEIR_JOB_HEADERS})
  # build_lib wants them relative to this folder.
  file(RELATIVE_PATH header ${CMAKE_CURRENT_SOURCE_DIR} ${header})
  list(APPEND weirHeaders ${header})
endforeach()

build_lib(
  LIBNAME weir
  SOURCE_FILES ${plainSources} ${objectSources}
  HEADER_FILES ${weirHeaders}
  LIBRARIES_TO_LINK ${WEIR_NS3_MODULES} ${weirThirdParty}
  TEST_SOURCES
    ns3-module/test/weir-test-suite.cc
    ns3-module/test/fabric-net-device-test-suite.cc
    ns3-module/test/flow-source-test-suite.cc
    ns3-module/test/network-description-test-suite.cc
    ns3-module/test/parameter-attributes-test-suite.cc
)

# ns-3.37 compiles an object library of the module, later ones the module itself.
set(weirCompiled ${libweir})
if(TARGET ${libweir}-obj)
  set(weirCompiled ${libweir}-obj)
endif()
weir_unity(${weirCompiled} ${plainSources} ${objectSources})
# Where plain headers are found: by the module itself and by whoever links it.
foreach(folder ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/ns3-module)
  target_include_directories(${weirCompiled} PRIVATE ${folder})
  target_include_directories(${libweir} PUBLIC $<BUILD_INTERFACE:${folder}>)
endforeach()
target_include_directories(${weirCompiled} PRIVATE ${weirThirdPartyIncludes})
target_include_directories(${libweir} PUBLIC $<INSTALL_INTERFACE:include/weir>)
install(
  DIRECTORY ns3-module/fabric collectives compute-model scenarios
  DESTINATION include/weir
  FILES_MATCHING
  PATTERN "*.h"
)

# Those of ns3-module/examples were added by build_lib, through the link "examples".
if(ENABLE_EXAMPLES)
  set(BLIB_LIBNAME weir) # what build_lib_example goes by
  add_subdirectory(scenarios/mains)
endif()
