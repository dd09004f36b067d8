// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/node-capacity.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weir
{

namespace
{

/** NCCL's PCIe bandwidth over the raw line rate, Gen3 to Gen6: 12 of 16 GB/s for Gen3 x16. */
constexpr double NCCL_PCIE_OVER_RAW = 0.75;

/** Bandwidths are sums and differences of NCCL's decimal speeds; this much is rounding. */
constexpr double SPEED_TOLERANCE = 1e-6;

uint64_t
Key(uint32_t a, uint32_t b)
{
    return static_cast<uint64_t>(a) << 32 | b;
}

std::size_t
PcieDistance(const Cluster& cluster, Router& router, uint32_t node, uint32_t gpu, uint32_t nic)
{
    const GpuId id(node * cluster.GpusPerNode() + gpu);
    const auto links =
        router.RouteOver(cluster.GpuDevice(id), cluster.NicDevice(node, nic), {}, PCIE_KINDS);
    return links.size();
}

} // namespace

std::vector<uint32_t>
NicsOfGpu(const Cluster& cluster, Router& router, uint32_t node, uint32_t localGpu)
{
    std::vector<uint32_t> nics;
    std::size_t nearest = 0;
    for (uint32_t nic : cluster.NearestNics(localGpu))
    {
        const std::size_t distance = PcieDistance(cluster, router, node, localGpu, nic);
        if (nics.empty())
        {
            nearest = distance;
        }
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
                           std::vector<uint32_t> localGpus)
    : m_cluster(cluster),
      m_router(router),
      m_constants(constants),
      m_node(node),
      m_localGpus(std::move(localGpus))
{
    const std::size_t n = m_localGpus.size();
    const auto deviceOf = [&](uint32_t gpu) {
        return cluster.GpuDevice(GpuId(node * cluster.GpusPerNode() + m_localGpus[gpu]));
    };
    m_gpuToGpu.resize(n * n);
    m_isNvLink.resize(n * n);
    for (uint32_t a = 0; a < n; ++a)
    {
        for (uint32_t b = 0; b < n; ++b)
        {
            if (a == b)
            {
                continue;
            }
            const bool nvlink = router.IsReachable(deviceOf(a), deviceOf(b), NVLINK_KINDS);
            auto& links = m_gpuToGpu[a * n + b];
            links =
                router.RouteOver(deviceOf(a), deviceOf(b), {}, nvlink ? NVLINK_KINDS : PCIE_KINDS);
            m_isNvLink[a * n + b] = nvlink;
            Add(links);
        }
        double nvlinkOut = 0;
        double pcieOut = 0;
        for (LinkId link : cluster.GetTopology().LinksFrom(deviceOf(a)))
        {
            const bool nvlink = cluster.GetTopology().GetLink(link).kind == LinkKind::NvLink;
            (nvlink ? nvlinkOut : pcieOut) += NcclBandwidth(link);
        }
        m_gpuBandwidth = std::max(m_gpuBandwidth, nvlinkOut > 0 ? nvlinkOut : pcieOut);
        if (cluster.NicsPerNode() > 0)
        {
            m_nicsOfGpu.push_back(NicsOfGpu(cluster, router, node, m_localGpus[a]));
        }
    }
    OrderNics();
}

void
NodeCapacity::OrderNics()
{
    std::size_t turns = 0;
    for (const auto& nics : m_nicsOfGpu)
    {
        turns = std::max(turns, nics.size());
    }
    for (std::size_t turn = 0; turn < turns; ++turn)
    {
        for (const auto& nics : m_nicsOfGpu)
        {
            if (turn < nics.size() &&
                std::find(m_nics.begin(), m_nics.end(), nics[turn]) == m_nics.end())
            {
                m_nics.push_back(nics[turn]);
            }
        }
    }
}

std::vector<uint32_t>
NodeCapacity::GpusNear(uint32_t nic)
{
    std::vector<uint32_t> near;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (uint32_t gpu : AllGpus())
    {
        const std::size_t distance = ToNetwork(gpu, nic).size();
        if (distance < least)
        {
            near.clear();
            least = distance;
        }
        if (distance == least)
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

const std::vector<LinkId>&
NodeCapacity::BetweenGpus(uint32_t from, uint32_t to) const
{
    return m_gpuToGpu[from * m_localGpus.size() + to];
}

bool
NodeCapacity::IsNvLink(uint32_t from, uint32_t to) const
{
    return m_isNvLink[from * m_localGpus.size() + to];
}

const std::vector<LinkId>&
NodeCapacity::FromNetwork(uint32_t nic, uint32_t gpu)
{
    const auto [it, isNew] = m_fromNetwork.try_emplace(Key(nic, gpu));
    if (isNew)
    {
        const GpuId id(m_node * m_cluster.GpusPerNode() + m_localGpus[gpu]);
        auto links = PortLinks(nic, false);
        const auto pcie = m_router.RouteOver(
            m_cluster.NicDevice(m_node, nic), m_cluster.GpuDevice(id), {}, PCIE_KINDS);
        links.insert(links.end(), pcie.begin(), pcie.end());
        Add(links);
        it->second = std::move(links);
    }
    return it->second;
}

const std::vector<LinkId>&
NodeCapacity::ToNetwork(uint32_t gpu, uint32_t nic)
{
    const auto [it, isNew] = m_toNetwork.try_emplace(Key(nic, gpu));
    if (isNew)
    {
        const GpuId id(m_node * m_cluster.GpusPerNode() + m_localGpus[gpu]);
        auto links = m_router.RouteOver(
            m_cluster.GpuDevice(id), m_cluster.NicDevice(m_node, nic), {}, PCIE_KINDS);
        const auto port = PortLinks(nic, true);
        links.insert(links.end(), port.begin(), port.end());
        Add(links);
        it->second = std::move(links);
    }
    return it->second;
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

bool
NodeCapacity::Reserve(const std::vector<LinkId>& links, double speed)
{
    for (std::size_t i = 0; i < links.size(); ++i)
    {
        double& left = m_left[links[i].Index()];
        if (left < speed - SPEED_TOLERANCE)
        {
            Release({links.begin(), links.begin() + i}, speed);
            return false;
        }
        left -= speed;
    }
    return true;
}

void
NodeCapacity::Release(const std::vector<LinkId>& links, double speed)
{
    for (LinkId link : links)
    {
        m_left[link.Index()] += speed;
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
        best = std::max(best, links.empty() ? 0 : Width(links));
    }
    return best;
}

void
NodeCapacity::Reset()
{
    m_left = m_capacity;
}

double
NodeCapacity::NcclBandwidth(LinkId link) const
{
    const auto& topology = m_cluster.GetTopology();
    const auto& spec = m_cluster.GetSpec().node;
    const Link& l = topology.GetLink(link);
    switch (l.kind)
    {
    case LinkKind::NvLink:
        return std::round(l.rate / spec.nvlink.PayloadRate()) * m_constants.NvLinkBandwidth();
    case LinkKind::Pcie: {
        const bool uplink = topology.GetProfileName(l.profile) == spec.pcieUplink.name &&
                            spec.pcieUplink.name != spec.pcie.name;
        const LinkProfile& profile = uplink ? spec.pcieUplink : spec.pcie;
        return l.rate / profile.PayloadRate() * profile.rawRate.ToGBps() * NCCL_PCIE_OVER_RAW;
    }
    case LinkKind::Network:
        return l.rate / spec.nic.PayloadRate() * spec.nic.rawRate.ToGBps();
    case LinkKind::InterSocket:
        break;
    }
    return l.rate.ToGBps();
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

} // namespace weir
