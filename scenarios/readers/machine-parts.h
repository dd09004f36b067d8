// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_MACHINE_PARTS_H
#define WEIR_SCENARIOS_READERS_MACHINE_PARTS_H

#include "collectives/nccl/node-costs.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/link-profile.h"
#include "fabric/units.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * Figures of a machine's parts by kind, used where its description does not give them: GPUs by
 * architecture, hosts by CPU, NICs by transport.
 */
namespace weir
{

/**
 * Typical achieved fraction of the payload rate for a kind of link: the default of `measured` where
 * a link's description gives only its packet format.
 */
struct TypicalEfficiency
{
    double measured{1};
    std::string source;
};

/** A GPU generation. */
struct ArchitectureFigures
{
    uint32_t computeCapability{0}; //!< first one of the generation, times ten
    double clockGhz{0};            //!< boost clock of an SM
    Bytes l1;                      //!< L1 and shared memory of an SM
    Rate nvlinkRate;               //!< raw rate of one NVLink, one direction
    uint32_t nvlinkHeaderFlits{0}; //!< header flits of a packet of 256 bytes
    Rate nvlinkNcclRate;           //!< rate of one NVLink in NCCL's topology search
    Time nvlinkLatency;            //!< of a link to another GPU
    Time nvswitchLatency;          //!< of a link to the NVSwitch
    Time chipToChipLatency;        //!< of a link to the CPU (NVLink-C2C)
    TypicalEfficiency nvlink;
    std::vector<CostFigure> costs;
};

/** CPUs of a family, from a model number on, and NCCL's rate between two of them. */
struct SocketRate
{
    uint32_t family{0};
    uint32_t model{0};
    Rate rate;
};

/** A kind of host CPU. */
struct HostFigures
{
    HostCpu vendor{HostCpu::Intel};        //!< CPU vendor in NCCL's topology search
    std::vector<SocketRate> socketRates;   //!< the last entry holds for all other CPUs; not empty
    LinkProfile sockets;                   //!< between sockets, without rate
    LinkProfile pcie;                      //!< of a slot, without generation and lanes
    std::optional<LinkProfile> hostBridge; //!< shared by a NIC and a GPU attached to it
    std::vector<CostFigure> costs;
};

/** A network transport. */
struct TransportFigures
{
    NetTransport kind{NetTransport::Infiniband}; //!< determines packet format and queue pairs
    std::vector<std::string> devices;            //!< prefixes of its device names
    uint32_t mtu{0};
    Time latency; //!< of a port
    std::string latencySource;
    TypicalEfficiency port;
    std::vector<CostFigure> costs;
};

/**
 * Each reads a map, or the entry of that name in the catalog. @throws InputError with the location
 * of what is missing, unknown, out of range or without a source.
 */
ArchitectureFigures ReadArchitecture(const YamlNode& reference, const Catalog& catalog);
HostFigures ReadHost(const YamlNode& reference, const Catalog& catalog);
TransportFigures ReadTransport(const YamlNode& reference, const Catalog& catalog);

/** Reads one of the powers of two from @p min to @p max. @throws InputError otherwise. */
uint32_t ReadPowerOfTwo(const YamlNode& node, uint32_t min, uint32_t max);

/** Reads an MTU that the packet format of @p transport allows. @throws InputError otherwise. */
uint32_t ReadMtu(const YamlNode& node, const NetTransportTraits& transport);

/**
 * The newest architecture of the catalog that is not newer than @p computeCapability (times ten),
 * else the oldest one. @throws InputError when the catalog has none.
 */
ArchitectureFigures ArchitectureOf(uint32_t computeCapability, const Catalog& catalog);

/** One NVLink of a GPU generation: raw rate, framing, and the share that NCCL's rate implies. */
LinkProfile NvLinkOf(const ArchitectureFigures& architecture, bool isSwitched);

/** The host and the transport that the catalog lists under the name of that kind. */
HostFigures HostOf(HostCpu cpu, const Catalog& catalog);
TransportFigures TransportOf(NetTransport transport, const Catalog& catalog);

/** The costs of these parts of @p node that differ from DefaultCosts; none with Weir's catalog. */
std::vector<NodeCost> OwnCosts(const ArchitectureFigures& architecture,
                               const HostFigures& host,
                               const TransportFigures& transport,
                               const NodeSpec& node);

/** As above, for the catalog's parts of the kinds given in @p node. */
std::vector<NodeCost> OwnCosts(const NodeSpec& node, const Catalog& catalog);

/**
 * Reads {llCall: {value: 5us, source: ...}, ...}: per-message overheads by the keys of
 * NodeCostFigures. Missing keys keep their defaults.
 * @throws InputError with the location of an unknown key, a value out of range, or an empty source.
 */
std::vector<NodeCost> ReadNodeCosts(const YamlNode& node);

/** The same for a part, whose figures may also give the `clock` or `port` that they hold for. */
std::vector<CostFigure> ReadCostFigures(const YamlNode& node);

/** "us", "GB/s" or "B"; empty for a factor. */
const char* UnitName(NodeCostUnit unit);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_MACHINE_PARTS_H
