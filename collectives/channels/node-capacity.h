// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_NODE_CAPACITY_H
#define WEIR_COLLECTIVES_CHANNELS_NODE_CAPACITY_H

#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** NCCL's PCIe bandwidth over the raw line rate (topo.h): 12 of 16 GB/s for Gen3 x16, 48 of 64 for
 *  Gen5. */
constexpr double NCCL_PCIE_OVER_RAW = 0.75;

/**
 * GB/s that NCCL reckons an NVLink of @p profile with: that of the GPUs' generation, where it is as
 * fast as several of them as many times that.
 */
double NcclBandwidthOfNvLink(const LinkProfile& profile, const NcclConstants& constants);

/** What the shortest path from a GPU to a NIC passes at most: NCCL's PXB, PHB and SYS. */
enum class NicReach : uint8_t
{
    Switches,
    Host,
    Sockets
};

/**
 * The links inside one node as NCCL's topology sees them: the paths between some of its GPUs and
 * its NICs, each link with the bandwidth NCCL reckons with (topo.h: 20.6 GB/s per NVLink 4, 48 for
 * PCIe Gen5 x16, a NIC's port speed), of which the channel search reserves what it uses.
 */
class NodeCapacity
{
  public:
    /** @param localGpus of the node, ascending; the GPUs of one communicator. */
    NodeCapacity(const Cluster& cluster,
                 Router& router,
                 const NcclConstants& constants,
                 uint32_t node,
                 std::vector<uint32_t> localGpus,
                 P2pLevel p2p = P2pLevel::System);

    /** Index into LocalGpus is what every other member means by a GPU. */
    const std::vector<uint32_t>& LocalGpus() const
    {
        return m_localGpus;
    }

    /**
     * NICs that are nearest to at least one of the GPUs, in the order NCCL tries them: each GPU's
     * first choice by GPU, then each GPU's second, and so on.
     */
    const std::vector<uint32_t>& Nics() const
    {
        return m_nics;
    }

    /** Those of Nics() that some GPU reaches so, or nearer. */
    std::vector<uint32_t> NicsWithin(NicReach reach);

    /** The GPUs that are nearest to @p nic, those that own it first. */
    std::vector<uint32_t> GpusNear(uint32_t nic);

    /** All of them, in order. */
    std::vector<uint32_t> AllGpus() const;

    /**
     * From GPU to GPU: NVLink where there is one, else NVLink relayed by a third GPU (NVB, from 2.9
     * on), else PCIe, through the host where its level allows no more; see Exists.
     */
    const std::vector<LinkId>& BetweenGpus(uint32_t from, uint32_t to) const;

    /** Whether BetweenGpus is NVLink from one to the other. */
    bool IsNvLink(uint32_t from, uint32_t to) const;

    /** Whether BetweenGpus is NVLink relayed by a third GPU. */
    bool IsNvLinkByGpu(uint32_t from, uint32_t to) const;

    /** Whether there are two of them that only a third one joins by NVLink. */
    bool HasNvLinkByGpu() const;

    /** From the network through @p nic to a GPU, NIC port included; see Exists. */
    const std::vector<LinkId>& FromNetwork(uint32_t nic, uint32_t gpu);

    /** From a GPU through @p nic to the network, NIC port included; see Exists. */
    const std::vector<LinkId>& ToNetwork(uint32_t gpu, uint32_t nic);

    /** Whether there is such a path: between boards of a rack there is no PCIe. */
    static bool Exists(const std::vector<LinkId>& links);

    /**
     * Takes @p speed GB/s from every link, or nothing: 6/5 of it from PCIe links between a GPU and
     * what shares its Intel root complex (NCCL's INTEL_P2P_OVERHEAD).
     * @return whether all of them had it; a path that does not exist never has.
     */
    bool Reserve(const std::vector<LinkId>& links, double speed);

    /** Gives back what Reserve took. */
    void Release(const std::vector<LinkId>& links, double speed);

    /** The widest path between two of the GPUs, or to a NIC when @p interNode, GB/s. */
    double BestPath(bool interNode);

    /** What leaves one GPU over NVLink (or PCIe, without NVLink) at most, GB/s. */
    double GpuBandwidth() const
    {
        return m_gpuBandwidth;
    }

    /** What is not reserved of a link, GB/s. */
    double Left(LinkId link) const
    {
        return m_left.at(link.Index());
    }

    /** Forgets all reservations. */
    void Reset();

  private:
    void OrderNics();

    /** Joins GPUs without NVLink between them relayed by one that has it to both. */
    void JoinByGpus();
    std::vector<LinkId> NetworkPath(uint32_t nic, uint32_t gpu, bool outgoing);

    /** What the PCIe links of a path give for a byte that passes them. */
    double PcieCost(const std::vector<LinkId>& links) const;

    bool IsPcie(LinkId link) const
    {
        return m_cluster.GetTopology().GetLink(link).kind == LinkKind::Pcie;
    }

    /** What a link inside a node is made of; null when the node's description does not say. */
    const LinkProfile* ProfileOf(const Link& link) const;

    double NcclBandwidth(LinkId link) const;
    void Add(const std::vector<LinkId>& links);
    double Width(const std::vector<LinkId>& links) const;
    std::vector<LinkId> PortLinks(uint32_t nic, bool outgoing) const;

    const Cluster& m_cluster;
    Router& m_router;
    const NcclConstants& m_constants;
    uint32_t m_node;
    std::vector<uint32_t> m_localGpus;
    std::vector<const LinkProfile*> m_profiles; //!< of the node's links
    std::vector<uint32_t> m_nics;
    std::vector<std::vector<uint32_t>> m_nicsOfGpu; //!< nearest NICs, the GPU's own first
    std::vector<std::vector<LinkId>> m_gpuToGpu;    //!< by from * gpus + to
    std::vector<bool> m_isNvLink;                   //!< as above
    std::vector<bool> m_isByGpu;                    //!< as above
    std::unordered_map<uint64_t, std::vector<LinkId>> m_fromNetwork; //!< by nic and gpu
    std::unordered_map<uint64_t, std::vector<LinkId>> m_toNetwork;   //!< by nic and gpu
    std::unordered_map<uint32_t, double> m_capacity;                 //!< by link, GB/s
    std::unordered_map<uint32_t, double> m_left;                     //!< by link, GB/s
    double m_gpuBandwidth{0};
};

/** The NICs that are equally near to a GPU and nearer than all others, its own first. */
std::vector<uint32_t> NicsOfGpu(const Cluster& cluster,
                                Router& router,
                                uint32_t node,
                                uint32_t localGpu);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_NODE_CAPACITY_H
