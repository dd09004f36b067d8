// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_SHARING_SOLVER_H
#define WEIR_FABRIC_SHARING_SHARING_SOLVER_H

#include "fabric/sharing/local-max-min.h"
#include "fabric/sharing/max-min.h"
#include "fabric/sharing/relaxed-max-min.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace weir
{

/**
 * Weighted max-min fair sharing of links, solved incrementally as variables and links change.
 *
 * **The problem.** Given links l with capacities c_l >= 0 and variables v with total weights W_v >
 * 0, level caps K_v and multiplicities m_vl (how often each unit of v crosses l), find levels x_v
 * (rate per unit of weight) such that
 *
 *     for every l:  sum over v of m_vl W_v x_v <= c_l,      for every v:  0 <= x_v <= K_v,
 *
 * and no x_v can be raised without lowering some x_u <= x_v. The solution is unique. It is the one
 * feasible point at which every v is at its cap or has a *bottleneck*: a saturated link on which no
 * level is higher (Bertsekas and Gallager, Data Networks, 1992, sec. 6.5.2). All variables with
 * bottleneck l share one level, the level of l, so a change of that level is a single change.
 * Levels equal those of plain progressive filling (ProgressiveFilling) to 1e-9.
 *
 * Three solvers exist. maxmin::LocalMaxMin is used as long as few variables share saturated links.
 * After that maxmin::MaxMin is used, or, for a positive tolerance, maxmin::RelaxedMaxMin, whose
 * loads may deviate by the tolerance. A variable that shares no link with another is *uncontended*
 * and is handled without any of them.
 *
 * Raw doubles: capacities in bytes per second, levels in bytes per second per unit of weight.
 */
class SharingSolver
{
    /** Calls @p question with the solver in use. */
    template <typename Question>
    decltype(auto) Ask(const Question& question) const
    {
        return m_local     ? question(*m_local)
               : m_grouped ? question(*m_grouped)
                           : question(*m_relaxed);
    }

  public:
    static constexpr uint32_t NONE = maxmin::NONE;

    /**
     * @param capacities of the links, by index, in bytes per second
     * @param tolerance of loads as a fraction of capacity; zero: levels are exact
     */
    explicit SharingSolver(const std::vector<double>& capacities, double tolerance = 0)
        : m_tolerance(tolerance),
          m_local(std::make_unique<maxmin::LocalMaxMin>(capacities))
    {
    }

    // Changes. They take effect in the next Solve.

    /**
     * Adds a variable of weight zero. O(path)
     * @param path pairs of a LinkId and the multiplicity (how often each unit of the variable
     *        crosses the link); each link at most once, as in PathLink and LinkShare
     * @param cap upper bound of the level
     * @return the index of the variable; indices of removed variables are reused
     */
    template <typename Path>
    uint32_t Add(const Path& path, double cap)
    {
        return Ask([&](auto& solver) { return solver.Add(path, cap); });
    }

    /**
     * Removes a variable of weight zero. O(path)
     * @throws std::logic_error if no Solve has run since its weight was set to zero
     */
    void Remove(uint32_t variable)
    {
        Ask([&](auto& solver) { solver.Remove(variable); });
    }

    /** Sets the total weight of a variable; at zero it takes no share. O(1) */
    void SetWeight(uint32_t variable, double weight)
    {
        Ask([&](auto& solver) { solver.SetWeight(variable, weight); });
    }

    /** Sets the capacity of a link in bytes per second. O(1) */
    void SetCapacity(uint32_t link, double capacity)
    {
        Ask([&](auto& solver) { solver.SetCapacity(link, capacity); });
    }

    // Solution.

    /** Updates all levels. For the cost see LocalMaxMin, MaxMin and RelaxedMaxMin. */
    void Solve();

    bool NeedsSolve() const
    {
        return Ask([&](auto& solver) { return solver.NeedsSolve(); });
    }

    /**
     * Variables whose bottleneck, own level or links the last Solve changed; may contain
     * duplicates.
     */
    const std::vector<uint32_t>& MovedVariables() const
    {
        return Ask([](auto& solver) -> const auto& { return solver.MovedVariables(); });
    }

    /** Links whose level or load the last Solve may have changed; may contain duplicates. */
    const std::vector<uint32_t>& TouchedLinks() const
    {
        return Ask([](auto& solver) -> const auto& { return solver.TouchedLinks(); });
    }

    /**
     * Rate per unit of weight, bytes per second; zero at weight zero, infinite if nothing limits
     * it. O(1)
     */
    double Level(uint32_t variable) const
    {
        return Ask([&](auto& solver) { return solver.Level(variable); });
    }

    /** Whether variables may have a Bottleneck. They have none while LocalMaxMin is in use. */
    bool HasGroups() const
    {
        return !m_local;
    }

    /**
     * The link that determines the variable's level; NONE if the variable has its own level. O(1)
     */
    uint32_t Bottleneck(uint32_t variable) const
    {
        return m_local     ? NONE
               : m_grouped ? m_grouped->Bottleneck(variable)
                           : m_relaxed->Bottleneck(variable);
    }

    /** The level of the variables whose bottleneck is the link; infinite if there are none. O(1) */
    double LinkLevel(uint32_t link) const
    {
        return m_local     ? maxmin::INFINITE
               : m_grouped ? m_grouped->LinkLevel(link)
                           : m_relaxed->LinkLevel(link);
    }

    double Capacity(uint32_t link) const
    {
        return Ask([&](auto& solver) { return solver.Capacity(link); });
    }

    // Loads and members of links.

    /**
     * The total rate of contending variables on a link of finite capacity, bytes per second.
     * O(members) at most
     */
    double Load(uint32_t link) const
    {
        return Ask([&](auto& solver) { return solver.Load(link); });
    }

    /** Whether a link is known only to have a positive load below its capacity. */
    bool IsSlack(uint32_t link) const
    {
        return m_grouped && m_grouped->IsSlack(link);
    }

    /**
     * Sets whether every load is kept exactly and each change of a load is reported by
     * TouchedLinks.
     */
    void KeepLoads(bool keep);

    /**
     * Whether a variable is a member of its links. An idle variable stays one until another
     * variable needs the links. O(1)
     */
    bool IsAttached(uint32_t variable) const
    {
        return Ask([&](auto& solver) { return solver.IsAttached(variable); });
    }

    /** Whether a variable shares none of its links with another. O(1) */
    bool IsUncontended(uint32_t variable) const
    {
        return Ask([&](auto& solver) { return solver.IsUncontended(variable); });
    }

    /** The uncontended variable on a link, active or idle; NONE if there is none. O(1) */
    uint32_t UncontendedOn(uint32_t link) const
    {
        return Ask([&](auto& solver) { return solver.UncontendedOn(link); });
    }

    /** Calls @p use(variable, multiplicity) for all variables on a link, in a reproducible order.
     */
    template <typename Use>
    void ForEachOn(uint32_t link, const Use& use) const
    {
        Ask([&](auto& solver) { solver.ForEachOn(link, use); });
    }

  private:
    double m_tolerance;
    std::unique_ptr<maxmin::LocalMaxMin> m_local;     //!< in use at first
    std::unique_ptr<maxmin::MaxMin> m_grouped;        //!< replaces m_local if tolerance is zero
    std::unique_ptr<maxmin::RelaxedMaxMin> m_relaxed; //!< replaces m_local otherwise
    bool m_keepsLoads{false};
};

} // namespace weir

#endif // WEIR_FABRIC_SHARING_SHARING_SOLVER_H
