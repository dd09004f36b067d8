// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/nvls-graph.h"

#include "collectives/channels/node-capacity.h"

#include <algorithm>
#include <set>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t FEWEST_GPUS = 3; // in a node, nvls.cc
constexpr uint32_t MAX_HEADS = 32;  // NCCL_MAX_NVLS_ARITY, device.h

std::vector<NvlsHead>
HeadsOf(const NvlsNode& node, Connector& connector, bool interNode)
{
    std::vector<NvlsHead> heads;
    std::set<uint32_t> taken;
    for (uint32_t member = 0; member < node.gpus.size(); ++member)
    {
        if (!interNode)
        {
            heads.push_back({member, 0});
            continue;
        }
        for (uint32_t nic : connector.NicsOf(node.gpus[member]))
        {
            if (taken.insert(nic).second)
            {
                heads.push_back({member, nic});
                break;
            }
        }
    }
    return heads;
}

/** The speed that NCCL assumes for a NIC of @p ports ports with its PCIe slot, GB/s. */
double
NicSpeed(const NodeSpec& node, uint32_t ports)
{
    const LinkProfile& slot = node.nicPcie ? *node.nicPcie : node.pcie;
    const double pcie = slot.ncclRate > Rate() ? slot.ncclRate.ToGBps()
                                               : slot.rawRate.ToGBps() * NCCL_PCIE_OVER_RAW;
    const double port =
        node.nic.ncclRate > Rate() ? node.nic.ncclRate.ToGBps() : node.nic.rawRate.ToGBps();
    return std::min(port * ports, pcie);
}

bool
HasNvls(const NodeSpec& node, const NcclConstants& constants)
{
    return constants.Version().AtLeast(17) && constants.ComputeCapability() >= 90 &&
           node.wiring == NvLinkWiring::Switched;
}

} // namespace

std::vector<NvlsNode>
NvlsNodes(const Communicator& communicator, Connector& connector)
{
    std::vector<NvlsNode> nodes;
    const std::size_t found = communicator.nvlsGraph.channels;
    std::size_t fewest = found > 0 ? found : communicator.Size();
    for (NodeRanks& node : RanksByNode(communicator, connector.GetCluster()))
    {
        nodes.push_back({std::move(node), {}});
        nodes.back().heads = HeadsOf(nodes.back(), connector, communicator.nodes > 1);
        fewest = std::min(fewest, nodes.back().heads.size());
    }
    for (auto& node : nodes)
    {
        node.heads.resize(fewest);
    }
    return nodes;
}

GraphSpeed
SearchNvls(const Communicator& communicator, Connector& connector, const NcclConstants& constants)
{
    const NodeSpec& spec = connector.GetCluster().GetSpec().node;
    if (!HasNvls(spec, constants) || communicator.gpusPerNode < FEWEST_GPUS)
    {
        return {};
    }
    const auto nodes = NvlsNodes(communicator, connector);
    for (const auto& node : nodes)
    {
        if (node.gpus.size() < FEWEST_GPUS)
        {
            return {};
        }
    }
    const bool interNode = nodes.size() > 1;
    const auto& speeds = constants.SearchSpeeds(interNode);
    const double total = spec.nvlinksPerGpu * NcclBandwidthOfNvLink(spec.nvlink, constants);
    const auto heads = static_cast<uint32_t>(
        std::min({nodes.front().heads.size() * 1.0, MAX_HEADS * 1.0, total / speeds.back() - 1}));
    const double nvlink = total / (heads + 1);
    const double max =
        interNode ? std::min(nvlink, NicSpeed(spec, connector.PortsPerNic())) : nvlink;
    const auto fits = [](double limit) { return [limit](double speed) { return speed <= limit; }; };
    auto found = std::find_if(speeds.begin(), speeds.end(), fits(max));
    if (found == speeds.end() || heads < 2)
    {
        return {};
    }
    GraphSpeed graph{heads, *found, *found};
    while (interNode && found != speeds.begin() && graph.intra < 2 * graph.inter &&
           *(found - 1) <= nvlink)
    {
        graph.intra = *--found;
    }
    return graph;
}

} // namespace weir
