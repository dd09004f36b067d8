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
 * Legs as fluid flows that share links by weighted max-min fairness (SharingSolver), with their
 * weights and up to their caps. Spreads over paths are those of all legs running at once.
 */
class LegSharing
{
  public:
    /** Times and loads with a smaller relative difference are equal up to rounding. */
    static constexpr double SAME = 1e-9;

    /** All legs begin at once. O(links of all legs). */
    LegSharing(const std::vector<StreamLeg>& legs, Routing& routing);

    /** By leg: its rate in bytes per second while all legs run. One solve. */
    std::vector<double> Rates();

    /** The load of all running legs on a link. */
    struct LinkLoad
    {
        uint32_t link{0};   //!< LinkId::Index
        double load{0};     //!< bytes per second
        double capacity{0}; //!< bytes per second
    };

    /** Of every link that a leg crosses, in the order of first occurrence. Valid after Rates. */
    std::vector<LinkLoad> Loads() const;

    /**
     * By leg: its end in seconds. A leg that ends leaves its share to the others; one on a link of
     * rate 0 never ends. As many solves as there are distinct ends.
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
