// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_MAX_MIN_SYSTEM_H
#define WEIR_FABRIC_SHARING_MAX_MIN_SYSTEM_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace weir::maxmin
{

constexpr uint32_t NONE = 0xffffffff;
constexpr double INFINITE = std::numeric_limits<double>::infinity();

/**
 * Loads that differ by less than this fraction of the capacity count as equal. It is the rounding
 * error of sums of thousands of doubles, far below the 1e-9 to which rates are accurate. The
 * tolerance keeps rounding noise from triggering recomputation, and makes equal links saturate at
 * exactly the same level.
 */
constexpr double SAME_LOAD = 1e-14;

/** A variable of a System. */
struct Variable
{
    double level{0};      //!< used unless the solver stores the level elsewhere
    double cap{0};        //!< upper bound of the level
    double weight{0};     //!< weight now in effect
    double nextWeight{0}; //!< weight from the next Solve on
    double narrowest{0};  //!< if uncontended: minimum of capacity / multiplicity
    uint32_t first{0};    //!< index of its first crossing
    uint32_t length{0};   //!< number of its crossings

    enum : uint8_t
    {
        Detached,    //!< not a member of its links
        Uncontended, //!< sole member of its links, idle or active; hidden from the solver
        Contending   //!< active member of its links; the solver computes its level
    } standing{Detached};

    bool isChanged{false}; //!< has a change pending for the next Solve
};

/** A crossing of a link by a variable. */
struct Crossing
{
    uint32_t link{NONE};
    uint32_t position{NONE}; //!< among the link's members
};

/** A variable on a link. */
struct Member
{
    double weight; //!< weight of the variable times its multiplicity on the link
    uint32_t variable;
    uint32_t crossing; //!< index into all crossings
};

/** The variables, crossings and links of a System, and those that the last Solve has changed. */
template <typename Parts>
struct Tables
{
    std::vector<typename Parts::Variable> variables;
    std::vector<typename Parts::Crossing> crossings; //!< of all variables
    std::vector<double> multiplicities;              //!< by crossing
    std::vector<typename Parts::Link> links;
    std::vector<uint32_t> moved;   //!< variables changed by the last Solve
    std::vector<uint32_t> touched; //!< links changed by the last Solve

    /** The uncontended variable on a link, active or idle; NONE otherwise. */
    uint32_t UncontendedOn(uint32_t link) const
    {
        const auto& members = links[link].members;
        return members.size() == 1 &&
                       variables[members[0].variable].standing == Variable::Uncontended
                   ? members[0].variable
                   : NONE;
    }
};

/**
 * The linear system of a max-min solver: the variables, the links that they cross, the members of
 * each link, and the changes that are pending for the next Solve. System computes the levels of
 * uncontended variables; the solver computes the levels of variables that share links.
 *
 * System is a base class of its solver and calls it without virtual functions. The solver defines
 *  - ApplyCapacity(link, capacity): sets the capacity of a link that has no uncontended variable;
 *  - Enter(v): a variable starts to share links, or re-enters them at its nextWeight;
 *  - Withdraw(v): a variable that shares links is about to change its weight or to leave them;
 *  - Joined(link, v): v was appended to the members of a link;
 *  - Left(link, position, v): v was removed from the members of a link and the last member was
 *    moved to its position;
 *  - Level(v).
 *
 * @tparam Solver the class that derives from this
 * @tparam Parts the solver's data types: `Parts::Variable`, derived from Variable,
 * `Parts::Crossing`, Crossing or a class derived from it, and `Parts::Link`, with its `capacity`
 * and `members`
 */
template <typename Solver, typename Parts>
class System
{
  public:
    static constexpr uint32_t NONE = maxmin::NONE;

    /**
     * Adds a variable of weight zero. O(path). Indices of removed variables are reused.
     * @param path pairs of a LinkId and the multiplicity (how often each unit of the variable
     *        crosses the link); each link at most once, as in PathLink and LinkShare
     * @param cap upper bound of the level
     * @return the index of the variable
     */
    template <typename Path>
    uint32_t Add(const Path& path, double cap);

    /**
     * Removes a variable whose weight was zero in the last Solve.
     * @throws std::logic_error if the variable has a weight or a pending change
     */
    void Remove(uint32_t variable);

    /** Sets the total weight from the next Solve on; at zero the variable takes no share. O(1). */
    void SetWeight(uint32_t v, double weight)
    {
        Variable& variable = m_tables.variables[v];
        variable.nextWeight = weight;
        if (!variable.isChanged)
        {
            variable.isChanged = true;
            m_changedVariables.push_back(v);
        }
    }

    /** Sets the capacity of a link from the next Solve on. O(1). */
    void SetCapacity(uint32_t link, double capacity)
    {
        m_changedLinks.push_back({link, capacity});
    }

    bool NeedsSolve() const
    {
        return !m_changedVariables.empty() || !m_changedLinks.empty();
    }

    /**
     * Whether the variable is a member of its links. An idle variable stays one until another
     * variable needs the links.
     */
    bool IsAttached(uint32_t variable) const
    {
        return m_tables.variables[variable].standing != Variable::Detached;
    }

    bool IsUncontended(uint32_t variable) const
    {
        return m_tables.variables[variable].standing == Variable::Uncontended;
    }

    double Capacity(uint32_t link) const
    {
        return m_tables.links[link].capacity;
    }

    uint32_t UncontendedOn(uint32_t link) const
    {
        return m_tables.UncontendedOn(link);
    }

    /** Calls @p use(variable, multiplicity) for all members of a link, in a reproducible order. */
    template <typename Use>
    void ForEachOn(uint32_t link, const Use& use) const
    {
        for (const Member& member : m_tables.links[link].members)
        {
            use(member.variable, m_tables.multiplicities[member.crossing]);
        }
    }

    /**
     * Variables whose bottleneck, own level or standing the last Solve changed; may contain
     * duplicates.
     */
    const std::vector<uint32_t>& MovedVariables() const
    {
        return m_tables.moved;
    }

    /** Links whose level or load the last Solve may have changed; may contain duplicates. */
    const std::vector<uint32_t>& TouchedLinks() const
    {
        return m_tables.touched;
    }

  protected:
    struct CapacityChange
    {
        uint32_t link;
        double capacity;
    };

    explicit System(const std::vector<double>& capacities)
    {
        m_tables.links.resize(capacities.size());
        for (std::size_t i = 0; i < capacities.size(); i++)
        {
            m_tables.links[i].capacity = capacities[i];
        }
    }

    /**
     * Copies the links of another system, and its variables under the same indices; their weights
     * become pending changes.
     */
    template <typename OtherSolver, typename OtherParts>
    explicit System(const System<OtherSolver, OtherParts>& other);

    ~System() = default;

    /** Applies all changes since the last Solve. */
    void ApplyChanges();

    /** The total rate on a link. O(members). */
    double SumOfRates(uint32_t link) const
    {
        double load = 0;
        for (const Member& m : m_tables.links[link].members)
        {
            load += m.weight * static_cast<const Solver&>(*this).Level(m.variable);
        }
        return load;
    }

    Tables<Parts> m_tables;
    std::vector<uint32_t> m_changedVariables;
    std::vector<CapacityChange> m_changedLinks;

  private:
    template <typename OtherSolver, typename OtherParts>
    friend class System;

    Solver& Self()
    {
        return static_cast<Solver&>(*this);
    }

    void ApplyWeight(uint32_t variable);
    void Attach(uint32_t variable);
    void AddToLinks(uint32_t variable);
    void Leave(uint32_t variable);
    void SetUncontended(uint32_t variable);
    double NarrowestOf(uint32_t variable) const;

    std::vector<std::vector<uint32_t>> m_unused; //!< removed variables, by path length
};

template <typename Solver, typename Parts>
template <typename Path>
uint32_t
System<Solver, Parts>::Add(const Path& path, double cap)
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
        v = static_cast<uint32_t>(m_tables.variables.size());
        m_tables.variables.emplace_back();
        m_tables.variables[v].first = static_cast<uint32_t>(m_tables.crossings.size());
        m_tables.variables[v].length = static_cast<uint32_t>(length);
        m_tables.crossings.resize(m_tables.crossings.size() + length);
        m_tables.multiplicities.resize(m_tables.crossings.size());
    }
    m_tables.variables[v].cap = cap;
    std::size_t i = m_tables.variables[v].first;
    for (const auto& [link, multiplicity] : path)
    {
        m_tables.crossings[i] = {};
        m_tables.crossings[i].link = link.Index();
        m_tables.multiplicities[i++] = multiplicity;
    }
    return v;
}

