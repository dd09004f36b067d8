// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_NODE_CAPACITY_H
#define WEIR_COLLECTIVES_CHANNELS_NODE_CAPACITY_H

#include "collectives/channels/connection.h"
#include "collectives/nccl/nccl-constants.h"
#include "fabric/topology/cluster.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * NCCL's PCIe bandwidth over the raw line rate (topo.h): 12 of 16 GB/s for Gen3 x16, 48 of 64 for
 * Gen5.
 */
constexpr double NCCL_PCIE_OVER_RAW = 0.75;

/**
 * The number of NVLinks of the GPUs' generation that a link of @p profile is for NCCL: those that
 * it equals in rate; 1 if the profile gives NCCL's rate itself.
 */
double NcclLinksOfNvLink(const LinkProfile& profile, const NcclConstants& constants);

/**
 * The bandwidth that NCCL assumes for an NVLink of @p profile, GB/s: that of the GPUs' generation,
 * times NcclLinksOfNvLink.
 */
double NcclBandwidthOfNvLink(const LinkProfile& profile, const NcclConstants& constants);

/**
 * The links inside one node as NCCL's topology sees them: the paths between some of its GPUs and
 * its NICs. Each link has the bandwidth that NCCL assumes (topo.h: 20.6 GB/s per NVLink 4, 48 for
 * PCIe Gen5 x16, a NIC's port speed), from which the channel search reserves bandwidth.
 */
class NodeCapacity
{
  public:
    /** @param gpus of one node, ascending; every other member refers to a GPU by its index here */
    NodeCapacity(Connector& connector, const NcclConstants& constants, std::vector<GpuId> gpus);

    /** Number of GPUs. */
    uint32_t Size() const
    {
        return static_cast<uint32_t>(m_gpus.size());
    }

    /**
     * NICs that are nearest to at least one of the GPUs, in the order in which NCCL tries them:
     * each GPU's first choice by GPU, then each GPU's second, and so on.
     */
    const std::vector<uint32_t>& Nics() const
    {
        return m_nics;
    }

    /** The NICs of Nics() that some GPU reaches within @p reach. */
    std::vector<uint32_t> NicsWithin(NicReach reach);

    /** The reach of the path from a GPU to @p nic, which exists. */
    NicReach ReachOf(uint32_t gpu, uint32_t nic)
    {
        return weir::ReachOf(m_cluster.GetTopology(), ToNetwork(gpu, nic));
    }

    /** The GPUs that are nearest to @p nic; those whose own NIC it is come first. */
    std::vector<uint32_t> GpusNear(uint32_t nic);

    /** All GPUs, in order. */
    std::vector<uint32_t> AllGpus() const;

    /**
     * The path from GPU to GPU: NVLink where there is one, else NVLink relayed by a third GPU (NVB,
     * from 2.9 on), else PCIe, through the host where the P2P level allows no direct copies; see
     * Exists.
     */
    const std::vector<LinkId>& BetweenGpus(uint32_t from, uint32_t to) const
    {
        return m_gpuToGpu[from * Size() + to];
    }

    /** Whether BetweenGpus is direct NVLink. */
    bool IsNvLink(uint32_t from, uint32_t to) const
    {
        return m_isNvLink[from * Size() + to];
    }

    /** Whether BetweenGpus is NVLink relayed by a third GPU. */
    bool IsRelayedNvLink(uint32_t from, uint32_t to) const
    {
        return m_isByGpu[from * Size() + to];
    }

    /** Whether the NVLink path of any two GPUs is relayed by a third one. */
    bool HasRelayedNvLink() const;

    /**
     * The path from the network through @p nic to a GPU, including the NIC's port, which has the
     * bandwidth of all merged ports; see Exists.
     */
    const std::vector<LinkId>& FromNetwork(uint32_t nic, uint32_t gpu)
    {
        return NetworkPath(nic, gpu, false);
    }

    /** The path from a GPU through @p nic to the network, as FromNetwork. */
    const std::vector<LinkId>& ToNetwork(uint32_t gpu, uint32_t nic)
    {
        return NetworkPath(nic, gpu, true);
    }

    /** Whether there is such a path. For example, boards of a rack have no PCIe between them. */
    static bool Exists(const std::vector<LinkId>& links)
    {
        return links.empty() || links.front().IsValid();
    }

    /**
     * Reserves @p speed GB/s on every link, or nothing. PCIe links on a path from a GPU through its
     * Intel root complex are charged 6/5 of it (NCCL's INTEL_P2P_OVERHEAD).
     * @return whether all links had enough bandwidth left; always false for a path that does not
     *         exist.
     */
    bool Reserve(const std::vector<LinkId>& links, double speed);

    /** Releases what Reserve has reserved. */
    void Release(const std::vector<LinkId>& links, double speed);

    /**
     * The bandwidth of the widest path between two of the GPUs, or from a NIC if @p interNode,
     * GB/s.
     */
    double BestPath(bool interNode);

    /** The largest bandwidth out of one GPU over NVLink (or PCIe, without NVLink), GB/s. */
    double GpuBandwidth() const
    {
        return m_gpuBandwidth;
    }

    /** The bandwidth of a link that is not reserved, GB/s. */
    double Left(LinkId link) const
    {
        return m_left.at(link.Index());
    }

    /** Releases all reservations. */
    void Reset()
    {
        m_left = m_capacity;
    }

  private:
    void OrderNics();

    void FindPaths(uint32_t gpu);
    DeviceId DeviceOf(uint32_t gpu) const;
    const std::vector<LinkId>& NetworkPath(uint32_t nic, uint32_t gpu, bool outgoing);

    /** Bandwidth to reserve on the PCIe links of a path per byte that passes them. */
    double PcieCost(const std::vector<LinkId>& links) const;

    bool IsPcie(LinkId link) const
    {
        return m_cluster.GetTopology().GetLink(link).kind == LinkKind::Pcie;
    }

    /** The profile of a link inside a node; null where the node's description has none. */
    const LinkProfile* ProfileOf(const Link& link) const;

    double NcclBandwidth(LinkId link) const;
    void Add(const std::vector<LinkId>& links);
    double Width(const std::vector<LinkId>& links) const;
    std::vector<LinkId> PortLinks(uint32_t nic, bool outgoing) const;

    const Cluster& m_cluster;
    Connector& m_connector;
    const NcclConstants& m_constants;
    std::vector<GpuId> m_gpus;
    std::vector<const LinkProfile*> m_profiles; //!< of the node's links
    std::vector<uint32_t> m_nics;
    std::vector<std::vector<uint32_t>> m_nicsOfGpu; //!< nearest NICs, the GPU's own first
    std::vector<std::vector<LinkId>> m_gpuToGpu;    //!< by from * gpus + to
    std::vector<bool> m_isNvLink;                   //!< as above
    std::vector<bool> m_isByGpu;                    //!< as above
    std::map<std::tuple<uint32_t, uint32_t, bool>, std::vector<LinkId>>
        m_network;                                   //!< by nic, gpu and whether it leaves the node
    std::unordered_map<uint32_t, double> m_capacity; //!< by link, GB/s
    std::unordered_map<uint32_t, double> m_left;     //!< by link, GB/s
    double m_gpuBandwidth{0};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_NODE_CAPACITY_H
