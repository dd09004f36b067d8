// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/fidelity-bench.h"

#include "scenarios/running/row-time.h"

namespace weir
{

FidelityBench::FidelityBench(const ClusterSpec& spec)
    : m_fabric(spec),
      m_planner(m_fabric.GetCluster(), m_fabric.GetRouting())
{
}

Time
FidelityBench::Run(Fidelity fidelity, const std::vector<CollectiveCall>& calls)
{
    auto engine = MakeCollectiveEngine(fidelity, m_planner, m_fabric.GetTransport());
    EngineSet set;
    set.Add(m_fabric.GetTransport());
    set.Add(*engine);
    set.RunUntil(m_now);
    for (const auto& call : calls)
    {
        engine->Start(call, this, 0, m_now);
    }
    const Time start = m_now;
    m_now = set.RunToEnd();
    return m_last - start;
}

Time
FidelityBench::RunRow(Fidelity fidelity, const CollectiveCall& call, uint32_t calls)
{
    RowTimer timer(fidelity, m_planner, m_fabric.GetTransport(), m_now);
    const Time time = timer.PerCall(call, calls);
    m_now = timer.Now();
    return time;
}

void
FidelityBench::OnCollectiveDone(uint64_t token, Time now)
{
    m_last = now;
}

} // namespace weir
