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
 * Max-min sharing (SharingSolver) that lets links be off by a tolerance: a change goes no further
 * than it matters.
 *
 * Every bottleneck link has a level, and a variable has the least of its cap and the levels of its
 * links. A link finds its level again, from the levels of all others, only when its load is off by
 * more than the tolerance: in order of levels, until no link is. Then
 *  - no load is above (1 + tolerance) times the capacity of its link, and
 *  - every variable is at its cap, or at the highest level of a link whose load is between
 *    1 - tolerance and 1 + tolerance times its capacity.
 * So levels are the exact answer of a network whose capacities differ from the given ones by no
 * more than the tolerance (by the condition of Bertsekas and Gallager that SharingSolver cites).
 * That does not bound how far a level is from its exact one, as max-min sharing may amplify a
 * change from link to link.
 *
 * **Cost.** O(members) for each link that finds its level, a multiply, an add and two comparisons
 * for each link that its group crosses. Where that would be more than filling all links
 * from zero, that is done: O(crossings log links).
 */
class RelaxedMaxMin : public GroupedSystem<RelaxedMaxMin>
{
  public:
    /**
     * Goes on from another solver, solved, under the same indices; all has moved.
     * @param tolerance of loads, as a part of capacity, positive
     */
    RelaxedMaxMin(const LocalMaxMin& other, double tolerance);
    RelaxedMaxMin(const RelaxedMaxMin&) = delete;
    RelaxedMaxMin& operator=(const RelaxedMaxMin&) = delete;

    /** Makes levels right, within the tolerance, for all changes since the last Solve. */
    void Solve();

    /** A link that holds somebody counts as full. O(1) */
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

    /** Between which the load of a link's members that its group does not have must stay. */
    struct Window
    {
        double least{-INFINITE};
        double most{INFINITE};
    };

    // Changes, as the System calls for them.
    void ApplyCapacity(uint32_t link, double capacity);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);
    void Joined(uint32_t link, uint32_t variable);
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
    void NoteCap(uint32_t link, double cap);

    void Fill();
    void FreezeAll(const std::vector<uint32_t>& variables);
    void FreezeInFill(uint32_t variable, uint32_t bottleneck, double level);

    double m_tolerance;
    std::vector<Window> m_windows;      //!< by link
    std::vector<double> m_lowestCaps;   //!< by link: no variable of its group has a lower one
    std::vector<uint8_t> m_isUnsure;    //!< by link: its level is a guess
    IndexedHeap<double> m_queue;        //!< links that must find their levels, by level
    std::vector<HigherMember> m_higher; //!< scratch of Resolve
    double m_lower{0};                  //!< load of the members that are frozen and not in it
    std::vector<uint32_t> m_released;   //!< scratch of Release
    std::vector<uint8_t> m_isFrozen;    //!< scratch of Fill, by variable
    std::size_t m_contending{0};        //!< variables that share links
    std::size_t m_crossings{0};         //!< of those
    std::size_t m_spent{0};             //!< looks at members in this solve
    bool m_keepsLoads{false};
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_RELAXED_MAX_MIN_H
