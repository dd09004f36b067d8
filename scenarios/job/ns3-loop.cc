// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/job/ns3-loop.h"

#include "ns3/simulator.h"
#include "ns3/weir-units.h"

namespace weir
{

namespace
{

constexpr uint64_t PROGRESS_INTERVAL = 256; //!< instants between progress calls

/** Destroys the simulator when a run ends, also by an exception. */
struct SimulatorGuard
{
    ~SimulatorGuard()
    {
        ns3::Simulator::Destroy();
    }
};

/** The only pending event: runs the engines up to now and schedules itself for their next event. */
class Wake
{
  public:
    Wake(EngineSet& engines, const std::function<void(Time)>& progress)
        : m_engines(engines),
          m_progress(progress)
    {
    }

    void Do()
    {
        const Time now = ns3::ToWeir(ns3::Simulator::Now());
        Time next = m_engines.NextEventTime();
        for (; next <= now && !next.IsInfinite(); next = m_engines.NextEventTime())
        {
            m_engines.RunUntil(next);
            if (++m_instants % PROGRESS_INTERVAL == 0)
            {
                m_progress(next);
            }
        }
        if (!next.IsInfinite())
        {
            ns3::Simulator::Schedule(ns3::ToNs3(next) - ns3::Simulator::Now(), &Wake::Do, this);
        }
    }

  private:
    EngineSet& m_engines;
    const std::function<void(Time)>& m_progress;
    uint64_t m_instants{0};
};

} // namespace

void
Ns3Loop::Run(EngineSet& engines, const std::function<void(Time)>& progress)
{
    const SimulatorGuard guard;
    Wake wake(engines, progress);
    ns3::Simulator::ScheduleNow(&Wake::Do, &wake);
    ns3::Simulator::Run();
}

} // namespace weir
