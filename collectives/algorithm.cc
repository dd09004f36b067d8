// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithm.h"

#include "collectives/protocol.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace weir
{

const CollectiveAlgorithm&
FindAlgorithm(const CollectiveCall& call)
{
    const std::array<const CollectiveAlgorithm*, 3> algorithms{
        &RING_ALGORITHM,
        &RING_BROADCAST_ALGORITHM,
        &SEND_RECV_ALGORITHM,
    };
    const auto& wanted = call.overrides.algorithm;
    for (const auto* each : algorithms)
    {
        if (each->supports(call.op) && (!wanted || *wanted == each->algorithm))
        {
            return *each;
        }
    }
    throw std::invalid_argument(std::string("no algorithm ") +
                                (wanted ? std::string("'") + ToString(*wanted) + "' " : "") +
                                "for " + ToString(call.op));
}

void
AddLeg(std::vector<StreamLeg>& legs, PathId path, Bytes bytes, Rate cap)
{
    for (auto& leg : legs)
    {
        if (leg.path == path)
        {
            leg.bytes += bytes;
            leg.cap = leg.cap + cap;
            leg.weight += 1;
            return;
        }
    }
    legs.push_back({path, bytes, cap, 1});
}

Rate
ChannelCap(const AlgorithmInputs& in)
{
    const double efficiency = ShapeOf(in.protocol).efficiency;
    const uint32_t nodes = in.communicator.nodes;
    double payload = std::numeric_limits<double>::infinity(); // GB/s
    if (in.protocol == Protocol::Ll)
    {
        payload = in.constants.LlMaxBandwidth(nodes) / in.channels;
    }
    else if (in.protocol == Protocol::Ll128)
    {
        const auto all = static_cast<double>(in.communicator.channels.size());
        payload = in.constants.Ll128ChannelBandwidth(nodes) * in.communicator.searchChannels / all;
    }
    return Rate::GBps(std::min(payload / efficiency, in.constants.BlockBandwidth()));
}

Time
HopLatency(const NcclConstants& constants,
           const Communicator& communicator,
           Protocol protocol,
           const Connection& hop,
           const PathTable& paths)
{
    const Time step =
        constants.StepLatency(hop.kind, protocol, communicator.nodes, communicator.gpusPerNode);
    return std::max(Time(), step - ReferencePropagation(hop.kind)) + paths.Latency(hop.path);
}

} // namespace weir
