// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/connection.h"

#include "collectives/channels/node-capacity.h"
#include "fabric/routing/path-sum.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr uint16_t ROCE_PORT_BASE = 0xc000; //!< RoCEv2 source ports: the dynamic range
constexpr uint32_t ROCE_PORT_COUNT = 0x4000;

/** Spreads queue pair numbers over the source ports (Knuth's multiplicative hash). */
uint16_t
SourcePort(uint32_t queuePair)
{
    const uint32_t mixed = queuePair * 2654435761U;
    return static_cast<uint16_t>(ROCE_PORT_BASE + (mixed >> 16) % ROCE_PORT_COUNT);
}

} // namespace

Connector::Connector(const Cluster& cluster, PathTable& paths, Router& router)
    : m_cluster(cluster),
      m_paths(paths),
      m_router(router),
      m_nicsOfLocalGpu(cluster.GpusPerNode()),
      m_portsOfLocalGpu(cluster.GpusPerNode())
{
}

Connection
Connector::InsideNode(GpuId from, GpuId to)
{
    const uint64_t key = static_cast<uint64_t>(from.Index()) << 32 | to.Index();
    const auto [it, isNew] = m_inside.try_emplace(key);
    if (isNew)
    {
        const DeviceId a = m_cluster.GpuDevice(from);
        const DeviceId b = m_cluster.GpuDevice(to);
        const bool nvlink = m_router.IsReachable(a, b, NVLINK_KINDS);
        const auto links = m_router.RouteOver(a, b, {}, nvlink ? NVLINK_KINDS : PCIE_KINDS);
        it->second = {m_paths.Intern(links),
                      nvlink ? ConnectionKind::NvLink : ConnectionKind::Pcie};
    }
    return it->second;
}

Connection
Connector::InsideNodeBy(const std::vector<GpuId>& gpus, GpuId from, GpuId to)
{
    Connection found = InsideNode(from, to);
    if (found.kind == ConnectionKind::NvLink)
    {
        return found;
    }
    Rate widest;
    for (const GpuId middle : gpus)
    {
        if (middle == from || middle == to || m_cluster.NodeOf(middle) != m_cluster.NodeOf(from))
        {
            continue;
        }
        const Connection there = InsideNode(from, middle);
        const Connection on = InsideNode(middle, to);
        if (there.kind != ConnectionKind::NvLink || on.kind != ConnectionKind::NvLink)
        {
            continue;
        }
        const Rate rate =
            std::min(m_paths.BottleneckRate(there.path), m_paths.BottleneckRate(on.path));
        if (rate > widest)
        {
            widest = rate;
            PathSum sum(m_paths);
            sum.Add(there.path);
            sum.Add(on.path);
            found = {sum.Intern(), ConnectionKind::NvLink};
        }
    }
    return found;
}

Connection
Connector::BetweenNodes(GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair)
{
    return {m_paths.Intern(LinksBetweenNodes(from, to, ports, queuePair)), ConnectionKind::Network};
}

std::vector<LinkId>
Connector::LinksBetweenNodes(GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair)
{
    const DeviceId outNic = m_cluster.NicDevice(m_cluster.NodeOf(from), ports.outNic);
    const DeviceId inNic = m_cluster.NicDevice(m_cluster.NodeOf(to), ports.inNic);
    const DeviceId proxy = m_cluster.GpuDevice(ports.proxy);
    std::vector<LinkId> links;
    if (ports.proxy != from)
    {
        Append(links, m_cluster.GpuDevice(from), proxy, NVLINK_KINDS);
    }
    Append(links, proxy, outNic, PCIE_KINDS);
    FlowTuple tuple;
    tuple.source = outNic.Index();
    tuple.destination = inNic.Index();
    tuple.sourcePort = SourcePort(queuePair);
    tuple.queuePair = static_cast<uint16_t>(queuePair);
    const auto network = m_router.RouteOver(outNic, inNic, tuple, NETWORK_KINDS);
    links.insert(links.end(), network.begin(), network.end());
    Append(links, inNic, m_cluster.GpuDevice(to), PCIE_KINDS);
    return links;
}

