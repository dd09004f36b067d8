// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H
#define WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H

#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"
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
    std::vector<uint32_t> after{}; //!< indices of earlier messages that have to be there first
};

/** What hosts send each other in fidelities that are compared. */
struct RegimeTraffic
{
    std::string name;
    bool isCollective{false}; //!< what counts is when all is done
    std::vector<PlannedMessage> messages;
};

/**
 * An incast of random senders and sizes, a permutation, an all-to-all, the all-reduce of a ring and
 * of a tree, and Poisson arrivals of @p sizes at 30 and 60 % of the hosts' ports.
 * @param rate of a host's port
 */
std::vector<RegimeTraffic> DrawRegimeTraffic(uint64_t seed,
                                             uint32_t hosts,
                                             Rate rate,
                                             const SizeDistribution& sizes);

/** When each message began and was there. */
struct MessageTimes
{
    Time start;
    Time end;
};

/** Sends @p traffic; hosts are the first devices of the topology of @p routing. */
std::vector<MessageTimes> Play(const RegimeTraffic& traffic,
                               Routing& routing,
                               Transport& transport);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H
