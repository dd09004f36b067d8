// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_MAX_MIN_SYSTEM_H
#define WEIR_FABRIC_MAX_MIN_SYSTEM_H

#include "fabric/routing/path-table.h"
#include "fabric/sharing/max-min-variable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace weir::maxmin
{

/**
 * The linear system under a max-min solver: variables, the links on their paths, who is on which
 * link, and the changes that wait for the next Solve. It answers by itself for variables that
 * stand alone; the levels of those that share a link are the solver's.
 *
 * A base of its solver, which it calls without virtual functions. The solver has
 *  - ApplyCapacity(link, capacity): puts a capacity in force;
 *  - Enter(v): a variable has come to share links, or shares them at its nextWeight from now on;
 *  - Withdraw(v): a variable that shares links is about to change its weight or to leave them;
 *  - Joined(link, v) and Left(link, place, v): v has become the last member of a link, or has
 *    stopped being one and the last has taken its place;
 *  - Level(v).
 *
 * @tparam Solver derives from this
 * @tparam Parts what the solver keeps: `Parts::Variable`, derived from Variable, `Parts::Step`, a
 * Step or derived from it, and `Parts::Link`, with a `capacity` and the `members` on the link
 */
template <typename Solver, typename Parts>
class System
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    using Member = maxmin::Member;

    /** A new variable of weight zero. O(path). @return its index; freed indices are used again. */
    uint32_t Add(PathTable::Span path, double cap);

    /** Frees a variable of weight zero after a Solve. */
    void Remove(uint32_t variable);

    /** The total weight from the next Solve on; zero: it takes no share. O(1). */
    void SetWeight(uint32_t v, double weight)
    {
        Variable& variable = m_variables[v];
        variable.nextWeight = weight;
        if (!variable.changed)
        {
            variable.changed = true;
            m_changedVariables.push_back(v);
        }
    }

    /** The capacity of a link from the next Solve on. O(1). */
    void SetCapacity(uint32_t link, double capacity)
    {
        m_changedLinks.push_back({link, capacity});
    }

    bool NeedsSolve() const
    {
        return !m_changedVariables.empty() || !m_changedLinks.empty();
    }

    /** Whether the variable stands on its links (an idle one may, until they are wanted). */
    bool IsAttached(uint32_t variable) const
    {
        return m_variables[variable].standing != Variable::Off;
    }

    bool IsAlone(uint32_t variable) const
    {
        return m_variables[variable].standing == Variable::Alone;
    }

    double Capacity(uint32_t link) const
    {
        return m_links[link].capacity;
    }

    /** The variable that stands alone on a link, active or idle; NONE otherwise. */
    uint32_t AloneOn(uint32_t link) const
    {
        const auto& members = m_links[link].members;
        return members.size() == 1 && IsAlone(members[0].variable) ? members[0].variable : NONE;
    }

    /** How often a unit of the member crosses its link. */
    uint32_t Multiplicity(const Member& member) const
    {
        return m_steps[member.step].multiplicity;
    }

    /** All variables on a link, in no particular but a reproducible order. */
    const std::vector<Member>& Members(uint32_t link) const
    {
        return m_links[link].members;
    }

    /** Variables whose bottleneck, own level or standing the last Solve changed; may repeat. */
    const std::vector<uint32_t>& MovedVariables() const
    {
        return m_moved;
    }

    /** Links whose level or load the last Solve may have changed; may repeat. */
    const std::vector<uint32_t>& TouchedLinks() const
    {
        return m_touched;
    }

  protected:
    static constexpr double INFINITE = UNLIMITED;

    struct CapacityChange
    {
        uint32_t link;
        double capacity;
    };

    explicit System(const std::vector<double>& capacities)
        : m_links(capacities.size())
    {
        for (std::size_t i = 0; i < capacities.size(); i++)
        {
            m_links[i].capacity = capacities[i];
        }
    }

    ~System() = default;

    /** Puts all changes since the last Solve in force. */
    void ApplyChanges();

    /** The answer for a variable that shares no link. O(1). */
    void SetAlone(uint32_t variable);

    /** The least capacity / multiplicity of a variable's links. O(path). */
    double NarrowestOf(uint32_t variable) const;

    /** The total rate on a link. O(members). */
    double SumOfRates(uint32_t link) const
    {
        double load = 0;
        for (const Member& m : m_links[link].members)
        {
            load += m.weight * static_cast<const Solver&>(*this).Level(m.variable);
        }
        return load;
    }

    std::vector<typename Parts::Variable> m_variables;
    std::vector<typename Parts::Step> m_steps; //!< of all paths
    std::vector<typename Parts::Link> m_links;
    std::vector<uint32_t> m_changedVariables;
    std::vector<CapacityChange> m_changedLinks;
    std::vector<uint32_t> m_moved;
    std::vector<uint32_t> m_touched;

  private:
    Solver& Self()
    {
        return static_cast<Solver&>(*this);
    }

    void ApplyWeight(uint32_t variable);
    void Attach(uint32_t variable);
    void TakePlaces(uint32_t variable);
    void Leave(uint32_t variable);

    std::vector<std::vector<uint32_t>> m_unused; //!< removed variables, by path length
};

