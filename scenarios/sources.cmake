# SPDX-License-Identifier: GPL-2.0-only
# Plain sources of weir-scenario: readers, catalog, runner, result files.
include(GNUInstallDirs)
# What jobs run on, with or without the rest.
set(WEIR_SIMULATION_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/simulation/fabric-events.cc
  ${CMAKE_CURRENT_LIST_DIR}/simulation/simulation.cc
  ${CMAKE_CURRENT_LIST_DIR}/traffic/gpu-routes.cc
  ${CMAKE_CURRENT_LIST_DIR}/traffic/size-distribution.cc
  ${CMAKE_CURRENT_LIST_DIR}/traffic/source-ports.cc
  ${CMAKE_CURRENT_LIST_DIR}/traffic/traffic-job.cc
  ${CMAKE_CURRENT_LIST_DIR}/traffic/traffic-pattern.cc
)
# All there is without yaml-cpp and HDF5: also the names of keys and choices, which attributes use.
set(WEIR_UNREAD_SOURCES
  ${WEIR_SIMULATION_SOURCES}
  ${CMAKE_CURRENT_LIST_DIR}/readers/scenario-names.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/plan-keys.cc
)
set(WEIR_SCENARIO_SOURCES
  ${WEIR_SIMULATION_SOURCES}
  ${CMAKE_CURRENT_LIST_DIR}/yaml/names.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml/quantity.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml/yaml-node.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml/yaml-node-text.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml/yaml-writer.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml/text-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml/xml-element.cc
  ${CMAKE_CURRENT_LIST_DIR}/catalog.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/scenario-names.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/yaml-keys.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-link-profile.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-gpu.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/attachments.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/parameter-reader.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-packets.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/key-uses.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/check-wiring.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-fabric.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-system.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/read-graph.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/graphml.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-model.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-nccl.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/machine-parts.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-plan.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-layer-table.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-event.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-traffic.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/read-scenario.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/plan-keys.cc
  ${CMAKE_CURRENT_LIST_DIR}/writers/parameter-writer.cc
  ${CMAKE_CURRENT_LIST_DIR}/writers/write-system.cc
  ${CMAKE_CURRENT_LIST_DIR}/writers/write-scenario.cc
)
# Where the catalog looks for descriptions, after the environment's WEIR_DATA_PATH.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/catalog.cc PROPERTIES COMPILE_DEFINITIONS
  "WEIR_SCENARIOS_SOURCE_DIR=\"${CMAKE_CURRENT_LIST_DIR}\";WEIR_SCENARIOS_INSTALL_DIR=\"${CMAKE_INSTALL_FULL_DATADIR}/weir\";WEIR_DATA_BELOW_PREFIX=\"${CMAKE_INSTALL_DATADIR}/weir\";WEIR_HEADERS_BELOW_PREFIX=\"${CMAKE_INSTALL_INCLUDEDIR}/weir\"")
# The runner, its recorder and its result files (HDF5).
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/simulation/collective-sweep.cc
  ${CMAKE_CURRENT_LIST_DIR}/describe/describe-graph.cc
  ${CMAKE_CURRENT_LIST_DIR}/describe/describe-system.cc
  ${CMAKE_CURRENT_LIST_DIR}/describe/explain-collective.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/hdf5-driver.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/hdf5-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/hdf5-table.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/link-series.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/port-series.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/model-flops.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/output-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/simulation/progress.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/read-suite.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/recorder.cc
  ${CMAKE_CURRENT_LIST_DIR}/simulation/back-to-back-time.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/result-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/result-groups.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/run-json.cc
  ${CMAKE_CURRENT_LIST_DIR}/simulation/run-recording.cc
  ${CMAKE_CURRENT_LIST_DIR}/simulation/run-result.cc
  ${CMAKE_CURRENT_LIST_DIR}/simulation/run-scenario.cc
  ${CMAKE_CURRENT_LIST_DIR}/yaml/size-list.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/summary.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/text-table.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/timeline.cc
  ${CMAKE_CURRENT_LIST_DIR}/results/trace-writer.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/validate.cc
  ${CMAKE_CURRENT_LIST_DIR}/versions.cc
  ${CMAKE_CURRENT_LIST_DIR}/simulation/wire-scenario.cc
)
# The shortcut's error bound.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/bound/calibrate-shortcut.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/calibration.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/call-position.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/conformal.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/measured-bounds.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/sampled-calls.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/sampled-fabric.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/sampled-steps.cc
  ${CMAKE_CURRENT_LIST_DIR}/bound/scenario-position.cc
)
# `weir calibrate --from`: a machine's figures from its measured runs.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/machine/calibrate-machine.cc
  ${CMAKE_CURRENT_LIST_DIR}/machine/machine-runs.cc
  ${CMAKE_CURRENT_LIST_DIR}/machine/machine-system.cc
  ${CMAKE_CURRENT_LIST_DIR}/machine/nccl-tests-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/machine/robust-fit.cc
)
# `weir flows`: a researcher's own topology and flows.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-file.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-network.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-report.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/flow-results.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/hpcc-config.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/hpcc-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/htsim-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/readers/located-lines.cc
  ${CMAKE_CURRENT_LIST_DIR}/flows/play-flows.cc
)
# `weir sweep`: a command for every combination of some values.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/sweep/case-processes.cc
  ${CMAKE_CURRENT_LIST_DIR}/sweep/case-store.cc
  ${CMAKE_CURRENT_LIST_DIR}/sweep/plan-search.cc
  ${CMAKE_CURRENT_LIST_DIR}/sweep/sweep.cc
  ${CMAKE_CURRENT_LIST_DIR}/sweep/sweep-tables.cc
)
# `weir validate`: tables of measured figures, and how far Weir is from them.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/validation/bound-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/collective-table.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/error-statistics.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/fidelity-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/call-times.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/hybrid-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/packet-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/regime-traffic.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/settle-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/plan-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/measured-flows.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/measured-kernels.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/mixture-agreement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/suite-statement.cc
  ${CMAKE_CURRENT_LIST_DIR}/validation/write-outcomes.cc
)
# Node descriptions as other programs write them, and drawings.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/topology/convert-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/describe-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/draw-topology.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/drawing-layout.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/topology-style.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/read-nccl-xml.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/svg-canvas.cc
  ${CMAKE_CURRENT_LIST_DIR}/topology/write-nccl-xml.cc
)
# `weir collective --msccl`: schedules that somebody else has written.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/msccl/read-msccl.cc
)
# `weir import`: traces and workloads of other programs.
list(APPEND WEIR_SCENARIO_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/traces/aicb-csv.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/chakra-trace.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/collective-fields.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/execution-trace.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/goal-binary.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/goal-schedule.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/goal-text.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/kineto-trace.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/make-workload.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/match-calls.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/nccl-output.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/read-traces.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/simai-workload.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/trace-bytes.cc
  ${CMAKE_CURRENT_LIST_DIR}/traces/trace.cc
  ${CMAKE_CURRENT_LIST_DIR}/workload/json-fields.cc
  ${CMAKE_CURRENT_LIST_DIR}/workload/workload-file.cc
)
