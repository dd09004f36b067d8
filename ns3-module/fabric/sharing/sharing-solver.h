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
 * Weighted max-min fair sharing of links, kept solved while variables and links change.
 *
 * **The problem.** Given links l with capacities c_l >= 0 and variables v with total weights
 * W_v > 0, level caps K_v and multiplicities m_vl (how often each unit of v crosses l), find
 * levels x_v (rate per unit of weight) such that
 *
 *     for every l:  sum over v of m_vl W_v x_v <= c_l,      for every v:  0 <= x_v <= K_v,
 *
 * and no x_v can be raised without lowering some x_u <= x_v. The answer is unique, and it is the
 * one feasible point at which every v is at its cap or has a *bottleneck*: a saturated link on
 * which no level is higher (Bertsekas and Gallager, Data Networks, 1992, sec. 6.5.2). All variables
 * that have l as bottleneck share one level, the level of l, so a change of that level is one
 * change. Levels equal those of plain progressive filling (ProgressiveFilling) to 1e-9.
 *
 * Two methods give that answer: maxmin::LocalMaxMin as long as few variables meet on saturated
 * links, from then on maxmin::MaxMin; or maxmin::RelaxedMaxMin, which lets loads be off by a
 * tolerance. A variable that shares no link with another is *uncontended* and costs none of them.
 *
 * Raw doubles: capacities in bytes per second, levels in bytes per second and unit of weight.
 */
class SharingSolver
{
    /** What @p question gets from the solver in use. */
    template <typename Question>
    decltype(auto) Ask(const Question& question) const
    {
        return m_local     ? question(*m_local)
               : m_grouped ? question(*m_grouped)
                           : question(*m_relaxed);
    }

  public:
    static constexpr uint32_t NONE = maxmin::NONE;

    /** Links by index. @param tolerance of loads, as a part of capacity; zero: levels are exact */
    explicit SharingSolver(const std::vector<double>& capacities, double tolerance = 0)
        : m_tolerance(tolerance),
          m_local(std::make_unique<maxmin::LocalMaxMin>(capacities))
    {
    }

    // Changes; they take effect with the next Solve.

    /**
     * A new variable of weight zero at levels up to @p cap. O(path)
     * @param path pairs of a LinkId and how often each unit of the variable crosses it, each link
     *        once: as PathLink and LinkShare
     * @return its index; indices of removed variables are used again.
     */
    template <typename Path>
    uint32_t Add(const Path& path, double cap)
    {
        return Ask([&](auto& solver) { return solver.Add(path, cap); });
    }

    /** Frees a variable of weight zero. O(path) @throws std::logic_error before the Solve that has
     *  made its weight zero. */
    void Remove(uint32_t variable)
    {
        Ask([&](auto& solver) { solver.Remove(variable); });
    }

    /** Zero: the variable takes no share. O(1) */
    void SetWeight(uint32_t variable, double weight)
    {
        Ask([&](auto& solver) { solver.SetWeight(variable, weight); });
    }

    /** O(1) */
    void SetCapacity(uint32_t link, double capacity)
    {
        Ask([&](auto& solver) { solver.SetCapacity(link, capacity); });
    }

    // The answer.

    /** Makes all levels right. O(what the changes reach), see the two methods. */
    void Solve();

    bool NeedsSolve() const
    {
        return Ask([&](auto& solver) { return solver.NeedsSolve(); });
    }

    /** Variables whose bottleneck, own level or links the last Solve changed; may repeat. */
    const std::vector<uint32_t>& MovedVariables() const
    {
        return Ask([](auto& solver) -> const auto& { return solver.MovedVariables(); });
    }

    /** Links whose level or load the last Solve may have changed; may repeat. */
    const std::vector<uint32_t>& TouchedLinks() const
    {
        return Ask([](auto& solver) -> const auto& { return solver.TouchedLinks(); });
    }

    /** Rate per unit of weight; zero at weight zero, infinite where nothing limits it. O(1) */
    double Level(uint32_t variable) const
    {
        return Ask([&](auto& solver) { return solver.Level(variable); });
    }

    /** Whether any variable may have a Bottleneck: while few meet, each has a level of its own. */
    bool HasGroups() const
    {
        return !m_local;
    }

    /** The link whose level is the variable's; NONE when it has one of its own. O(1) */
    uint32_t Bottleneck(uint32_t variable) const
    {
        return m_local     ? NONE
               : m_grouped ? m_grouped->Bottleneck(variable)
                           : m_relaxed->Bottleneck(variable);
    }

    /** The level of the variables whose bottleneck is the link; infinite: there are none. O(1) */
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

    // Loads of links, and who is on them.

    /** The total rate of contending variables on a link of finite capacity. O(members) at most */
    double Load(uint32_t link) const
    {
        return Ask([&](auto& solver) { return solver.Load(link); });
    }

    /** Whether a link is known to carry something, but less than its capacity, and no more. */
    bool IsSlack(uint32_t link) const
    {
        return m_grouped && m_grouped->IsSlack(link);
    }

    /** From now on every load is known exactly, and each change of it told by TouchedLinks; or need
     *  not be any more. */
    void KeepLoads(bool keep);

    /** Whether a variable is on its links (an idle one may be, until they are wanted). O(1) */
    bool IsAttached(uint32_t variable) const
    {
        return Ask([&](auto& solver) { return solver.IsAttached(variable); });
    }

    /** Whether a variable shares none of its links with another. O(1) */
    bool IsUncontended(uint32_t variable) const
    {
        return Ask([&](auto& solver) { return solver.IsUncontended(variable); });
    }

    /** The uncontended variable that is on a link, active or idle; NONE if there is none. O(1) */
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
    std::unique_ptr<maxmin::LocalMaxMin> m_local;     //!< at first
    std::unique_ptr<maxmin::MaxMin> m_grouped;        //!< later, if need be,
    std::unique_ptr<maxmin::RelaxedMaxMin> m_relaxed; //!< or this one
    bool m_keepsLoads{false};
};

} // namespace weir

#endif // WEIR_FABRIC_SHARING_SHARING_SOLVER_H
