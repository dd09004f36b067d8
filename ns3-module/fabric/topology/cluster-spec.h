// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_CLUSTER_SPEC_H
#define WEIR_FABRIC_CLUSTER_SPEC_H

#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/fabric-kind.h"
#include "fabric/parameters/polymorphic.h"
#include "fabric/routing/routing-policies.h"
#include "fabric/topology/link-profile.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * A cluster as plain values, as a system file describes it: the inside of one node and the network
 * between nodes. Cluster wires it into a Topology.
 */
namespace weir
{

/** The NVLink connection of the GPUs of a node. */
enum class NvLinkWiring : uint8_t
{
    None,     //!< PCIe only
    Switched, //!< every GPU to the node's NVSwitches (modeled as one non-blocking switch)
    Mesh      //!< direct links, listed in NodeSpec::meshLinks
};

/** A direct NVLink bundle between two GPUs of a node. */
struct MeshLink
{
    uint32_t a{0};
    uint32_t b{0};
    uint32_t links{1}; //!< parallel NVLinks in the bundle
};

/** The vendor of the host processor, which NCCL's tables distinguish. */
enum class HostCpu : uint8_t
{
    Intel,
    Amd,
    Arm,
    Power
};

/** The kind of device that a PCIe slot belongs to. */
enum class PcieParent : uint8_t
{
    Socket,
    Switch
};

/** The attachment point of a GPU, NIC card or PCIe switch in a node. */
struct PcieAttachment
{
    PcieParent parent{PcieParent::Socket};
    uint32_t index{0};               //!< index of the socket or PCIe switch
    std::optional<LinkProfile> link; //!< of this slot; absent: default of its kind
};

/** A cost parameter of a node, which higher layers read by name; the fabric does not use it. */
struct NodeCost
{
    std::string name;
    double value{0}; //!< in the unit of the parameter
    std::string source;
};

/**
 * The inside of a server.
 *
 * If attachment points are empty, devices are spread evenly: GPUs and NIC cards each contiguously
 * over the PCIe switches (over the sockets if there are none), PCIe switches over the sockets.
 */
struct NodeSpec
{
    std::string gpuModel; //!< e.g. "h800-sxm"; names a GPU description
    uint32_t gpus{8};
    NvLinkWiring wiring{NvLinkWiring::Switched};
    uint32_t nvlinksPerGpu{0};       //!< NVLinks of one GPU to the NVSwitches
    LinkProfile nvlink;              //!< one NVLink
    std::vector<MeshLink> meshLinks; //!< for Mesh
    LinkProfile pcie;                //!< GPU or NIC to its PCIe switch (all lanes)
    LinkProfile pcieUplink;          //!< PCIe switch to root complex
    uint32_t pcieSwitches{4}; //!< per node; 0: GPUs and NICs are attached to the root complexes
    uint32_t sockets{2};
    LinkProfile interSocket;        //!< root complex to root complex
    uint32_t nics{8};               //!< network ports as NCCL sees them
    LinkProfile nic;                //!< NIC port to its leaf switch
    uint32_t computeCapability{90}; //!< of the GPUs, times ten: 70, 80, 90, 100
    HostCpu cpu{HostCpu::Intel};
    std::string cpuModel;                          //!< e.g. "Xeon Platinum 8480C"; informative
    uint32_t socketsPerBoard{0};                   //!< sockets connected pairwise; 0: all
    std::vector<PcieAttachment> switchAttachments; //!< by PCIe switch; a parent comes first
    std::vector<PcieAttachment> gpuAttachments;    //!< by GPU
    std::vector<PcieAttachment> nicAttachments;    //!< by NIC card
    NetTransport transport{NetTransport::Infiniband};
    uint32_t portsPerNic{1};                  //!< ports of a card; consecutive ports share its slot
    std::optional<LinkProfile> gpuLink;       //!< slot of a GPU, if not `pcie`: NVLink-C2C, NVLinks
    std::optional<LinkProfile> nicPcie;       //!< slot of a NIC, if not `pcie`
    std::optional<LinkProfile> nicHostBridge; //!< of a NIC on a socket, both directions combined
    std::vector<NodeCost> costs{};            //!< overrides defaults; the last of a name applies

    /** The number of NIC cards. */
    uint32_t NicCards() const
    {
        return portsPerNic == 0 ? 0 : nics / portsPerNic;
    }
};

/**
 * The network between nodes: its kind with the parameters of that kind, and the parameters common
 * to all kinds.
 */
struct FabricSpec
{
    Polymorphic<FabricKind> kind{RailOptimized()};
    LinkProfile link; //!< between switches; its rate defaults to the NIC's
    Polymorphic<RoutingPolicy> routing{EcmpRouting()};
    uint64_t hashSeed{1};           //!< seed of the hash salts of the switches
    bool inNetworkReduction{false}; //!< switches reduce and multicast (SHARP)
};

/** A whole cluster. */
struct ClusterSpec
{
    std::string name;
    uint32_t nodes{1};
    NodeSpec node;
    FabricSpec fabric;
};

} // namespace weir

#endif // WEIR_FABRIC_CLUSTER_SPEC_H
