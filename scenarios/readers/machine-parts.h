// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_MACHINE_PARTS_H
#define WEIR_SCENARIOS_READERS_MACHINE_PARTS_H

#include "collectives/nccl/node-costs.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * What a machine's parts have by their kind, where its description does not say otherwise: GPUs by
 * their architecture, hosts by their processors, NICs by their transport.
 */
namespace weir
{

/** What transfers reach of what a link's packets leave, as others of its kind do: `measured` of a
 * link whose description gives the packet format and nothing else. */
struct TypicalEfficiency
{
    double measured{1};
    std::string source;
};

/** A GPU generation. */
struct ArchitectureFigures
{
    uint32_t computeCapability{0}; //!< from which on, times ten
    double clockGhz{0};            //!< boost clock of an SM
    Bytes l1;                      //!< L1 and shared memory of an SM
    Rate nvlinkRate;               //!< of one NVLink, one direction, raw
    uint32_t nvlinkHeaderFlits{0}; //!< of a packet of 256 bytes
    Rate nvlinkNcclRate;           //!< what NCCL's topology search takes one for
    Time nvlinkLatency;            //!< to another GPU
    Time nvswitchLatency;          //!< to the GPU's NVSwitch
    Time chipToChipLatency;        //!< to its CPU
    TypicalEfficiency nvlink;
    std::vector<CostFigure> costs;
};

/** Processors of a family from a model on, and NCCL's rate between two of them. */
struct SocketRate
{
    uint32_t family{0};
    uint32_t model{0};
    Rate rate;
};

/** A kind of processor. */
struct HostFigures
{
    HostCpu vendor{HostCpu::Intel};        //!< what NCCL takes it for
    std::vector<SocketRate> socketRates;   //!< the last for all other processors; not empty
    LinkProfile sockets;                   //!< but for its rate
    LinkProfile pcie;                      //!< a slot, but for generation and lanes
    std::optional<LinkProfile> hostBridge; //!< what a NIC and a GPU that meet there share
    std::vector<CostFigure> costs;
};

/** A network transport. */
struct TransportFigures
{
    NetTransport kind{NetTransport::Infiniband}; //!< whose packets and queue pairs it has
    std::vector<std::string> devices;            //!< what names of its devices begin with
    uint32_t mtu{0};
    Time latency; //!< of a port
    TypicalEfficiency port;
    std::vector<CostFigure> costs;
};

/** Each: a map, or the name of one in the catalogue. @throws InputError with the place of what is
 * missing, unknown, out of range or without a source. */
ArchitectureFigures ReadArchitecture(const YamlNode& reference, const Catalog& catalog);
HostFigures ReadHost(const YamlNode& reference, const Catalog& catalog);
TransportFigures ReadTransport(const YamlNode& reference, const Catalog& catalog);

/** The newest of the catalogue's that is not newer than such GPUs; the oldest of all else.
 * @throws InputError when it has none. */
ArchitectureFigures ArchitectureOf(uint32_t computeCapability, const Catalog& catalog);

/** The host and the transport that the catalogue has by that kind's name. */
HostFigures HostOf(HostCpu cpu, const Catalog& catalog);
TransportFigures TransportOf(NetTransport transport, const Catalog& catalog);

/** The costs of these parts of @p node that are others than DefaultCosts: none with the catalogue
 * that Weir was built with. */
std::vector<NodeCost> OwnCosts(const ArchitectureFigures& architecture,
                               const HostFigures& host,
                               const TransportFigures& transport,
                               const NodeSpec& node);

/** As above, of the parts that the catalogue has by the kinds in @p node. */
std::vector<NodeCost> OwnCosts(const NodeSpec& node, const Catalog& catalog);

/**
 * {llCall: {value: 5us, source: ...}, ...}: per-message overheads, by the keys of
 * NodeCostFigures; those that are left out keep their defaults.
 * @throws InputError with the place of a key that there is not, a value out of its bounds, and a
 * source that says nothing.
 */
std::vector<NodeCost> ReadNodeCosts(const YamlNode& node);

/** The same of an architecture, host or transport, whose figures may have the `clock` of SMs or the
 * rate of a `port` that they hold for. */
std::vector<CostFigure> ReadCostFigures(const YamlNode& node);

/** "us", "GB/s" or "B"; nothing of a factor. */
const char* UnitName(NodeCostUnit unit);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_MACHINE_PARTS_H
