// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_LEG_SHARING_H
#define WEIR_COLLECTIVES_ENGINES_LEG_SHARING_H

#include "collectives/planner.h"
#include "fabric/routing/routing.h"
#include "fabric/sharing/sharing-solver.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Legs as fluid that share links weighted max-min fairly (SharingSolver), by their weights and up
 * to their caps, while the links of all legs are loaded at once.
 */
class LegSharing
{
  public:
    /** Times and loads that differ by less than this part are the same but for rounding. */
    static constexpr double SAME = 1e-9;

    /** All legs begin at once. O(links of all legs) */
    LegSharing(const std::vector<StreamLeg>& legs, Routing& routing);

    /** By leg: bytes per second while all of them run. One solve. */
    std::vector<double> Rates();

    /** What the legs that run put on a link. */
    struct LinkLoad
    {
        uint32_t link{0};   //!< LinkId::Index
        double load{0};     //!< bytes per second
        double capacity{0}; //!< the same
    };

    /** Of every link that a leg crosses, in the order of first sight, once Rates has been asked. */
    std::vector<LinkLoad> Loads() const;

    /**
     * By leg: when it ends, in seconds; one that ends leaves its share to the others. What is left
     * on a link of rate 0 never ends. As many solves as there are different ends.
     */
    std::vector<double> Ends();

  private:
    struct Leg
    {
        double left; //!< bytes
        double weight;
        double end; //!< infinite until it has ended
    };

    struct Links;

    LegSharing(const std::vector<StreamLeg>& legs, Links&& links);

    double RateOf(uint32_t leg) const
    {
        return m_solver.Level(leg) * m_legs[leg].weight;
    }

    std::vector<Leg> m_legs;       //!< by variable of the solver
    std::vector<uint32_t> m_links; //!< LinkId::Index, by link of the solver
    SharingSolver m_solver;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_LEG_SHARING_H
