// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H
#define WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H

#include "fabric/fabric.h"
#include "fabric/units.h"
#include "scenarios/traffic/size-distribution.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** A message that starts at a time or after other messages have arrived. */
struct PlannedMessage
{
    Time start; //!< earliest start
    uint32_t from{0};
    uint32_t to{0};
    Bytes bytes;
    std::vector<uint32_t> after{};  //!< indices of earlier messages that must have arrived
    FlowForm form{FlowForm::Fluid}; //!< form of the flow in a hybrid transport
};

/** Traffic between 32 hosts for comparisons of fidelities. */
struct RegimeTraffic
{
    std::string name;
    bool isCollective{false}; //!< only the completion of all messages counts
    std::vector<PlannedMessage> messages;
};

/**
 * Draws an incast of random senders and sizes, a permutation, an all-to-all, a ring and a tree
 * all-reduce, and Poisson arrivals of @p sizes at 30 and 60 % load of the hosts' ports.
 */
std::vector<RegimeTraffic> DrawRegimeTraffic(uint64_t seed, const SizeDistribution& sizes);

/** Draws Poisson arrivals of 240 messages of up to 2 MB at 50 % load of the hosts' ports. */
RegimeTraffic DrawEvenTraffic(uint64_t seed);

/**
 * Simulates @p traffic on four leaves and @p spines spines with links of 100 Gb/s, over equal-cost
 * paths or with packet spraying.
 * @return completion time of each message in seconds; for a collective, of the whole
 */
std::vector<double> PlayTraffic(const RegimeTraffic& traffic,
                                uint32_t spines,
                                bool isSprayed,
                                const TransportSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_REGIME_TRAFFIC_H
