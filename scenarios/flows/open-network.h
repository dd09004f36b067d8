// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_OPEN_NETWORK_H
#define WEIR_SCENARIOS_FLOWS_OPEN_NETWORK_H

#include "fabric/fabric.h"
#include "scenarios/catalog.h"
#include "scenarios/flows/flow-network.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Values that override those of the topology. */
struct NetworkOverrides
{
    std::optional<uint32_t> nodes;    //!< of a system
    std::optional<uint64_t> hashSeed; //!< of the switches' ECMP hashes
    std::string routing; //!< by name, as `fabric.routing`; empty: the topology's, or ECMP
    TransportSpec transport{};
    std::vector<EventSpec> events{};     //!< events on the network
    std::vector<std::string> settings{}; //!< key.path=value, of a system
};

/** Whether @p topology names a system, by path or in the catalog. */
bool IsSystem(const std::string& topology);

/**
 * Opens the network that @p topology names: a path that ends in .yaml or .yml is a system, one in
 * .topo an htsim fat tree, any other file an HPCC topology, and a name without a file a system of
 * the catalog.
 * @throws InputError when it is none of these, has errors, or cannot be wired.
 * @throws std::invalid_argument that names a key of the packets that this network cannot have
 *         (IsOfPackets).
 */
std::unique_ptr<FlowNetwork> OpenNetwork(const std::string& topology,
                                         const NetworkOverrides& overrides,
                                         const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_OPEN_NETWORK_H
