// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_RELAXED_MAX_MIN_H
#define WEIR_FABRIC_SHARING_RELAXED_MAX_MIN_H

#include "fabric/indexed-heap.h"
#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/local-max-min.h"
#include "fabric/sharing/max-min-system.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * Approximate max-min sharing (SharingSolver): link loads may deviate by a tolerance, so that a
 * change propagates only as far as it matters.
 *
 * Every bottleneck link has a level, and the level of a variable is the minimum of its cap and the
 * levels of its links. A link recomputes its level, from the levels of all others, only when its
 * load deviates by more than the tolerance. Links do so in the order of their levels until no load
 * deviates. Then
 *  - no load is above (1 + tolerance) times the capacity of its link, and
 *  - every variable is at its cap, or at the highest level of a link whose load is between 1 -
 *    tolerance and 1 + tolerance times its capacity.
 *
 * So the levels are the exact solution for capacities that differ from the given ones by at most
 * the tolerance (by the condition of Bertsekas and Gallager that SharingSolver cites). This does
 * not bound the error of a level, as max-min sharing may amplify a change from link to link.
 *
 * **Cost.** O(members) for each link that recomputes its level, plus a multiplication, an addition
 * and two comparisons for each link that its group crosses. If that exceeds the cost of progressive
 * filling from zero, O(crossings log links), the solver does the latter.
 */
class RelaxedMaxMin : public GroupedSystem<RelaxedMaxMin>
{
  public:
    /**
     * Takes over the state of @p other, which must be solved, under the same indices. All variables
     * count as moved.
     * @param tolerance of loads, as a fraction of capacity, positive
     */
    RelaxedMaxMin(const LocalMaxMin& other, double tolerance);
    RelaxedMaxMin(const RelaxedMaxMin&) = delete;
    RelaxedMaxMin& operator=(const RelaxedMaxMin&) = delete;

    /** Updates all levels, within the tolerance, for the changes since the last Solve. */
    void Solve();

    /** The load of a link, bytes per second; the capacity for a bottleneck link. O(1) */
    double Load(uint32_t link) const
    {
        const GroupedLink& l = m_tables.links[link];
        return l.risers > 0 ? l.capacity : std::min(m_groups.Fixed(link), l.capacity);
    }

    void KeepLoads(bool keep)
    {
        m_keepsLoads = keep;
    }

  private:
    friend System;

    /** The range in which the load of the members outside a link's group must remain. */
    struct Window
    {
        double min{-INFINITE};
        double max{INFINITE};
    };

    // Called by System.
    void ApplyCapacity(uint32_t link, double capacity);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);
    void Left(uint32_t link, uint32_t position, uint32_t variable);

    void TakeFromLoads(uint32_t variable);
    void AddToLoads(uint32_t variable, uint32_t bottleneck, double level);
    void Touch(uint32_t link);
    void Refresh(uint32_t link);
    void Queue(uint32_t link);
    void Resolve(uint32_t link);
    void FindHigher(uint32_t link, double level);
    double LevelWithHigher(uint32_t link, double meeting);
    void Release(uint32_t link, double level);
    void FindReleased(uint32_t link, double level);
    uint32_t LimitOf(uint32_t variable, uint32_t except, double& level) const;
    double WeightOn(uint32_t variable, uint32_t link) const;
    void SetLevel(uint32_t link, double level);
    void Put(uint32_t variable, uint32_t bottleneck, double level, uint32_t resolved);
    void Load(uint32_t link, double more, double level);
    void AddRiser(uint32_t link, double weight, double cap, double level);
    void Heed(uint32_t link, uint32_t bottleneck);

    void NoteCap(uint32_t link, double cap)
    {
        m_lowestCaps[link] = std::min(m_lowestCaps[link], cap);
    }

    void Fill();
    void FreezeAll(const std::vector<uint32_t>& variables);
    void FreezeInFill(uint32_t variable, uint32_t bottleneck, double level);

    double m_tolerance;
    std::vector<Window> m_windows;      //!< by link
    std::vector<double> m_lowestCaps;   //!< by link: lower bound of the caps in its group
    std::vector<uint8_t> m_isUnsure;    //!< by link: its level is an estimate
    IndexedHeap<double> m_queue;        //!< links that must recompute their levels, by level
    std::vector<HigherMember> m_higher; //!< scratch of Resolve
    double m_lower{0};                  //!< load of the frozen members that are not in m_higher
    std::vector<uint32_t> m_released;   //!< scratch of Release
    std::vector<uint8_t> m_isFrozen;    //!< scratch of Fill, by variable
    std::size_t m_contending{0};        //!< number of variables that share links
    std::size_t m_crossings{0};         //!< number of their crossings
    std::size_t m_spent{0};             //!< number of members examined in this solve
    bool m_keepsLoads{false};
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_RELAXED_MAX_MIN_H
