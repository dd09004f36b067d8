// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_PACKETS_H
#define WEIR_SCENARIOS_READERS_READ_PACKETS_H

#include "collectives/fidelity.h"
#include "fabric/topology/topology.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * Reads the correction models of a fluid: a map of models, or the name or path of a file with them.
 * @throws InputError at a wrong key, value or name.
 */
CorrectionSpec ReadCorrections(const YamlNode& node, const Catalog& catalog);

/** The same for a run. @throws InputError also where the models do not apply to @p fidelity. */
CorrectionSpec ReadCorrectionsFor(const YamlNode& node, Fidelity fidelity, const Catalog& catalog);

/**
 * Reads the parameters of packets, queue pairs, switches and links inside nodes, and the congestion
 * control, from a map that may have other keys.
 * @param others keys that are not about packets
 * @throws InputError at a wrong key or value, or an unknown switch model.
 */
PacketSpec ReadPackets(const YamlNode& map,
                       const std::vector<std::string>& others = {},
                       const Catalog& catalog = Catalog());

std::vector<std::string> PacketKeys();

/** Whether @p message is about a key that ReadPackets reads: "switch.buffer: found ...". */
bool IsOfPackets(const std::string& message);

/** Such a message with the location of its key in @p network, or of the map around it. */
std::string AddLocation(const YamlNode& network, const std::string& message);

/** The error for series of links or ports with `settle`. */
constexpr const char* EXPECTED_UNSETTLED =
    "found it with network.settle, expected it without: replayed episodes have no series";

/**
 * @throws InputError at `settle` of @p network where it is on: packets coupled with a fluid cannot
 *         be replayed.
 */
void ExpectNotSettled(const YamlNode& network, const PacketSpec& packets);

/** Reads a list of link names; "from -> to" becomes "from->to", as Topology::LinkName. */
std::vector<std::string> ReadLinkNames(const YamlNode& node);

/** @throws InputError at a name in the list @p node that matches no link of @p topology. */
void CheckLinks(const YamlNode& node, const Topology& topology);

/**
 * Reads the parameters of switches: the name or path of a model, or a map of values, whose `base`
 * may name the model that gives the other values.
 * @throws InputError at a wrong key, value or name, and at a figure of a model without its source.
 */
SwitchSpec ReadSwitch(const YamlNode& node, const Catalog& catalog = Catalog());

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_PACKETS_H