template <typename Solver, typename Parts>
uint32_t
System<Solver, Parts>::Add(PathTable::Span path, double cap)
{
    const std::size_t length = path.size();
    if (m_unused.size() <= length)
    {
        m_unused.resize(length + 1);
    }
    uint32_t v;
    if (!m_unused[length].empty())
    {
        v = m_unused[length].back();
        m_unused[length].pop_back();
    }
    else
    {
        v = static_cast<uint32_t>(m_variables.size());
        m_variables.emplace_back();
        m_variables[v].first = static_cast<uint32_t>(m_steps.size());
        m_variables[v].length = static_cast<uint32_t>(length);
        m_steps.resize(m_steps.size() + length);
    }
    m_variables[v].cap = cap;
    m_variables[v].removed = false;
    auto* step = m_steps.data() + m_variables[v].first;
    for (const PathLink& l : path)
    {
        *step = {};
        step->link = l.link.Index();
        step->multiplicity = l.multiplicity;
        step++;
    }
    return v;
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::Remove(uint32_t v)
{
    Variable& variable = m_variables[v];
    if (variable.changed || variable.weight != 0)
    {
        throw std::logic_error("max-min sharing: a variable in use is removed");
    }
    if (variable.standing != Variable::Off)
    {
        Leave(v);
    }
    variable.removed = true;
    m_unused[variable.length].push_back(v);
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::ApplyChanges()
{
    for (const auto& change : m_changedLinks)
    {
        Self().ApplyCapacity(change.link, change.capacity);
    }
    // Those that go make room before those that come look who is there.
    for (const bool coming : {false, true})
    {
        for (uint32_t v : m_changedVariables)
        {
            if ((m_variables[v].nextWeight > 0) == coming)
            {
                ApplyWeight(v);
            }
        }
    }
    for (uint32_t v : m_changedVariables)
    {
        m_variables[v].changed = false;
    }
    m_changedVariables.clear();
    m_changedLinks.clear();
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::ApplyWeight(uint32_t v)
{
    Variable& variable = m_variables[v];
    if (variable.nextWeight == variable.weight)
    {
        return;
    }
    switch (variable.standing)
    {
    case Variable::Off:
        Attach(v);
        break;
    case Variable::Alone:
        SetAlone(v);
        break;
    case Variable::Shared:
        Self().Withdraw(v);
        if (variable.nextWeight > 0)
        {
            Self().Enter(v);
        }
        else
        {
            Leave(v);
            variable.weight = 0;
            variable.level = 0;
        }
        break;
    }
}

/** Puts a variable on its links: alone if nobody active is there, else sharing with them. */
template <typename Solver, typename Parts>
void
System<Solver, Parts>::Attach(uint32_t v)
{
    const uint32_t first = m_variables[v].first;
    const uint32_t last = first + m_variables[v].length;
    bool alone = true;
    for (uint32_t i = first; i < last; i++)
    {
        const uint32_t link = m_steps[i].link;
        if (m_links[link].members.empty())
        {
            continue;
        }
        const uint32_t other = AloneOn(link);
        if (other != NONE && m_variables[other].nextWeight == 0)
        {
            Leave(other);
            continue;
        }
        alone = false;
        if (other != NONE)
        {
            m_variables[other].standing = Variable::Shared;
            m_moved.push_back(other);
            Self().Enter(other);
        }
    }
    TakePlaces(v);
    m_variables[v].standing = alone ? Variable::Alone : Variable::Shared;
    if (alone)
    {
        m_variables[v].narrowest = NarrowestOf(v);
        SetAlone(v);
    }
    else
    {
        Self().Enter(v);
    }
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::TakePlaces(uint32_t v)
{
    const Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        Step& step = m_steps[i];
        auto& members = m_links[step.link].members;
        step.position = static_cast<uint32_t>(members.size());
        members.push_back({0, v, i});
        Self().Joined(step.link, v);
    }
}

/** Takes a variable that the solver does not see, or no longer, off its links. */
template <typename Solver, typename Parts>
void
System<Solver, Parts>::Leave(uint32_t v)
{
    Variable& variable = m_variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Step& step = m_steps[i];
        auto& members = m_links[step.link].members;
        members[step.position] = members.back();
        m_steps[members[step.position].step].position = step.position;
        members.pop_back();
        Self().Left(step.link, step.position, v);
    }
    variable.standing = Variable::Off;
    m_moved.push_back(v);
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::SetAlone(uint32_t v)
{
    Variable& variable = m_variables[v];
    variable.weight = variable.nextWeight;
    variable.level =
        variable.weight > 0 ? std::min(variable.cap, variable.narrowest / variable.weight) : 0;
    m_moved.push_back(v);
}

template <typename Solver, typename Parts>
double
System<Solver, Parts>::NarrowestOf(uint32_t v) const
{
    const Variable& variable = m_variables[v];
    double least = INFINITE;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        least = std::min(least, m_links[m_steps[i].link].capacity / m_steps[i].multiplicity);
    }
    return least;
}

} // namespace weir::maxmin

#endif // WEIR_FABRIC_MAX_MIN_SYSTEM_H
