// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/recorder.h"

#include "scenarios/results/timeline.h"
#include "scenarios/writers/write-scenario.h"

namespace weir
{

RecordingSpec
RecordingOf(const Scenario& scenario)
{
    return {scenario.output,
            scenario.output.timeline ? TimelinePath(scenario) : "",
            scenario.title,
            scenario.fidelity,
            scenario.seed,
            scenario.nccl.version,
            [&scenario] { return DumpScenario(scenario); }};
}

} // namespace weir
