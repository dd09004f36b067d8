// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/local-max-min.h"

#include <algorithm>

namespace weir
{

namespace
{

// What a solve may look at for each changed variable and each link of its path before it counts as
// too much, and how much too much, in all, is too much: some milliseconds. As long as links hold
// few of the variables that are set anew with it, MaxMin, which moves as one what a link holds,
// would look at the links of all their paths, too; so many looks a link are warranted (rings over a
// thousand links take 4 to 7, flows that drag many others along 50).
constexpr uint64_t WARRANTED = 64;
constexpr uint64_t DEBT_MOST = 1 << 22;
constexpr std::size_t HELD_FEW = 4;
constexpr uint64_t WARRANTED_DRAGGED = 24;
constexpr uint64_t WARRANTED_MOST = 1 << 21; //!< for one solve, however much has changed

} // namespace

std::vector<PathLink>
LocalMaxMin::PathOf(uint32_t v) const
{
    std::vector<PathLink> path;
    const Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        path.push_back({LinkId(m_steps[i].link), m_steps[i].multiplicity});
    }
    return path;
}

bool
LocalMaxMin::Solve()
{
    m_moved.clear();
    m_touched.clear();
    m_joined.clear();
    m_solve++;
    m_spent = 0;
    uint64_t warranted = WARRANTED * (1 + m_changedLinks.size());
    for (uint32_t v : m_changedVariables)
    {
        warranted += WARRANTED * (1 + m_variables[v].length);
    }
    warranted = std::min(warranted, WARRANTED_MOST);
    m_spendMost = warranted + DEBT_MOST;
    ApplyChanges();
    do
    {
        if (m_spent > m_spendMost || !Fill(m_spendMost))
        {
            return false;
        }
    } while (TakeIn());
    Commit();
    m_debt += m_spent;
    m_debt -= std::min(m_debt, warranted + WarrantedByJoined());
    return m_debt <= DEBT_MOST;
}

/** What setting anew all who have joined was worth, if links hold few of them each. */
uint64_t
LocalMaxMin::WarrantedByJoined() const
{
    const auto holders = static_cast<std::size_t>(std::count_if(
        m_open.begin(), m_open.end(), [](const Open& open) { return open.heldAt < INFINITE; }));
    std::size_t held = 0; // others are at their caps
    uint64_t warranted = 0;
    for (uint32_t v : m_joined)
    {
        held += m_variables[v].held == NONE ? 0 : 1;
        warranted += WARRANTED_DRAGGED * (1 + m_variables[v].length);
    }
    return held <= HELD_FEW * holders ? warranted : 0;
}

void
LocalMaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    Link& l = m_links[link];
    l.capacity = capacity;
    if (const uint32_t v = AloneOn(link); v != NONE)
    {
        m_variables[v].narrowest = NarrowestOf(v);
        SetAlone(v);
        return;
    }
    for (const Member& m : l.members)
    {
        Join(m.variable);
    }
    m_touched.push_back(link);
}

/** Gives a variable that shares links its next weight; its level is to be found. */
void
LocalMaxMin::Enter(uint32_t v)
{
    Variable& variable = m_variables[v];
    variable.weight = variable.nextWeight;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        m_links[step.link].members[step.position].weight = step.multiplicity * variable.weight;
    }
    Join(v);
}

/**
 * Sets whom the links of a variable hold free: it leaves them or changes its weight. Nothing, once
 * the solve has spent all that it may: it will give up.
 */
void
LocalMaxMin::Withdraw(uint32_t v)
{
    if (m_spent > m_spendMost)
    {
        return;
    }
    const Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_steps[i].link;
        m_spent += m_links[link].members.size();
        for (const Member& m : m_links[link].members)
        {
            if (m_variables[m.variable].held == link && m.variable != v)
            {
                Join(m.variable);
            }
        }
        m_touched.push_back(link);
    }
}

/** Sets a variable anew in this solve. */
void
LocalMaxMin::Join(uint32_t v)
{
    if (m_variables[v].joined != m_solve)
    {
        m_variables[v].joined = m_solve;
        m_joined.push_back(v);
    }
}

void
LocalMaxMin::Commit()
{
    for (uint32_t v : m_joined)
    {
        Variable& variable = m_variables[v];
        if (variable.standing == Variable::Shared && variable.level != variable.next)
        {
            variable.level = variable.next;
            m_moved.push_back(v);
        }
    }
    for (const Open& open : m_open)
    {
        m_touched.push_back(open.link);
    }
}

} // namespace weir
