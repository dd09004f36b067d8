# The ns-3 objects of the fabric, for both doors.
# Devices for stock applications need ns-3's internet module; the others do not.
set(WEIR_NS3_DEVICE_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/model/fabric-channel.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/fabric-net-device.cc
  ${CMAKE_CURRENT_LIST_DIR}/helper/fabric-net-device-helper.cc
)
set(WEIR_NS3_SOURCES
  ${WEIR_NS3_DEVICE_SOURCES}
  ${CMAKE_CURRENT_LIST_DIR}/model/engine-driver.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/fabric-port.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/flow-source.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/fluid-fabric.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/gpu-server.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/parameter-attributes.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/spec-descriptions.cc
  ${CMAKE_CURRENT_LIST_DIR}/model/weir-units.cc
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-container.cc
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-helper.cc
  ${CMAKE_CURRENT_LIST_DIR}/helper/flow-source-helper.cc
)
# What programs include as "ns3/NAME.h".
set(WEIR_NS3_HEADERS
  ${CMAKE_CURRENT_LIST_DIR}/model/engine-driver.h
  ${CMAKE_CURRENT_LIST_DIR}/model/fabric-channel.h
  ${CMAKE_CURRENT_LIST_DIR}/model/fabric-net-device.h
  ${CMAKE_CURRENT_LIST_DIR}/model/fabric-port.h
  ${CMAKE_CURRENT_LIST_DIR}/model/flow-source.h
  ${CMAKE_CURRENT_LIST_DIR}/model/fluid-fabric.h
  ${CMAKE_CURRENT_LIST_DIR}/model/gpu-server.h
  ${CMAKE_CURRENT_LIST_DIR}/model/parameter-attributes.h
  ${CMAKE_CURRENT_LIST_DIR}/model/spec-descriptions.h
  ${CMAKE_CURRENT_LIST_DIR}/model/weir-units.h
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-container.h
  ${CMAKE_CURRENT_LIST_DIR}/helper/cluster-helper.h
  ${CMAKE_CURRENT_LIST_DIR}/helper/fabric-net-device-helper.h
  ${CMAKE_CURRENT_LIST_DIR}/helper/flow-source-helper.h
)