std::vector<LinkId>
Connector::LinksToNic(GpuId gpu, uint32_t nic)
{
    const DeviceId port = m_cluster.NicDevice(m_cluster.NodeOf(gpu), nic);
    return WayInside(m_cluster.GpuDevice(gpu), port, PCIE_KINDS);
}

std::vector<LinkId>
Connector::LinksFromNic(GpuId gpu, uint32_t nic)
{
    const DeviceId port = m_cluster.NicDevice(m_cluster.NodeOf(gpu), nic);
    return WayInside(port, m_cluster.GpuDevice(gpu), PCIE_KINDS);
}

NetworkPorts
Connector::PortsForSendRecv(GpuId from, GpuId to, uint32_t channel)
{
    const auto& inNics = PortsOf(to);
    const auto& outNics = PortsOf(from);
    if (inNics.empty() || outNics.empty())
    {
        throw std::runtime_error("node " + std::to_string(m_cluster.NodeOf(from)) + " and node " +
                                 std::to_string(m_cluster.NodeOf(to)) +
                                 " are not joined: no network ports");
    }
    const uint32_t inNic = inNics[channel % inNics.size()];
    const uint32_t firstGpu = m_cluster.NodeOf(from) * m_cluster.GpusPerNode();
    const uint32_t local = m_cluster.LocalIndexOf(from);
    for (uint32_t step = 0; step < m_cluster.GpusPerNode(); ++step)
    {
        const GpuId proxy(firstGpu + (local + step) % m_cluster.GpusPerNode());
        if (PortsOf(proxy)[channel % PortsOf(proxy).size()] != inNic)
        {
            continue;
        }
        if (proxy == from || InsideNode(from, proxy).kind == ConnectionKind::NvLink)
        {
            return {inNic, inNic, proxy};
        }
    }
    return {outNics[channel % outNics.size()], inNic, from};
}

const std::vector<uint32_t>&
Connector::NicsOf(GpuId gpu)
{
    // Nodes are wired alike, so one node's answer holds for all.
    const uint32_t local = m_cluster.LocalIndexOf(gpu);
    auto& nics = m_nicsOfLocalGpu[local];
    if (nics.empty() && m_cluster.NicsPerNode() > 0)
    {
        nics = NicsOfGpu(m_cluster, m_router, 0, local);
    }
    return nics;
}

const std::vector<uint32_t>&
Connector::PortsOf(GpuId gpu)
{
    auto& ports = m_portsOfLocalGpu[m_cluster.LocalIndexOf(gpu)];
    const auto& nics = NicsOf(gpu);
    if (ports.empty() && !nics.empty())
    {
        const uint32_t firstGpu = m_cluster.NodeOf(gpu) * m_cluster.GpusPerNode();
        std::size_t sharers = 0;
        for (uint32_t local = 0; local < m_cluster.GpusPerNode(); ++local)
        {
            const auto& theirs = NicsOf(GpuId(firstGpu + local));
            sharers += std::find(theirs.begin(), theirs.end(), nics.front()) != theirs.end();
        }
        ports.assign(nics.begin(), nics.begin() + (nics.size() + sharers - 1) / sharers);
    }
    return ports;
}

void
Connector::Append(std::vector<LinkId>& links, DeviceId from, DeviceId to, uint8_t kinds)
{
    const auto& part = WayInside(from, to, kinds);
    links.insert(links.end(), part.begin(), part.end());
}

const std::vector<LinkId>&
Connector::WayInside(DeviceId from, DeviceId to, uint8_t kinds)
{
    if (m_waysRevision != m_router.Revision())
    {
        m_ways.clear();
        m_waysRevision = m_router.Revision();
    }
    constexpr uint32_t DEVICE_BITS = 30;
    constexpr uint32_t KIND_SHIFT = 2 * DEVICE_BITS; // four bits of kinds above two devices
    const uint64_t key = uint64_t{kinds} << KIND_SHIFT |
                         static_cast<uint64_t>(from.Index()) << DEVICE_BITS | to.Index();
    const auto [it, isNew] = m_ways.try_emplace(key);
    if (isNew)
    {
        it->second = m_router.RouteOver(from, to, {}, kinds);
    }
    return it->second;
}

} // namespace weir
