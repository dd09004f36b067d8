// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_MEASURED_FLOWS_H
#define WEIR_SCENARIOS_VALIDATION_MEASURED_FLOWS_H

#include "fabric/kinds/fabric-kinds.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/validation/case-outcome.h"
#include "scenarios/yaml/yaml-node.h"

#include <map>
#include <string>
#include <vector>

namespace weir
{

/** A flow of a published run. */
struct MeasuredFlow
{
    uint32_t source{0};
    uint32_t destination{0};
    Bytes bytes;
    Time start;
    double measured{0}; //!< seconds from its start
    double ideal{0};    //!< seconds when it is alone, by the source
};

/** One published run of flows: how packets move in it. */
struct MeasuredFlowRun
{
    std::string name;
    std::vector<std::string> classes;
    PacketSpec packets;
    std::vector<MeasuredFlow> flows;
};

/** Runs of flows on one network. */
struct MeasuredFlows
{
    std::string topology; //!< HPCC-style file
    std::vector<MeasuredFlowRun> runs;
};

/**
 * The map `flows` of a suite: {topology, runs, table, network}. `runs` is a CSV file
 * `run,class,KEY.PATH...`, whose values replace those of the map `network` (ReadPackets) where they
 * are not empty; `table` a CSV file `run,src,dst,size_B,start_ns,fct_ns,ideal_ns`.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
MeasuredFlows ReadMeasuredFlows(const YamlNode& node);

/** Plays @p run as packets. @param seed of what switches draw. @return times by flow */
std::vector<Time> CompletionTimesOf(const std::string& topology,
                                    const MeasuredFlowRun& run,
                                    uint64_t seed);

/**
 * Plays @p run as packets, several times with other draws. @return two cases: its mean slowdown,
 * and the 99th percentile (the flow at place 0.99 n of n), each over the source's ideal times; of
 * all draws the median.
 */
std::vector<CaseOutcome> PlayMeasuredFlows(const std::string& topology, const MeasuredFlowRun& run);

/** A message of a traffic matrix. */
struct MatrixMessage
{
    uint32_t source{0};
    uint32_t destination{0};
    Bytes bytes;
    Time start;
};

/** A published run of a matrix of which the first and the last completion are known. */
struct MeasuredCompletionRun
{
    std::string name;
    std::string ofClass;
    std::string topology; //!< htsim's .topo
    std::string matrix;   //!< into MeasuredCompletions::matrices
    FabricSpec fabric;
    PacketSpec packets;
    double first{0}; //!< when the first message was done, seconds from the beginning
    double last{0};  //!< when the last message was done, seconds from the beginning
};

/** Runs of which a source tells when their first and last messages were done. */
struct MeasuredCompletions
{
    std::map<std::string, std::vector<MatrixMessage>> matrices;
    std::vector<MeasuredCompletionRun> runs;
};

/**
 * The map `completions` of a suite: {runs, messages, network}. `runs` is a CSV file
 * `run,class,topology,matrix,routing,first_us,last_us,KEY.PATH...`, whose last columns replace
 * values of the map `network` (ReadPackets) where they are not empty; `messages` a CSV file
 * `matrix,src,dst,size_B,start_us`.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
MeasuredCompletions ReadMeasuredCompletions(const YamlNode& node, const FabricKindRegistry& kinds);

/** Plays a run of @p measured as packets. @return two cases: its first and its last completion. */
std::vector<CaseOutcome> PlayMeasuredCompletions(const MeasuredCompletions& measured,
                                                 const MeasuredCompletionRun& run);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_MEASURED_FLOWS_H
