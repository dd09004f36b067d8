// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/node-cost.h"

#include <stdexcept>

namespace weir
{

const std::vector<NodeCostFigure>&
NodeCostFigures()
{
    using Kind = NodeCostKind;
    using Unit = NodeCostUnit;
    // Bounds: a tenth to ten times of all that was seen, rounded, and 0 where nothing may be it.
    static const std::vector<NodeCostFigure> figures{
        {Kind::LlCall, "llCall", Unit::Microseconds, 0.5, 50},
        {Kind::PcieEnd, "pcieEnd", Unit::Microseconds, 0, 50},
        {Kind::LlStep, "llStep", Unit::Microseconds, 0, 10},
        {Kind::LlPass, "llPass", Unit::Microseconds, 0, 10},
        {Kind::LlPcieStep, "llPcieStep", Unit::Microseconds, 0.1, 20},
        {Kind::SimplePcieStep, "simplePcieStep", Unit::Microseconds, 0.5, 100},
        {Kind::LlBlockRate, "llBlockRate", Unit::GBps, 0.3, 100},
        {Kind::Ll128BlockRate, "ll128BlockRate", Unit::GBps, 0.8, 200},
        {Kind::BlockFloor, "blockFloor", Unit::Factor, 0.1, 10},
        {Kind::BlockTime, "blockTime", Unit::Factor, 0.1, 10},
        {Kind::NvlsSync, "nvlsSync", Unit::Microseconds, 0.5, 50},
        {Kind::NvlsNetworkSync, "nvlsNetworkSync", Unit::Microseconds, 0, 100},
        {Kind::NvlsEfficiency, "nvlsEfficiency", Unit::Factor, 0.1, 2},
        {Kind::CollNetEfficiency, "collNetEfficiency", Unit::Factor, 0.1, 1},
        {Kind::KernelLaunch, "kernelLaunch", Unit::Microseconds, 0.4, 50},
        {Kind::BlockLaunch, "blockLaunch", Unit::Microseconds, 0, 20},
        {Kind::BlockLaunchSince19, "blockLaunchSince19", Unit::Microseconds, 0, 20},
        {Kind::IdleLaunch, "idleLaunch", Unit::Microseconds, 0, 300},
        {Kind::ProxyPost, "proxyPost", Unit::Microseconds, 0, 20},
        {Kind::ProxyLine, "proxyLine", Unit::Microseconds, 0, 0.1},
        {Kind::MessageInline, "messageInline", Unit::Bytes, 0, 4096},
        {Kind::MessageFetch, "messageFetch", Unit::Microseconds, 0, 500},
        {Kind::MessageEager, "messageEager", Unit::Bytes, 0, 1 << 30},
        {Kind::MessageRendezvous, "messageRendezvous", Unit::Microseconds, 0, 100},
        {Kind::MessageHandling, "messageHandling", Unit::Microseconds, 0, 100},
        {Kind::QueuePairRate, "queuePairRate", Unit::GBps, 0.1, 1000},
        {Kind::TreePortEfficiency, "treePortEfficiency", Unit::Factor, 0.1, 1},
    };
    return figures;
}

NodeCostKind
NodeCostKindOf(const std::string& key)
{
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        if (key == figure.key)
        {
            return figure.kind;
        }
    }
    throw std::invalid_argument("NodeCostKindOf: no cost is called '" + key + "'");
}

} // namespace weir
