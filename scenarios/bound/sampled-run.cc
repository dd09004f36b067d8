// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/sampled-run.h"

#include "scenarios/simulation/wire-scenario.h"

#include <stdexcept>

namespace weir
{

std::unique_ptr<Simulation>
RunWithin(uint64_t maxWork, const Scenario& scenario)
{
    auto simulation = WireScenario(scenario);
    const bool isFluid = FormOf(scenario.fidelity) == FlowForm::Fluid;
    uint64_t work = 0;
    while (simulation->Engines().Step())
    {
        work += isFluid ? 1 + simulation->GetTransport().ActiveFlows() : 1;
        if (work > maxWork)
        {
            throw std::invalid_argument("a run that takes long");
        }
    }
    if (!simulation->IsFinished())
    {
        throw std::invalid_argument("a run that never ends");
    }
    return simulation;
}

} // namespace weir
