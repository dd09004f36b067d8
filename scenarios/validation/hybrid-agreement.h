// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_HYBRID_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_HYBRID_AGREEMENT_H

#include "scenarios/validation/case-outcome.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Random flows on one network, of which every fourth one is of interest, in three forms. */
struct HybridPoint
{
    std::string control; //!< congestion control
    uint64_t seed{0};
    double packets{0};       //!< mean completion time of those of interest, all flows as packets, s
    double hybrid{0};        //!< similarly, only they as packets
    double fluid{0};         //!< similarly, none as packets
    double packetsOfRest{0}; //!< of the other flows, all as packets, s
    double hybridOfRest{0};
};

/**
 * Poisson arrivals of 240 flows of up to 2 MB among 32 hosts on four leaves and four spines of 100
 * Gb/s, at half the load of the hosts' ports, under each of some congestion controls and seeds.
 * @param progress is called after every network
 */
std::vector<HybridPoint> CompareHybrid(const ShowSuite& progress);

/** A line for each congestion control: errors against all packets. */
std::string ToText(const std::vector<HybridPoint>& points);

/**
 * The points as cases against all packets: the flows of interest in the class of their congestion
 * control and in "packets", the others in "rest", and those of interest without packets in "fluid".
 */
std::vector<CaseOutcome> CasesOf(const std::vector<HybridPoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_HYBRID_AGREEMENT_H
