// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READ_PACKETS_H
#define WEIR_SCENARIOS_READ_PACKETS_H

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
 * Reads what corrects a fluid: a map of models, or the name or path of a file with them.
 * @throws InputError at a key, value or name that is wrong.
 */
CorrectionSpec ReadCorrections(const YamlNode& node, const Catalog& catalog);

/** The same of a network. @throws InputError, too, where @p fidelity has nothing that they correct.
 */
CorrectionSpec ReadCorrectionsFor(Fidelity fidelity, const YamlNode& node, const Catalog& catalog);

/**
 * Reads what packets, queue pairs, switches and links inside nodes do, and the congestion control,
 * from a map that may have keys besides.
 * @param others keys that are not about packets.
 * @throws InputError at a key or value that is wrong, or the name of a switch that is unknown.
 */
PacketSpec ReadPackets(const YamlNode& map,
                       const std::vector<std::string>& others = {},
                       const Catalog& catalog = Catalog());

/** Whether @p message is of a key that ReadPackets reads: "switch.buffer: found ...". */
bool IsOfPackets(const std::string& message);

/**
 * Such a message with the place of its key in @p network, or of the map that it belongs to, where
 * that is written there.
 */
std::string PlacedIn(const YamlNode& network, const std::string& message);

/** Why there is no series of links or ports beside `settle`. */
constexpr const char* EXPECTED_UNSETTLED =
    "found it with network.settle, expected it without: what is replayed has no series";

/** @throws InputError at `settle` of @p network where it is on: of packets beside a fluid. */
void ExpectNotSettled(const YamlNode& network, const PacketSpec& packets);

/** The links that the list @p node names: "from->to" of "from -> to", as Topology::LinkName. */
std::vector<std::string> ReadLinkNames(const YamlNode& node);

/** @throws InputError at a name of the list @p node that no link of @p topology has. */
void CheckLinks(const YamlNode& node, const Topology& topology);

/**
 * Reads what switches do: the name or path of a model, or a map of values, with the model that
 * others are taken from as `base`.
 * @throws InputError at a key, value or name that is wrong, and at a figure of a model without its
 *         source.
 */
SwitchSpec ReadSwitch(const YamlNode& node, const Catalog& catalog = Catalog());

} // namespace weir

#endif // WEIR_SCENARIOS_READ_PACKETS_H
