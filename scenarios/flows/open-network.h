// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_OPEN_NETWORK_H
#define WEIR_SCENARIOS_FLOWS_OPEN_NETWORK_H

#include "fabric/transport/make-transport.h"
#include "scenarios/catalog.h"
#include "scenarios/flows/flow-network.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Values that a user sets beside the topology. */
struct NetworkOverrides
{
    std::optional<uint32_t> nodes;    //!< of a system
    std::optional<uint64_t> hashSeed; //!< of the switches' ECMP hashes
    std::string routing;              //!< by name, as `fabric.routing`; empty: the topology's, ECMP
    TransportSpec transport{};
    std::vector<EventSpec> events{};     //!< that happen to it
    std::vector<std::string> settings{}; //!< key.path=value, of a system
};

/** Whether @p topology names a system, by path or of the catalogue. */
bool IsSystem(const std::string& topology);

/**
 * The network that @p topology names: a path that ends in .yaml or .yml is a system, one in .topo
 * a fat tree of htsim, any other file an HPCC topology, and a name without a file a system of the
 * catalogue.
 * @throws InputError when it is none of these, is wrong inside, or cannot be wired;
 *         std::invalid_argument that names a key of the packets that cannot be on it (IsOfPackets).
 */
std::unique_ptr<FlowNetwork> OpenNetwork(const std::string& topology,
                                         const NetworkOverrides& overrides,
                                         const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_OPEN_NETWORK_H
