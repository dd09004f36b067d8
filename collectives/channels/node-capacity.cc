// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/node-capacity.h"

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

NodeCapacity::NodeCapacity(Connector& connector,
                           const NcclConstants& constants,
                           std::vector<GpuId> gpus)
    : m_cluster(connector.GetCluster()),
      m_connector(connector),
      m_constants(constants),
      m_gpus(std::move(gpus)),
      m_profiles(NodeProfiles(m_cluster.GetSpec().node))
{
    for (uint32_t gpu = 0; gpu < Size(); ++gpu)
    {
        FindPaths(gpu);
        m_nicsOfGpu.push_back(connector.NicsOf(m_gpus[gpu]));
    }
    OrderNics();
}

/** Finds the paths from a GPU to all others. */
void
NodeCapacity::FindPaths(uint32_t gpu)
{
    const bool usesNvLink = m_connector.UsesNvLink();
    const bool relays = m_constants.ChannelsPassGpus() && usesNvLink;
    for (uint32_t to = 0; to < Size(); ++to)
    {
        m_gpuToGpu.emplace_back();
        m_isNvLink.push_back(false);
        m_isByGpu.push_back(false);
        if (gpu == to)
        {
            continue;
        }
        auto found = m_connector.FindInsideNode({}, m_gpus[gpu], m_gpus[to]);
        m_isNvLink.back() = found && found->kind == ConnectionKind::NvLink;
        if (relays && !m_isNvLink.back())
        {
            found = m_connector.FindInsideNode(m_gpus, m_gpus[gpu], m_gpus[to]);
            m_isByGpu.back() = found && found->kind == ConnectionKind::NvLink;
        }
        if (!found)
        {
            m_gpuToGpu.back() = {LinkId()}; // no path: see Exists
            continue;
        }
        for (const PathLink& each : m_connector.GetRouting().Links(found->route))
        {
            m_gpuToGpu.back().push_back(each.link);
        }
        Add(m_gpuToGpu.back());
    }
    double nvlinkOut = 0;
    double pcieOut = 0;
    const Topology& topology = m_cluster.GetTopology();
    for (const LinkId link : topology.LinksFrom(DeviceOf(gpu)))
    {
        const bool isNvLink = topology.GetLink(link).kind == LinkKind::NvLink;
        (isNvLink && usesNvLink ? nvlinkOut : pcieOut) += NcclBandwidth(link);
    }
    m_gpuBandwidth = std::max(m_gpuBandwidth, nvlinkOut > 0 ? nvlinkOut : pcieOut);
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
    const auto reaches = [&](uint32_t gpu, uint32_t nic) {
        return Exists(ToNetwork(gpu, nic)) && ReachOf(gpu, nic) <= reach;
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
    std::vector<uint32_t> gpus(Size());
    std::iota(gpus.begin(), gpus.end(), 0);
    return gpus;
}

DeviceId
NodeCapacity::DeviceOf(uint32_t gpu) const
{
    return m_cluster.GpuDevice(m_gpus[gpu]);
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
    const DeviceId port = m_cluster.NicDevice(m_cluster.NodeOf(m_gpus[gpu]), nic);
    const DeviceId from = outgoing ? DeviceOf(gpu) : port;
    const DeviceId to = outgoing ? port : DeviceOf(gpu);
    if (!m_connector.GetRouting().GetRouter().IsReachable(from, to, PCIE_KINDS))
    {
        links = {LinkId()}; // no path: see Exists
        return links;
    }
    links = m_connector.LinksToNic(m_gpus[gpu], nic, !outgoing);
    const auto network = PortLinks(nic, outgoing);
    links.insert(outgoing ? links.end() : links.begin(), network.begin(), network.end());
    Add(links);
    return links;
}

std::vector<LinkId>
NodeCapacity::PortLinks(uint32_t nic, bool outgoing) const
{
    const auto& topology = m_cluster.GetTopology();
    for (LinkId link :
         topology.LinksFrom(m_cluster.NicDevice(m_cluster.NodeOf(m_gpus.front()), nic)))
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
    return profile.ncclRate > Rate() ? 1
                                     : std::max(1.0,
                                                std::round(profile.PayloadRate().ToGBps() /
                                                           constants.ValueOf(NcclTable::Nvlink)));
}

double
NcclBandwidthOfNvLink(const LinkProfile& profile, const NcclConstants& constants)
{
    return profile.ncclRate > Rate()
               ? profile.ncclRate.ToGBps()
               : NcclLinksOfNvLink(profile, constants) * constants.ValueOf(NcclTable::Nvlink);
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
    const uint32_t links = link.kind == LinkKind::Network ? m_connector.PortsPerNic() : 1;
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

bool
NodeCapacity::HasRelayedNvLink() const
{
    return std::find(m_isByGpu.begin(), m_isByGpu.end(), true) != m_isByGpu.end();
}

} // namespace weir
