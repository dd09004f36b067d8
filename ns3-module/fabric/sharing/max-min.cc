// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/max-min.h"

#include <stdexcept>

namespace weir::maxmin
{

namespace
{

/** Number of solves that touch a link before its load is recomputed from its members. */
constexpr uint32_t MAX_SOLVES = 128;

} // namespace

MaxMin::MaxMin(const LocalMaxMin& other)
    : GroupedSystem(other)
{
    SolveAll();
}

void
MaxMin::Solve()
{
    m_tables.moved.clear();
    m_tables.touched.clear();
    m_walk.SetLevel(0);
    m_walk.BeginSolve();
    ApplyChanges();
    // Each visit freezes, raises or opens a group. Far more visits than this indicate a bug.
    const std::size_t maxVisits = 1000 + 100 * (m_tables.links.size() + m_tables.variables.size());
    std::size_t visits = 0;
    do
    {
        while (m_queue.FirstLevel() < INFINITE)
        {
            if (++visits > maxVisits)
            {
                throw std::logic_error("MaxMin: the sweep does not end");
            }
            if (m_walk.Pays())
            {
                m_walk.Run();
                continue;
            }
            m_walk.VisitFirst();
        }
        m_mover.FreezeRest();
    } while (!m_queue.IsEmpty());
    EndSolve();
}

void
MaxMin::EndSolve()
{
    m_walk.EndSolve();
    for (uint32_t link : m_tables.touched)
    {
        GroupedLink& l = m_tables.links[link];
        l.level = l.risers > 0 ? l.level : INFINITE;
        // Rounding errors matter after many changes, and after most of the load has been removed.
        if (l.solves > MAX_SOLVES || m_groups.Load(link) < l.peak * LOST)
        {
            m_groups.RecomputeLoad(link);
        }
        m_slack.Review(link);
        m_order.Enlist(link);
        l.isTouched = false;
    }
}

void
MaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    GroupedLink& l = m_tables.links[link];
    const double before = l.capacity;
    if (capacity == before)
    {
        return;
    }
    if (l.isSlack)
    {
        m_slack.Tighten(link);
    }
    l.capacity = capacity;
    m_queue.Touch(link);
    if (before == INFINITE)
    {
        // A link of infinite capacity has no load and may have members that nothing limited.
        for (const Member& m : l.members)
        {
            if (!m_groups.IsFree(m_tables.variables[m.variable]) && Level(m.variable) == INFINITE)
            {
                m_mover.Free(m.variable);
            }
        }
    }
    else if (capacity == INFINITE)
    {
        m_mover.Open(link);
    }
    m_groups.RecomputeLoad(link); // removes rounding errors at the old capacity
    m_queue.Update(link);
}

} // namespace weir::maxmin