template <typename Solver, typename Parts>
template <typename OtherSolver, typename OtherParts>
System<Solver, Parts>::System(const System<OtherSolver, OtherParts>& other)
    : m_unused(other.m_unused)
{
    m_tables.multiplicities = other.m_tables.multiplicities;
    for (const auto& link : other.m_tables.links)
    {
        m_tables.links.emplace_back();
        m_tables.links.back().capacity = link.capacity;
    }
    for (const Crossing& crossing : other.m_tables.crossings)
    {
        m_tables.crossings.emplace_back();
        m_tables.crossings.back().link = crossing.link;
    }
    for (const Variable& taken : other.m_tables.variables)
    {
        m_tables.variables.emplace_back();
        Variable& variable = m_tables.variables.back();
        variable.cap = taken.cap;
        variable.first = taken.first;
        variable.length = taken.length;
        if (taken.weight > 0)
        {
            SetWeight(static_cast<uint32_t>(m_tables.variables.size() - 1), taken.weight);
        }
    }
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::Remove(uint32_t v)
{
    Variable& variable = m_tables.variables[v];
    if (variable.isChanged || variable.weight != 0)
    {
        throw std::logic_error("max-min sharing: a variable in use is removed");
    }
    if (variable.standing != Variable::Detached)
    {
        Leave(v);
    }
    m_unused[variable.length].push_back(v);
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::ApplyChanges()
{
    for (const auto& change : m_changedLinks)
    {
        if (const uint32_t v = UncontendedOn(change.link); v != NONE)
        {
            m_tables.links[change.link].capacity = change.capacity;
            m_tables.variables[v].narrowest = NarrowestOf(v);
            SetUncontended(v);
            continue;
        }
        Self().ApplyCapacity(change.link, change.capacity);
    }
    // Remove before adding, so that a new variable sees the remaining members only.
    for (const bool coming : {false, true})
    {
        for (uint32_t v : m_changedVariables)
        {
            if ((m_tables.variables[v].nextWeight > 0) == coming)
            {
                ApplyWeight(v);
            }
        }
    }
    for (uint32_t v : m_changedVariables)
    {
        m_tables.variables[v].isChanged = false;
    }
    m_changedVariables.clear();
    m_changedLinks.clear();
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::ApplyWeight(uint32_t v)
{
    Variable& variable = m_tables.variables[v];
    if (variable.nextWeight == variable.weight)
    {
        return;
    }
    switch (variable.standing)
    {
    case Variable::Detached:
        Attach(v);
        break;
    case Variable::Uncontended:
        SetUncontended(v);
        break;
    case Variable::Contending:
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

/**
 * Makes a variable a member of its links: uncontended if they have no active member, else
 * contending with them.
 */
template <typename Solver, typename Parts>
void
System<Solver, Parts>::Attach(uint32_t v)
{
    const uint32_t first = m_tables.variables[v].first;
    const uint32_t last = first + m_tables.variables[v].length;
    bool isUncontended = true;
    for (uint32_t i = first; i < last; i++)
    {
        const uint32_t link = m_tables.crossings[i].link;
        if (m_tables.links[link].members.empty())
        {
            continue;
        }
        const uint32_t other = UncontendedOn(link);
        if (other != NONE && m_tables.variables[other].nextWeight == 0)
        {
            Leave(other);
            continue;
        }
        isUncontended = false;
        if (other != NONE)
        {
            m_tables.variables[other].standing = Variable::Contending;
            m_tables.moved.push_back(other);
            Self().Enter(other);
        }
    }
    AddToLinks(v);
    m_tables.variables[v].standing = isUncontended ? Variable::Uncontended : Variable::Contending;
    if (isUncontended)
    {
        m_tables.variables[v].narrowest = NarrowestOf(v);
        SetUncontended(v);
    }
    else
    {
        Self().Enter(v);
    }
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::AddToLinks(uint32_t v)
{
    const Variable& variable = m_tables.variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        Crossing& crossing = m_tables.crossings[i];
        auto& members = m_tables.links[crossing.link].members;
        crossing.position = static_cast<uint32_t>(members.size());
        if (members.capacity() == 0)
        {
            members.reserve(4);
        }
        members.push_back({0, v, i});
        Self().Joined(crossing.link, v);
    }
}

/** Removes a variable from its links. The solver must not know it, or must have withdrawn it. */
template <typename Solver, typename Parts>
void
System<Solver, Parts>::Leave(uint32_t v)
{
    Variable& variable = m_tables.variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const Crossing& crossing = m_tables.crossings[i];
        auto& members = m_tables.links[crossing.link].members;
        members[crossing.position] = members.back();
        m_tables.crossings[members[crossing.position].crossing].position = crossing.position;
        members.pop_back();
        Self().Left(crossing.link, crossing.position, v);
    }
    variable.standing = Variable::Detached;
    m_tables.moved.push_back(v);
}

template <typename Solver, typename Parts>
void
System<Solver, Parts>::SetUncontended(uint32_t v)
{
    Variable& variable = m_tables.variables[v];
    variable.weight = variable.nextWeight;
    variable.level =
        variable.weight > 0 ? std::min(variable.cap, variable.narrowest / variable.weight) : 0;
    m_tables.moved.push_back(v);
}

template <typename Solver, typename Parts>
double
System<Solver, Parts>::NarrowestOf(uint32_t v) const
{
    const Variable& variable = m_tables.variables[v];
    double min = INFINITE;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        min = std::min(
            min, m_tables.links[m_tables.crossings[i].link].capacity / m_tables.multiplicities[i]);
    }
    return min;
}

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_MAX_MIN_SYSTEM_H
