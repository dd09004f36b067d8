# The ns-3 objects of the fabric, for both doors.
set(WEIR_NS3_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/model/engine-driver.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/flow-source.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/fluid-fabric.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/gpu-server.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/link-figures.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/network-description.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/server-description.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/weir-units.cc
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-container.cc
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-helper.cc
  ${CMAKE_CURRENT_LIST_DIR}/helper/flow-source-helper.cc
)
# What programs include as "ns3/NAME.h".
set(WEIR_NS3_HEADERS
  ${CMAKE_CURRENT_LIST_DIR}/model/engine-driver.h
  ${CMAKE_CURRENT_LIST_DIR}/model/flow-source.h
  ${CMAKE_CURRENT_LIST_DIR}/model/fluid-fabric.h
  ${CMAKE_CURRENT_LIST_DIR}/model/gpu-server.h
  ${CMAKE_CURRENT_LIST_DIR}/model/link-figures.h
  ${CMAKE_CURRENT_LIST_DIR}/model/network-description.h
  ${CMAKE_CURRENT_LIST_DIR}/model/server-description.h
  ${CMAKE_CURRENT_LIST_DIR}/model/weir-units.h
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-container.h
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-helper.h
  ${CMAKE_CURRENT_LIST_DIR}/helper/flow-source-helper.h
)
