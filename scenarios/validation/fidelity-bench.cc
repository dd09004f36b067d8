// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/fidelity-bench.h"

#include "scenarios/simulation/back-to-back-time.h"

namespace weir
{

FidelityBench::FidelityBench(const ClusterSpec& spec)
    : m_simulation(spec)
{
}

Time
FidelityBench::Run(Fidelity fidelity, const std::vector<CollectiveCall>& calls)
{
    EngineSet& engines = m_simulation.Engines();
    const Time start = engines.Now();
    for (const auto& call : calls)
    {
        m_simulation.GetEngine(fidelity).Start(call, this, 0, start);
    }
    engines.RunToEnd();
    return m_last - start;
}

Time
FidelityBench::RunBackToBack(Fidelity fidelity, const CollectiveCall& call, uint32_t calls)
{
    return BackToBackTime(m_simulation, fidelity, call, calls);
}

void
FidelityBench::OnCollectiveDone(uint64_t token, Time now)
{
    m_last = now;
}

} // namespace weir
