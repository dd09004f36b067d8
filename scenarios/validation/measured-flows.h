// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_MEASURED_FLOWS_H
#define WEIR_SCENARIOS_VALIDATION_MEASURED_FLOWS_H

#include "fabric/kinds/fabric-kind.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/validation/case-outcome.h"
#include "scenarios/yaml/yaml-node.h"

#include <map>
#include <string>
#include <vector>

namespace weir
{

/** A message of a published run or traffic matrix. */
struct MeasuredMessage
{
    uint32_t source{0};
    uint32_t destination{0};
    Bytes bytes;
    Time start;
};

/** A flow of a published run. */
struct MeasuredFlow : MeasuredMessage
{
    double measured{0}; //!< completion time in seconds
    double ideal{0};    //!< uncontended completion time in seconds, from the source
};

/** A published run of flows with its packet configuration. */
struct MeasuredFlowRun
{
    std::string name;
    std::vector<std::string> classes;
    PacketSpec packets;
    std::vector<MeasuredFlow> flows;
};

/** Published runs of flows on one network. */
struct MeasuredFlows
{
    std::string topology; //!< HPCC-style file
    std::vector<MeasuredFlowRun> runs;
};

/**
 * Reads the map `flows` of a suite: {topology, runs, table, network}. `runs` is a CSV file
 * `run,class,KEY.PATH...`, whose non-empty values replace those of the map `network` (ReadPackets);
 * `table` is a CSV file `run,src,dst,size_B,start_ns,fct_ns,ideal_ns`.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
MeasuredFlows ReadMeasuredFlows(const YamlNode& node);

/**
 * Simulates @p run with packets.
 * @param seed of the random draws in switches
 * @return completion times by flow
 */
std::vector<Time> CompletionTimesOf(const std::string& topology,
                                    const MeasuredFlowRun& run,
                                    uint64_t seed);

/**
 * Simulates @p run with packets for several seeds.
 * @return two cases: the mean slowdown and the 99th percentile of the slowdown (the flow with index
 *         0.99 n of n), both relative to the source's ideal times; the predictions are medians over
 *         the seeds
 */
std::vector<CaseOutcome> PlayMeasuredFlows(const std::string& topology, const MeasuredFlowRun& run);

/** A published run of a traffic matrix of which the first and last completion times are known. */
struct MeasuredCompletionRun
{
    std::string name;
    std::string ofClass;
    std::string topology; //!< htsim's .topo file
    std::string matrix;   //!< key of MeasuredCompletions::matrices
    FabricSpec fabric;
    PacketSpec packets;
    double first{0}; //!< end of the first finished message, seconds from the beginning
    double last{0};  //!< end of the last finished message, seconds from the beginning
};

/** Published runs with the ends of their first and last finished messages. */
struct MeasuredCompletions
{
    std::map<std::string, std::vector<MeasuredMessage>> matrices;
    std::vector<MeasuredCompletionRun> runs;
};

/**
 * Reads the map `completions` of a suite: {runs, messages, network}. `runs` is a CSV file
 * `run,class,topology,matrix,routing,first_us,last_us,KEY.PATH...`, whose non-empty last columns
 * replace values of the map `network` (ReadPackets); `messages` is a CSV file
 * `matrix,src,dst,size_B,start_us`.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
MeasuredCompletions ReadMeasuredCompletions(const YamlNode& node, const FabricKindRegistry& kinds);

/**
 * Simulates a run of @p measured with packets.
 * @return two cases: its first and its last completion
 */
std::vector<CaseOutcome> PlayMeasuredCompletions(const MeasuredCompletions& measured,
                                                 const MeasuredCompletionRun& run);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_MEASURED_FLOWS_H
