// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H
#define WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H

#include "fabric/transport/make-transport.h"
#include "fabric/units.h"
#include "scenarios/traffic/size-distribution.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** One message, which starts at a time or when others have arrived. */
struct PlannedMessage
{
    Time start; //!< not before
    uint32_t from{0};
    uint32_t to{0};
    Bytes bytes;
    std::vector<uint32_t> after{};  //!< indices of earlier messages that have to be there first
    FlowForm form{FlowForm::Fluid}; //!< of a hybrid transport
};

/** What 32 hosts send each other in fidelities that are compared. */
struct RegimeTraffic
{
    std::string name;
    bool isCollective{false}; //!< what counts is when all is done
    std::vector<PlannedMessage> messages;
};

/**
 * An incast of random senders and sizes, a permutation, an all-to-all, the all-reduce of a ring and
 * of a tree, and Poisson arrivals of @p sizes at 30 and 60 % of the hosts' ports.
 */
std::vector<RegimeTraffic> DrawRegimeTraffic(uint64_t seed, const SizeDistribution& sizes);

/** Poisson arrivals of 240 messages of up to 2 MB at half of the hosts' ports. */
RegimeTraffic DrawEvenTraffic(uint64_t seed);

/**
 * Sends @p traffic over four leaves and @p spines spines, all links of 100 Gb/s, on equal-cost
 * paths or sprayed. @return by message how long it took, s; of a collective all of it
 */
std::vector<double> PlayTraffic(const RegimeTraffic& traffic,
                                uint32_t spines,
                                bool isSprayed,
                                const TransportSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H
