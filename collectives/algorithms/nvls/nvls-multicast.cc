// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-multicast.h"

namespace weir
{

namespace
{

constexpr double FLIT = 16;  // bytes
constexpr double LINE = 128; // bytes

constexpr uint32_t READ_REQUEST = 1;
constexpr uint32_t READ_RESPONSE = 1 + 8;
constexpr uint32_t WRITE = 2 + 8;

std::vector<LinkId>
LinksToSwitches(const Topology& topology, DeviceId gpu)
{
    std::vector<LinkId> links;
    for (LinkId id : topology.LinksFrom(gpu))
    {
        const Link& link = topology.GetLink(id);
        if (link.kind == LinkKind::NvLink &&
            topology.GetDevice(link.to).kind == DeviceKind::NvSwitch && link.opposite.IsValid())
        {
            links.push_back(id);
        }
    }
    return links;
}

} // namespace

MulticastGroup::MulticastGroup(Connector& connector, Routing& routing, std::vector<GpuId> gpus)
{
    const auto& topology = connector.GetCluster().GetTopology();
    for (GpuId gpu : gpus)
    {
        m_up.push_back(LinksToSwitches(topology, connector.GetCluster().GpuDevice(gpu)));
        m_down.emplace_back();
        for (LinkId link : m_up.back())
        {
            m_down.back().push_back(topology.GetLink(link).opposite);
        }
    }
    m_crossing = routing.Latency(connector.InsideNode(gpus[0], gpus[1]).route);
}

std::vector<LinkId>
MulticastGroup::Reduction(uint32_t head) const
{
    std::vector<LinkId> links;
    for (uint32_t gpu = 0; gpu < m_up.size(); ++gpu)
    {
        Add(links, gpu, true, READ_RESPONSE);
        Add(links, gpu, false, READ_REQUEST);
    }
    Add(links, head, true, READ_REQUEST);
    Add(links, head, false, READ_RESPONSE);
    return links;
}

std::vector<LinkId>
MulticastGroup::Store(uint32_t head) const
{
    std::vector<LinkId> links;
    Add(links, head, true, WRITE);
    for (uint32_t gpu = 0; gpu < m_down.size(); ++gpu)
    {
        Add(links, gpu, false, WRITE);
    }
    return links;
}

void
MulticastGroup::Add(std::vector<LinkId>& links, uint32_t gpu, bool up, uint32_t flits) const
{
    for (LinkId link : (up ? m_up : m_down)[gpu])
    {
        links.insert(links.end(), flits, link);
    }
}

double
MulticastWireFactor(const Cluster& cluster, const NodeCosts& costs)
{
    const LinkProfile& nvlink = cluster.GetSpec().node.nvlink;
    const double efficiency = costs.FactorOf(NodeCostKind::NvlsEfficiency);
    const double bundles = static_cast<double>(
        LinksToSwitches(cluster.GetTopology(), cluster.GpuDevice(GpuId(0))).size());
    return FLIT / LINE * nvlink.framing * nvlink.measured / bundles / efficiency;
}

} // namespace weir
