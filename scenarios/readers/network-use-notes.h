// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_NETWORK_USE_NOTES_H
#define WEIR_SCENARIOS_READERS_NETWORK_USE_NOTES_H

#include "fabric/routing/routing-policy.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

struct IdlePathResult;

/** A condition under which some keys have an effect. */
struct KeyUse
{
    std::vector<std::string> keys;
    bool hasEffect;
    std::string needs; //!< what would make it so: "context above 1"
};

/** A line on the value at @p found: that it has no effect, and what it @p needs to have one. */
std::string NoteOnNoEffect(const YamlNode& found, const std::string& needs);

/** What keys of packets have their effect on, beside each other. */
struct PacketSurroundings
{
    const RoutingPolicy& routing;
    bool hasNodes{true};    //!< devices have insides
    bool hasMessages{true}; //!< queue pairs may have several
};

/**
 * A line for each key of @p network, from which @p spec was read, that is not at its default and
 * has no effect beside the others and @p around; one where queue pairs take each packet that is
 * overtaken for lost, although routing has them overtake each other; and one where DCQCN gets no
 * marks.
 */
std::vector<std::string> NotesOnPacketUse(const YamlNode& network,
                                          PacketSpec spec,
                                          const PacketSurroundings& around);

/** Times of @p spec that are too short for the longest of the paths that flows took, idle. */
std::vector<std::string> NotesOnIdlePath(const PacketSpec& spec, const IdlePathResult& path);

/** A line for each of @p events that was to come after all had ended at @p end. */
std::vector<std::string> NotesOnLateEvents(const std::vector<EventSpec>& events, Time end);

/** A line for each event of @p scenario that has no effect by its jobs. */
std::vector<std::string> NotesOnEventUse(const Scenario& scenario);

/**
 * A line for each key of @p network, the `network` that @p scenario was read from, which has no
 * effect by its fidelity and jobs. These are no faults: the same file may be run in another
 * fidelity.
 */
std::vector<std::string> NotesOnNetworkUse(const YamlNode& network, const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_NETWORK_USE_NOTES_H
