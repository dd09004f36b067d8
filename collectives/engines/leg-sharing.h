// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_LEG_SHARING_H
#define WEIR_COLLECTIVES_ENGINES_LEG_SHARING_H

#include "collectives/planner.h"
#include "fabric/routing/routing.h"
#include "fabric/sharing/indexed-heap.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Legs as fluid that share links weighted max-min fairly, by their weights and up to their caps:
 * all levels rise together, each until its cap or a full link stops it (Bertsekas and Gallager,
 * Data Networks, 1992, sec. 6.5.2).
 */
class LegSharing
{
  public:
    /** Times and loads that differ by less than this part are the same but for rounding. */
    static constexpr double SAME = 1e-9;

    /** All legs begin at once. O(links of all legs) */
    LegSharing(const std::vector<StreamLeg>& legs, Routing& routing);

    /** By leg: bytes per second while all of them run. O(n log n) in the links of all legs. */
    std::vector<double> Rates();

    /** What the legs that run put on a link. */
    struct LinkLoad
    {
        uint32_t link{0};   //!< LinkId::Index
        double load{0};     //!< bytes per second
        double capacity{0}; //!< likewise
    };

    /** Of every link that a leg crosses, in the order of first sight, once Rates has been asked. */
    std::vector<LinkLoad> Loads() const;

    /**
     * By leg: when it ends, in seconds; one that ends leaves its share to the others. What is left
     * on a link of rate 0 never ends. As often as there are different ends what Rates takes.
     */
    std::vector<double> Ends();

  private:
    struct Use
    {
        uint32_t place; //!< of the link in m_links
        double load;    //!< of a unit of level of the leg
    };

    struct Leg
    {
        uint32_t firstUse{0};
        uint32_t uses{0};
        double left{0};  //!< bytes
        double level{0}; //!< rate of a unit of weight
        double cap{0};   //!< of the level
        double weight{1};
        double end{-1}; //!< when it has ended
        bool rises{false};
    };

    struct Link
    {
        uint32_t index{0}; //!< LinkId::Index
        double capacity{0};
        double free{0};       //!< of the capacity, what those that stopped rising leave
        double rising{0};     //!< load of a unit of level of those that rise
        uint32_t firstLeg{0}; //!< into m_legsOf, up to the next link's
    };

    void Share();
    void Stop(Leg& leg, double level);

    std::vector<Leg> m_legs;
    std::vector<Use> m_uses; //!< by leg
    std::vector<Link> m_links;
    std::vector<uint32_t> m_legsOf; //!< by link
    std::vector<uint32_t> m_byCap;  //!< legs by ascending cap
    IndexedHeap<double> m_full;     //!< links by the level at which they are full
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_LEG_SHARING_H
