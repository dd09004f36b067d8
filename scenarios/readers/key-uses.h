// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_KEY_USES_H
#define WEIR_SCENARIOS_READERS_KEY_USES_H

#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/routing/routing-policy.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

/**
 * @file
 * The conditions under which keys of a scenario have an effect: network, packets, events and, in
 * one list, values of a parallel plan; and the notes on keys without effect.
 */
namespace weir
{

struct IdlePathResult;

/** A condition under which some keys have an effect. */
struct KeyUse
{
    std::vector<std::string> keys;
    bool hasEffect;
    std::string needs; //!< what gives them an effect: "context above 1"
};

/** A note that the value at @p found has no effect, and what it @p needs to have one. */
std::string NoteOnNoEffect(const YamlNode& found, const std::string& needs);

/** The context on which the effect of packet keys depends. */
struct PacketSurroundings
{
    const RoutingPolicy& routing;
    bool hasNodes{true};    //!< nodes have GPUs and internal links
    bool hasMessages{true}; //!< queue pairs may carry several messages
};

/**
 * One note for each key of @p network, from which @p spec was read, that is not at its default and
 * has no effect given the other keys and @p around. Further notes: queue pairs that treat every
 * overtaken packet as lost although the routing reorders packets, and DCQCN without marking.
 */
std::vector<std::string> NotesOnPacketUse(const YamlNode& network,
                                          PacketSpec spec,
                                          const PacketSurroundings& around);

/** Notes on times of @p spec below the idle round trip of the longest path that flows took. */
std::vector<std::string> NotesOnIdlePath(const PacketSpec& spec, const IdlePathResult& path);

/** One note for each of @p events that was scheduled after the end of the run at @p end. */
std::vector<std::string> NotesOnLateEvents(const std::vector<EventSpec>& events, Time end);

/** One note for each event of @p scenario that has no effect on its jobs. */
std::vector<std::string> NotesOnEventUse(const Scenario& scenario);

/**
 * One note for each key of @p network, that of @p scenario, without effect with its fidelity and
 * jobs. These are not errors: the same file may be run in another fidelity.
 */
std::vector<std::string> NotesOnNetworkUse(const YamlNode& network, const Scenario& scenario);

/**
 * One note for each value of @p plan that is not the default and has no effect on @p network or
 * beside its other values (PlanUses), such as `sequenceParallel` with a tensor degree of 1. This is
 * no error: one file can be run at many degrees. Inherited values get no note.
 * @param node the map `parallel:` that the plan was read from
 * @throws InputError at `expertLoad` of a model without experts.
 */
std::vector<std::string> NotesOnPlanUse(const YamlNode& node,
                                        const ParallelPlan& plan,
                                        const Network& network);

/**
 * All conditions under which values of @p plan have an effect; a value may have several, and the
 * name of a map stands for all keys in it. `fusion` and `attention` have none: they describe a
 * framework, and a plan for several networks may set them for layer tables, too.
 */
std::vector<KeyUse> PlanUses(const ParallelPlan& plan, const Network& network);

/** The first of @p uses that leaves @p key without effect; null when the key has an effect. */
const KeyUse* FindUnmetUse(const std::string& key, const std::vector<KeyUse>& uses);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_KEY_USES_H
