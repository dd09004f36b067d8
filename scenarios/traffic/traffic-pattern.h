// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRAFFIC_TRAFFIC_PATTERN_H
#define WEIR_SCENARIOS_TRAFFIC_TRAFFIC_PATTERN_H

#include "fabric/units.h"
#include "scenarios/traffic/size-distribution.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Who sends to whom, and when. */
enum class TrafficKind : uint8_t
{
    Poisson,     //!< arrivals without memory, from any end point to any other
    Permutation, //!< each end point sends one flow and receives one
    Incast,      //!< several end points send to one at once
    AllToAll,    //!< each end point sends to each other one at once
    OnOff        //!< each end point sends to one other at a rate, and pauses, by turns
};

/** "poisson", "permutation", "incast", "all-to-all" or "on-off". */
const char* ToString(TrafficKind kind);

/** Whether traffic of a kind has @p key of its map beside those of all: "load", "times". */
bool HasTrafficKey(TrafficKind kind, const std::string& key);

/** Traffic between end points, drawn by a seed. */
struct TrafficSpec
{
    TrafficKind kind{TrafficKind::Poisson};
    SizeDistribution sizes;          //!< of flows; OnOff: not used
    std::string sizesName;           //!< as written; empty: one size
    double load{0};                  //!< Poisson: of the rate at which end points reach the network
    uint32_t senders{0};             //!< Incast: how many send at once
    Time on;                         //!< OnOff: mean time of sending
    Time off;                        //!< OnOff: mean pause
    Rate rate{Rate::Infinite()};     //!< OnOff: while sending; infinite: an end point's
    bool isFixed{false};             //!< OnOff: whether times are their means, not exponential
    Time every;                      //!< Permutation, Incast, AllToAll: from round to round
    uint32_t times{1};               //!< of those: rounds
    Time start;                      //!< of all
    Time duration{Time::Infinite()}; //!< after the start flows begin no later than this
    uint64_t seed{1};                //!< of all draws
    std::string where{};             //!< for messages; empty: not from a file
};

/** Someone who sends and receives flows. */
struct TrafficEndPoint
{
    uint32_t node{0}; //!< flows but those of AllToAll go to other nodes where there are several
    Rate rate;        //!< at which it reaches the network
};

/** A flow of a pattern; ends are indices of end points. */
struct TrafficFlow
{
    uint32_t source{0};
    uint32_t destination{0};
    Bytes bytes;
    Time start;
    Rate cap{Rate::Infinite()};
};

/** The flows of a TrafficSpec, one after another, none starting before the one in front of it. */
class TrafficPattern
{
  public:
    virtual ~TrafficPattern() = default;

    /** The next flow; nothing after the last. */
    virtual std::optional<TrafficFlow> Next() = 0;
};

/**
 * Poisson: arrivals of all end points together are one Poisson process of rate load * sum of rates
 * / mean size; the source is drawn in proportion to its rate, the destination uniformly.
 * Permutation: drawn again each round, no end point sends to itself. Incast: receiver and senders
 * are drawn again each round. OnOff: by a permutation drawn once; times are exponential.
 * The same spec and end points give the same flows on every platform.
 * @throws InputError with the spec's place where @p ends are too few, or too many on one node.
 */
std::unique_ptr<TrafficPattern> MakeTrafficPattern(const TrafficSpec& spec,
                                                   const std::vector<TrafficEndPoint>& ends);

/** How many flows MakeTrafficPattern gives on average; infinite where nothing ends them. */
double MeanFlowCount(const TrafficSpec& spec, const std::vector<TrafficEndPoint>& ends);

/** @throws InputError with the spec's place where @p flows are more than memory holds. */
void CheckFlowCount(const TrafficSpec& spec, double flows);

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_TRAFFIC_PATTERN_H
