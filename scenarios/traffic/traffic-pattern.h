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
    Poisson,     //!< Poisson arrivals, from any end point to any other
    Permutation, //!< each end point sends one flow and receives one
    Incast,      //!< several end points send to one simultaneously
    AllToAll,    //!< each end point sends to every other simultaneously
    OnOff        //!< each end point alternates between sending to one other at a rate and pausing
};

/** "poisson", "permutation", "incast", "all-to-all" or "on-off". */
const char* ToString(TrafficKind kind);

/** Whether traffic of a kind has @p key besides the common keys: "load", "times". */
bool HasTrafficKey(TrafficKind kind, const std::string& key);

/** Specification of random traffic between end points. */
struct TrafficSpec
{
    TrafficKind kind{TrafficKind::Poisson};
    SizeDistribution sizes;          //!< flow sizes; not used by OnOff
    std::string sizesName;           //!< as in the file; empty: one size
    double load{0};                  //!< Poisson: fraction of the end points' network rate
    uint32_t senders{0};             //!< Incast: number of simultaneous senders
    Time on;                         //!< OnOff: mean sending time
    Time off;                        //!< OnOff: mean pause
    Rate rate{Rate::Infinite()};     //!< OnOff: sending rate; infinite: network rate
    bool isFixed{false};             //!< OnOff: times equal their means
    Time every;                      //!< Permutation, Incast, AllToAll: period of rounds
    uint32_t times{1};               //!< Permutation, Incast, AllToAll: number of rounds
    Time start;                      //!< start of the traffic
    Time duration{Time::Infinite()}; //!< no flow starts later than this after start
    uint64_t seed{1};                //!< seed of all random draws
    std::string where{};             //!< location for messages; empty: not from a file
};

struct TrafficEndPoint
{
    uint32_t node{0}; //!< with several nodes, flows go to other nodes, except for AllToAll
    Rate rate;        //!< network rate of the end point
};

/** A flow of a pattern; source and destination are indices of end points. */
struct TrafficFlow
{
    uint32_t source{0};
    uint32_t destination{0};
    Bytes bytes;
    Time start;
    Rate cap{Rate::Infinite()};
};

/** Generates the flows of a TrafficSpec in order of their start times. */
class TrafficPattern
{
  public:
    virtual ~TrafficPattern() = default;

    /** The next flow; nothing after the last. */
    virtual std::optional<TrafficFlow> Next() = 0;
};

/**
 * Creates the pattern of @p spec. Poisson: the arrivals of all end points form one Poisson process
 * with rate load * sum of rates / mean size; sources are drawn in proportion to their rates,
 * destinations uniformly. Permutation: drawn for each round; no end point sends to itself. Incast:
 * receiver and senders are drawn for each round. OnOff: destinations are a permutation drawn once;
 * times are exponential unless fixed. Equal specifications and end points give equal flows on every
 * platform.
 * @throws InputError with the location of the specification when @p ends are too few, or too many
 *         of them are on one node.
 */
std::unique_ptr<TrafficPattern> MakeTrafficPattern(const TrafficSpec& spec,
                                                   const std::vector<TrafficEndPoint>& ends);

/** Expected number of flows of MakeTrafficPattern; infinite if nothing ends them. */
double MeanFlowCount(const TrafficSpec& spec, const std::vector<TrafficEndPoint>& ends);

/**
 * @throws InputError with the location of the specification when @p flows exceed what memory holds.
 */
void CheckFlowCount(const TrafficSpec& spec, double flows);

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_TRAFFIC_PATTERN_H
