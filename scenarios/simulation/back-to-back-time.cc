// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/back-to-back-time.h"

#include "collectives/engines/collective-engine.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

namespace
{

/** Records the ends of calls until their period is known. */
class BackToBackEnds : public BackToBackClient
{
  public:
    explicit BackToBackEnds(uint32_t calls)
        : m_calls(calls)
    {
    }

    bool OnCallDone(Time end, bool steady) override
    {
        if (m_isKnown)
        {
            return false; // already started on some rank
        }
        m_ends.push_back(end);
        m_isKnown = m_ends.size() == m_calls || steady;
        return !m_isKnown;
    }

    /** Time at which the last of all calls ends; infinite if never. */
    Time Last() const
    {
        if (!m_isKnown)
        {
            return Time::Infinite();
        }
        const std::size_t played = m_ends.size();
        const double more = m_calls - static_cast<double>(played);
        return more > 0 ? m_ends.back() + (m_ends.back() - m_ends[played - 2]) * more
                        : m_ends.back();
    }

  private:
    uint32_t m_calls;
    bool m_isKnown{false};
    std::vector<Time> m_ends;
};

/** @return when the last of the calls ends, simulated or extrapolated. */
Time
PlayCalls(Simulation& simulation, Fidelity fidelity, const CollectiveCall& call, uint32_t calls)
{
    BackToBackEnds ends(calls);
    EngineSet& engines = simulation.Engines();
    simulation.GetFlowEngine(fidelity).StartBackToBack(call, ends, engines.Now());
    engines.RunToEnd();
    return ends.Last();
}

/** @return when the call ends; infinite if never. */
Time
PlayCall(Simulation& simulation, Fidelity fidelity, const CollectiveCall& call)
{
    EndTime end;
    EngineSet& engines = simulation.Engines();
    simulation.GetEngine(fidelity).Start(call, &end, 0, engines.Now());
    engines.RunToEnd();
    return end.Get();
}

} // namespace

Time
BackToBackTime(Simulation& simulation,
               Fidelity fidelity,
               const CollectiveCall& call,
               uint32_t calls)
{
    const Time start = simulation.Engines().Now();
    Time end;
    if (!simulation.GetPlanner().Plan(call).Overlaps())
    {
        end = PlayCall(simulation, fidelity, call);
        calls = 1;
    }
    else if (MovesChunks(fidelity))
    {
        end = PlayCalls(simulation, fidelity, call, calls);
    }
    else
    {
        end = PlayCall(simulation, fidelity, call) +
              simulation.GetPlanner().Plan(call).period * (calls - 1);
    }
    if (end.IsInfinite())
    {
        throw std::runtime_error("the collective of " + std::to_string(call.bytes.Count()) +
                                 " bytes never ends");
    }
    return (end - start) * (1.0 / calls);
}

} // namespace weir
