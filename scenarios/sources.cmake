# SPDX-License-Identifier: GPL-2.0-only
# Plain sources of weir-scenario: readers, catalogue, runner, result files.
include(GNUInstallDirs)
set(WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/exact-decimal.cc
  ${CMAKE_CURRENT_LIST_DIR}/nearest-name.cc
  ${CMAKE_CURRENT_LIST_DIR}/quantity.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml-node.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml-node-load.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml-node-edit.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml-writer.cc
  ${CMAKE_CURRENT_LIST_DIR}/catalog.cc
  ${CMAKE_CURRENT_LIST_DIR}/scenario-names.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-source.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-link-profile.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-gpu.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-kernel-calibration.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-place.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-node.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-system.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-model.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-plan.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-event.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-scenario.cc
  ${CMAKE_CURRENT_LIST_DIR}/write-node.cc
  ${CMAKE_CURRENT_LIST_DIR}/write-system.cc
  ${CMAKE_CURRENT_LIST_DIR}/write-scenario.cc
)
# Where the catalogue looks for descriptions, after the environment's WEIR_DATA_PATH.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/catalog.cc PROPERTIES COMPILE_DEFINITIONS
  "WEIR_SCENARIOS_SOURCE_DIR=\"${CMAKE_CURRENT_LIST_DIR}\";WEIR_SCENARIOS_INSTALL_DIR=\"${CMAKE_INSTALL_FULL_DATADIR}/weir\"")
# The runner, its recorder and its result files (HDF5).
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/collective-sweep.cc
  ${CMAKE_CURRENT_LIST_DIR}/describe-kernel.cc
  ${CMAKE_CURRENT_LIST_DIR}/describe-model.cc
  ${CMAKE_CURRENT_LIST_DIR}/describe-system.cc
  ${CMAKE_CURRENT_LIST_DIR}/explain-channels.cc
  ${CMAKE_CURRENT_LIST_DIR}/explain-collective.cc
  ${CMAKE_CURRENT_LIST_DIR}/fabric-events.cc
  ${CMAKE_CURRENT_LIST_DIR}/hdf5-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/hdf5-table.cc
  ${CMAKE_CURRENT_LIST_DIR}/link-series.cc
  ${CMAKE_CURRENT_LIST_DIR}/model-flops.cc
  ${CMAKE_CURRENT_LIST_DIR}/output-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/path-repair.cc
  ${CMAKE_CURRENT_LIST_DIR}/progress.cc
  ${CMAKE_CURRENT_LIST_DIR}/read-suite.cc
  ${CMAKE_CURRENT_LIST_DIR}/recorder.cc
  ${CMAKE_CURRENT_LIST_DIR}/rerouting-transport.cc
  ${CMAKE_CURRENT_LIST_DIR}/result-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/result-groups.cc
  ${CMAKE_CURRENT_LIST_DIR}/run-json.cc
  ${CMAKE_CURRENT_LIST_DIR}/run-scenario.cc
  ${CMAKE_CURRENT_LIST_DIR}/size-list.cc
  ${CMAKE_CURRENT_LIST_DIR}/summary.cc
  ${CMAKE_CURRENT_LIST_DIR}/text-table.cc
  ${CMAKE_CURRENT_LIST_DIR}/timeline.cc
  ${CMAKE_CURRENT_LIST_DIR}/trace-writer.cc
  ${CMAKE_CURRENT_LIST_DIR}/validate.cc
  ${CMAKE_CURRENT_LIST_DIR}/versions.cc
  ${CMAKE_CURRENT_LIST_DIR}/wired-scenario.cc
)
# `weir flows`: a researcher's own topology and flows.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/flows/cluster-network.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-report.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-results.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-summary.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/hpcc-network.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/hpcc-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/located-lines.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/open-network.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/play-flows.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/source-ports.cc
)
# `weir validate`: tables of measured figures, and how far Weir is from them.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/plot/axis-ticks.cc
  ${CMAKE_CURRENT_LIST_DIR}/plot/chart.cc
  ${CMAKE_CURRENT_LIST_DIR}/plot/svg-text.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/collective-outcome.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/collective-table.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/error-charts.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/error-statistics.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/fidelity-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/measured-kernels.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/step-table.cc
)
# Node descriptions as other programs write them, and drawings.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/topology/convert-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/describe-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/draw-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/nccl-link-defaults.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/nccl-xml-tree.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/node-layout.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/read-graphml.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/read-nccl-xml.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/slot-list.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/svg-canvas.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/write-graphml.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/write-nccl-xml.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/xml-element.cc
)
# `weir collective --msccl`: schedules that somebody else has written.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/msccl/msccl-element.cc
  ${CMAKE_CURRENT_LIST_DIR}/msccl/read-msccl.cc
)
