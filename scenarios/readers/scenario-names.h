// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_SCENARIO_NAMES_H
#define WEIR_SCENARIOS_READERS_SCENARIO_NAMES_H

#include "compute-model/kernels/kernel-time.h"
#include "compute-model/kernels/measured-shapes.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml/named-choices.h"

/**
 * @file
 * The names of choices in YAML files, one list each for the readers and the writer.
 */
namespace weir
{

NamedChoices<NvLinkWiring> WiringNames();
NamedChoices<HostCpu> HostCpuNames();
NamedChoices<NetTransport> TransportNames();
NamedChoices<NormKind> NormNames();
NamedChoices<ActivationKind> ActivationNames();
NamedChoices<PipelineScheduleKind> ScheduleNames();
NamedChoices<Recomputation> RecomputationNames();
NamedChoices<TableOp> TableOpNames();
NamedChoices<GemmLayout> GemmLayoutNames();
NamedChoices<MemoryKernel> MemoryKernelNames();
NamedChoices<Precision> PrecisionNames();
NamedChoices<Placement> PlacementNames();
NamedChoices<Fidelity> FidelityNames();

/** The algorithms that a call may request: all but that of imported schedules. */
NamedChoices<Algorithm> CalledAlgorithms();

NamedChoices<JitterScope> JitterScopeNames();
NamedChoices<TrafficKind> TrafficKindNames();

/** Whether the spans of on-off traffic are fixed. */
NamedChoices<bool> SpanNames();

NamedChoices<EventKind> EventKindNames();

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_SCENARIO_NAMES_H
