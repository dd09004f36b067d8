// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

namespace weir
{

MaxMin::MaxMin(const std::vector<double>& capacities)
    : System(capacities),
      m_none(static_cast<uint32_t>(capacities.size())),
      m_lines(capacities.size()),
      m_fixed(capacities.size(), 0),
      m_groupLevels(capacities.size() + 1, INFINITE),
      m_heap(capacities.size())
{
}

double
MaxMin::SharedLoad(uint32_t link) const
{
    return m_links[link].slack ? SumOfRates(link) : LineLoad(link);
}

void
MaxMin::Solve()
{
    BeginSolve();
    ApplyChanges();
    Sweep();
    EndSolve();
}

void
MaxMin::BeginSolve()
{
    m_moved.clear();
    m_touched.clear();
    m_level = 0;
    m_mayWalk = true;
    if (++m_solve == NONE)
    {
        m_solve = 1;
        for (auto& v : m_variables)
        {
            v.freed = 0;
        }
        for (auto& l : m_links)
        {
            l.mark = 0;
        }
    }
}

void
MaxMin::EndSolve()
{
    m_walksAtOnce = m_mayWalk && HasSpread();
    for (uint32_t link : m_touched)
    {
        Link& l = m_links[link];
        l.level = l.risers > 0 ? l.level : INFINITE;
        // After many changes, and where most of the load is gone, rounding could show.
        if (l.solves > SOLVES_MOST || LineLoad(link) < l.peak * LOST)
        {
            SumAfresh(link);
        }
        if (l.slack && IsNearlyFull(link))
        {
            Tighten(link);
        }
        if (CouldBeSlack(link))
        {
            Relax(link);
        }
        m_lines[link].limit = -INFINITE;
        Enlist(link);
    }
}

} // namespace weir
