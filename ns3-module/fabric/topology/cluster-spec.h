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
 * A cluster described by plain values, as a system file describes it: what is inside one node and
 * how nodes are joined. Cluster wires it into a Topology.
 */
namespace weir
{

/** How the GPUs of a node reach each other without PCIe. */
enum class NvLinkWiring : uint8_t
{
    None,     //!< PCIe only
    Switched, //!< every GPU to the node's NVSwitches (modelled as one non-blocking switch)
    Mesh      //!< direct links, listed in NodeSpec::meshLinks
};

/** A direct NVLink bundle between two GPUs of a node. */
struct MeshLink
{
    uint32_t a{0};
    uint32_t b{0};
    uint32_t links{1}; //!< parallel NVLinks in the bundle
};

/** Whose processor hosts the GPUs; NCCL's tables distinguish these. */
enum class HostCpu : uint8_t
{
    Intel,
    Amd,
    Arm
};

/** What carries bytes between nodes; decides the headers of a packet. */
enum class NetTransport : uint8_t
{
    Infiniband,
    Roce,
    Slingshot,
    Efa,
    Tcp
};

/** What a PCIe slot is in. */
enum class PcieParent : uint8_t
{
    Socket,
    Switch
};

/** Where a GPU, NIC card or PCIe switch is attached in a node. */
struct PciePlace
{
    PcieParent parent{PcieParent::Socket};
    uint32_t index{0};               //!< of the socket or PCIe switch
    std::optional<LinkProfile> link; //!< of this slot, where it is not as its kind's others
};

/** A figure of a node that a floor above reads by its name; the fabric does not. */
struct NodeCost
{
    std::string name;
    double value{0}; //!< in the unit of what it names
    std::string source;
};

/**
 * The inside of a server.
 *
 * Places that are left empty are even: GPUs and NIC cards each spread contiguously over the PCIe
 * switches (over the sockets when there are none), PCIe switches over the sockets.
 */
struct NodeSpec
{
    std::string gpuModel; //!< e.g. "h800-sxm"; names a GPU description
    uint32_t gpus{8};
    NvLinkWiring wiring{NvLinkWiring::Switched};
    uint32_t nvlinksPerGpu{0};       //!< links of one GPU into the NVSwitches
    LinkProfile nvlink;              //!< of one NVLink
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
    std::string cpuModel;                //!< e.g. "Xeon Platinum 8480C"; for the reader
    uint32_t socketsPerBoard{0};         //!< sockets that are joined pairwise; 0: all
    std::vector<PciePlace> switchPlaces; //!< by PCIe switch; a parent switch comes before it
    std::vector<PciePlace> gpuPlaces;    //!< by GPU
    std::vector<PciePlace> nicPlaces;    //!< by NIC card
    NetTransport transport{NetTransport::Infiniband};
    uint32_t portsPerNic{1};                  //!< of a card; consecutive ports share its slot
    std::optional<LinkProfile> gpuLink;       //!< a GPU's slot, where not `pcie`: NVLink-C2C
    std::optional<LinkProfile> nicPcie;       //!< a NIC's slot, where not `pcie`
    std::optional<LinkProfile> nicHostBridge; //!< what a NIC on a socket moves in and out together
    std::vector<NodeCost> costs{};            //!< in place of defaults; the last of a name counts

    /** Cards that have `nics` ports. */
    uint32_t NicCards() const
    {
        return portsPerNic == 0 ? 0 : nics / portsPerNic;
    }
};

/** The network between nodes: its kind with the kind's own values, and what all kinds have. */
struct FabricSpec
{
    Polymorphic<FabricKind> kind{RailOptimized()};
    LinkProfile link; //!< switch to switch; its rate defaults to the NIC's
    Polymorphic<RoutingPolicy> routing{EcmpRouting()};
    uint64_t hashSeed{1};           //!< salts of the switches derive from it
    bool inNetworkReduction{false}; //!< its switches sum and multicast (SHARP)
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
