// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/node-capacity.h"

#include "collectives/channels/connection.h"
#include "fabric/nodes/node-wiring.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace weir
{

namespace
{

/** As NCCL_PCIE_OVER_RAW, with 8b/10b encoding: 3 of 5 GB/s for Gen1 x16. */
constexpr double NCCL_PCIE_OVER_RAW_8B10B = 0.6;
constexpr double ENCODING_8B10B = 0.8;

/**
 * Factor of PCIe bandwidth for GPU-to-GPU traffic through one Intel root complex:
 * INTEL_P2P_OVERHEAD.
 */
constexpr double INTEL_P2P_COST = 6.0 / 5;

/**
 * Bandwidths are sums and differences of NCCL's decimal speeds; smaller differences are rounding.
 */
constexpr double SPEED_TOLERANCE = 1e-6;

} // namespace

std::vector<uint32_t>
NicsOfGpu(const Cluster& cluster, Router& router, uint32_t node, uint32_t localGpu, uint32_t ports)
{
    std::vector<uint32_t> nics;
    std::size_t nearest = 0;
    const DeviceId device = cluster.GpuDevice(GpuId(node * cluster.GpusPerNode() + localGpu));
    for (uint32_t nic : cluster.NearestNics(localGpu))
    {
        const DeviceId port = cluster.NicDevice(node, nic);
        if (nic % ports != 0 || !router.IsReachable(device, port, PCIE_KINDS))
        {
            continue; // a further port of a merged NIC, or the NIC is on another board
        }
        const std::size_t distance = router.RouteOver(device, port, {}, PCIE_KINDS).size();
        nearest = nics.empty() ? distance : nearest;
        if (distance == nearest)
        {
            nics.push_back(nic);
        }
    }
    return nics;
}

NodeCapacity::NodeCapacity(const Cluster& cluster,
                           Router& router,
                           const NcclConstants& constants,
                           uint32_t node,
                           std::vector<uint32_t> localGpus,
                           P2pLevel p2p,
                           uint32_t ports)
    : m_cluster(cluster),
      m_router(router),
      m_constants(constants),
      m_node(node),
      m_ports(ports),
      m_localGpus(std::move(localGpus)),
      m_profiles(NodeProfiles(cluster.GetSpec().node))
{
    const std::size_t n = m_localGpus.size();
    m_gpuToGpu.resize(n * n);
    m_isNvLink.resize(n * n);
    m_isByGpu.resize(n * n);
    for (uint32_t a = 0; a < n; ++a)
    {
        for (uint32_t b = 0; b < n; ++b)
        {
            if (a == b)
            {
                continue;
            }
            const bool nvlink = p2p >= P2pLevel::NvLink &&
                                router.IsReachable(DeviceOf(a), DeviceOf(b), NVLINK_KINDS);
            auto& links = m_gpuToGpu[a * n + b];
            const uint8_t kinds = nvlink ? NVLINK_KINDS : PCIE_KINDS;
            if (!router.IsReachable(DeviceOf(a), DeviceOf(b), kinds))
            {
                links = {LinkId()}; // no path: see Exists
                continue;
            }
            const DeviceId host =
                nvlink ? DeviceId() : HostRelay(cluster, router, p2p, DeviceOf(a), DeviceOf(b));
            links = router.RouteOver(DeviceOf(a), host.IsValid() ? host : DeviceOf(b), {}, kinds);
            if (host.IsValid())
            {
                const auto down = router.RouteOver(host, DeviceOf(b), {}, kinds);
                links.insert(links.end(), down.begin(), down.end());
            }
            m_isNvLink[a * n + b] = nvlink;
            Add(links);
        }
        double nvlinkOut = 0;
        double pcieOut = 0;
        for (LinkId link : cluster.GetTopology().LinksFrom(DeviceOf(a)))
        {
            const bool nvlink = cluster.GetTopology().GetLink(link).kind == LinkKind::NvLink;
            (nvlink && p2p >= P2pLevel::NvLink ? nvlinkOut : pcieOut) += NcclBandwidth(link);
        }
        m_gpuBandwidth = std::max(m_gpuBandwidth, nvlinkOut > 0 ? nvlinkOut : pcieOut);
        if (cluster.NicsPerNode() > 0)
        {
            m_nicsOfGpu.push_back(NicsOfGpu(cluster, router, node, m_localGpus[a], ports));
        }
    }
    if (constants.ChannelsPassGpus() && p2p >= P2pLevel::NvLink)
    {
        AddRelayedPaths();
    }
    OrderNics();
}

void
NodeCapacity::OrderNics()
{
    std::size_t rounds = 0;
    for (const auto& nics : m_nicsOfGpu)
    {
        rounds = std::max(rounds, nics.size());
    }
    for (std::size_t round = 0; round < rounds; ++round)
    {
        for (const auto& nics : m_nicsOfGpu)
        {
            if (round < nics.size() &&
                std::find(m_nics.begin(), m_nics.end(), nics[round]) == m_nics.end())
            {
                m_nics.push_back(nics[round]);
            }
        }
    }
}

std::vector<uint32_t>
NodeCapacity::NicsWithin(NicReach reach)
{
    const auto& topology = m_cluster.GetTopology();
    const auto reaches = [&](uint32_t gpu, uint32_t nic) {
        const auto& links = ToNetwork(gpu, nic);
        return Exists(links) && std::none_of(links.begin(), links.end(), [&](LinkId id) {
                   const Link& link = topology.GetLink(id);
                   return (reach < NicReach::Sockets && link.kind == LinkKind::InterSocket) ||
                          (reach < NicReach::Host &&
                           topology.GetDevice(link.to).kind == DeviceKind::RootComplex);
               });
    };
    const std::vector<uint32_t> gpus = AllGpus();
    std::vector<uint32_t> nics;
    std::copy_if(m_nics.begin(), m_nics.end(), std::back_inserter(nics), [&](uint32_t nic) {
        return std::any_of(
            gpus.begin(), gpus.end(), [&](uint32_t gpu) { return reaches(gpu, nic); });
    });
    return nics;
}

std::vector<uint32_t>
NodeCapacity::GpusNear(uint32_t nic)
{
    std::vector<uint32_t> near;
    std::size_t min = std::numeric_limits<std::size_t>::max();
    for (uint32_t gpu : AllGpus())
    {
        const auto& path = ToNetwork(gpu, nic);
        const std::size_t distance = path.size();
        if (!Exists(path))
        {
            continue;
        }
        if (distance < min)
        {
            near.clear();
            min = distance;
        }
        if (distance == min)
        {
            near.push_back(gpu);
        }
    }
    std::stable_partition(
        near.begin(), near.end(), [&](uint32_t gpu) { return m_nicsOfGpu[gpu].front() == nic; });
    return near;
}

std::vector<uint32_t>
NodeCapacity::AllGpus() const
{
    std::vector<uint32_t> gpus(m_localGpus.size());
    std::iota(gpus.begin(), gpus.end(), 0);
    return gpus;
}

DeviceId
NodeCapacity::DeviceOf(uint32_t gpu) const
{
    return m_cluster.GpuDevice(GpuId(m_node * m_cluster.GpusPerNode() + m_localGpus[gpu]));
}

const std::vector<LinkId>&
NodeCapacity::NetworkPath(uint32_t nic, uint32_t gpu, bool outgoing)
{
    const auto [it, isNew] = m_network.try_emplace({nic, gpu, outgoing});
    std::vector<LinkId>& links = it->second;
    if (!isNew)
    {
        return links;
    }
    const DeviceId port = m_cluster.NicDevice(m_node, nic);
    const DeviceId from = outgoing ? DeviceOf(gpu) : port;
    const DeviceId to = outgoing ? port : DeviceOf(gpu);
    if (!m_router.IsReachable(from, to, PCIE_KINDS))
    {
        links = {LinkId()}; // no path: see Exists
        return links;
    }
    links = m_router.RouteOver(from, to, {}, PCIE_KINDS);
    const auto network = PortLinks(nic, outgoing);
    links.insert(outgoing ? links.end() : links.begin(), network.begin(), network.end());
    Add(links);
    return links;
}

std::vector<LinkId>
NodeCapacity::PortLinks(uint32_t nic, bool outgoing) const
{
    const auto& topology = m_cluster.GetTopology();
    for (LinkId link : topology.LinksFrom(m_cluster.NicDevice(m_node, nic)))
    {
        const Link& l = topology.GetLink(link);
        if (l.kind == LinkKind::Network && (outgoing || l.opposite.IsValid()))
        {
            return {outgoing ? link : l.opposite};
        }
    }
    return {};
}

double
NodeCapacity::PcieCost(const std::vector<LinkId>& links) const
{
    const auto& topology = m_cluster.GetTopology();
    if (m_cluster.GetSpec().node.cpu != HostCpu::Intel || links.empty() ||
        topology.GetDevice(topology.GetLink(links.front()).from).kind != DeviceKind::Gpu)
    {
        return 1;
    }
    bool passesRoot = false;
    for (LinkId id : links)
    {
        const Link& link = topology.GetLink(id);
        if (link.kind == LinkKind::InterSocket)
        {
            return 1;
        }
        passesRoot |= topology.GetDevice(link.to).kind == DeviceKind::RootComplex;
    }
    return passesRoot ? INTEL_P2P_COST : 1;
}

bool
NodeCapacity::Reserve(const std::vector<LinkId>& links, double speed)
{
    if (!Exists(links))
    {
        return false;
    }
    const double pcie = speed * PcieCost(links);
    for (std::size_t i = 0; i < links.size(); ++i)
    {
        double& left = m_left[links[i].Index()];
        const double taken = IsPcie(links[i]) ? pcie : speed;
        if (left < taken - SPEED_TOLERANCE)
        {
            for (std::size_t k = 0; k < i; ++k)
            {
                m_left[links[k].Index()] += IsPcie(links[k]) ? pcie : speed;
            }
            return false;
        }
        left -= taken;
    }
    return true;
}

void
NodeCapacity::Release(const std::vector<LinkId>& links, double speed)
{
    const double pcie = speed * PcieCost(links);
    for (LinkId link : links)
    {
        m_left[link.Index()] += IsPcie(link) ? pcie : speed;
    }
}

double
NodeCapacity::BestPath(bool interNode)
{
    double best = 0;
    if (interNode)
    {
        for (uint32_t nic : m_nics)
        {
            for (uint32_t gpu : GpusNear(nic))
            {
                best = std::max(best, Width(FromNetwork(nic, gpu)));
            }
        }
        return best;
    }
    for (const auto& links : m_gpuToGpu)
    {
        best = std::max(best, links.empty() || !Exists(links) ? 0 : Width(links));
    }
    return best;
}

const LinkProfile*
NodeCapacity::ProfileOf(const Link& link) const
{
    const std::string& name = m_cluster.GetTopology().GetProfileName(link.profile);
    const LinkProfile* named = nullptr;
    for (const LinkProfile* profile : m_profiles)
    {
        if (profile->name != name)
        {
            continue;
        }
        if (link.rate == profile->PayloadRate())
        {
            return profile;
        }
        named = named ? named : profile; // a bundle of several links
    }
    return named;
}

double
NcclLinksOfNvLink(const LinkProfile& profile, const NcclConstants& constants)
{
    return profile.ncclRate > Rate()
               ? 1
               : std::max(1.0,
                          std::round(profile.PayloadRate().ToGBps() / constants.NvLinkBandwidth()));
}

double
NcclBandwidthOfNvLink(const LinkProfile& profile, const NcclConstants& constants)
{
    return profile.ncclRate > Rate()
               ? profile.ncclRate.ToGBps()
               : NcclLinksOfNvLink(profile, constants) * constants.NvLinkBandwidth();
}

double
NodeCapacity::NcclBandwidth(LinkId id) const
{
    const auto& node = m_cluster.GetSpec().node;
    const Link& link = m_cluster.GetTopology().GetLink(id);
    const LinkProfile* profile = ProfileOf(link);
    if (!profile)
    {
        return link.rate.ToGBps();
    }
    const uint32_t links = link.kind == LinkKind::Network ? m_ports : 1;
    const double bundle = links * (link.rate / profile->PayloadRate());
    if (link.kind == LinkKind::NvLink && profile->ncclRate == Rate())
    {
        return std::round(bundle) * NcclBandwidthOfNvLink(*profile, m_constants);
    }
    if (profile->ncclRate > Rate())
    {
        return bundle * profile->ncclRate.ToGBps();
    }
    switch (link.kind)
    {
    case LinkKind::Pcie: {
        if (node.nicHostBridge && profile == &*node.nicHostBridge)
        {
            return std::numeric_limits<double>::infinity(); // a link that NCCL's topology does not
                                                            // have
        }
        const bool chipToChip = node.gpuLink && profile == &*node.gpuLink;
        const double overRaw = chipToChip                            ? 1
                               : profile->encoding <= ENCODING_8B10B ? NCCL_PCIE_OVER_RAW_8B10B
                                                                     : NCCL_PCIE_OVER_RAW;
        return bundle * profile->rawRate.ToGBps() * overRaw;
    }
    case LinkKind::Network:
        return bundle * profile->rawRate.ToGBps();
    case LinkKind::NvLink:
    case LinkKind::InterSocket:
        break;
    }
    return link.rate.ToGBps();
}

void
NodeCapacity::Add(const std::vector<LinkId>& links)
{
    for (LinkId link : links)
    {
        const double bandwidth = NcclBandwidth(link);
        if (m_capacity.emplace(link.Index(), bandwidth).second)
        {
            m_left.emplace(link.Index(), bandwidth);
        }
    }
}

double
NodeCapacity::Width(const std::vector<LinkId>& links) const
{
    double width = std::numeric_limits<double>::infinity();
    for (LinkId link : links)
    {
        width = std::min(width, m_capacity.at(link.Index()));
    }
    return width;
}

/** Adds paths over NVLink relayed by a third GPU (NCCL's NVB). */
void
NodeCapacity::AddRelayedPaths()
{
    const auto n = static_cast<uint32_t>(m_localGpus.size());
    for (uint32_t from = 0; from < n; ++from)
    {
        for (uint32_t to = 0; to < n; ++to)
        {
            if (from == to || IsNvLink(from, to))
            {
                continue;
            }
            double widest = 0;
            std::vector<LinkId> path;
            for (uint32_t middle = 0; middle < n; ++middle)
            {
                if (!IsNvLink(from, middle) || !IsNvLink(middle, to))
                {
                    continue;
                }
                auto links = BetweenGpus(from, middle);
                const auto& on = BetweenGpus(middle, to);
                links.insert(links.end(), on.begin(), on.end());
                if (Width(links) > widest)
                {
                    widest = Width(links);
                    path = std::move(links);
                }
            }
            if (widest > 0)
            {
                m_gpuToGpu[from * n + to] = std::move(path);
                m_isByGpu[from * n + to] = true;
            }
        }
    }
}

bool
NodeCapacity::HasRelayedNvLink() const
{
    return std::find(m_isByGpu.begin(), m_isByGpu.end(), true) != m_isByGpu.end();
}

} // namespace weir
