// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/planner-state.h"

#include "collectives/nccl/nccl-channels.h"
#include "fabric/routing/routing.h"

#include <stdexcept>

namespace weir
{

namespace
{

/** The largest call, 2^58 bytes: what is reckoned of it, at most 16 x (LL128), fits 64 bits. */
constexpr Bytes LARGEST_CALL = Bytes::GiB(int64_t{1} << 28);

/** The sum of all hops of a channel. */
RouteId
SumOfHops(const RingChannel& channel, Routing& routing)
{
    RouteSum sum;
    for (const auto& hop : channel.hops)
    {
        sum.Add(hop.route);
    }
    return routing.AddSum(sum);
}

bool
HaveSameHops(const RingChannel& a, const RingChannel& b, const Routing& routing)
{
    for (std::size_t i = 0; i < a.hops.size(); ++i)
    {
        if (!routing.HaveSameLinks(a.hops[i].route, b.hops[i].route))
        {
            return false;
        }
    }
    return a.hops.size() == b.hops.size();
}

void
CheckTraffic(const Traffic& traffic, const CollectiveCall& call, const Communicator& communicator)
{
    if (call.op != CollectiveOp::AllToAll)
    {
        throw std::invalid_argument(std::string(ToString(call.op)) +
                                    " with traffic: only all-to-all has it");
    }
    if (traffic.Ranks() != communicator.Size() || traffic.LargestRow() != call.bytes)
    {
        throw std::invalid_argument(
            "traffic of " + std::to_string(traffic.Ranks()) + " ranks and at most " +
            std::to_string(traffic.LargestRow().Count()) + " bytes each, in a call of " +
            std::to_string(communicator.Size()) + " ranks and " +
            std::to_string(call.bytes.Count()) + " bytes");
    }
}
} // namespace

Group&
Planner::State::Known(CommunicatorId id)
{
    if (!id.IsValid() || id.Index() >= groups.size())
    {
        throw std::invalid_argument("Planner: no such communicator");
    }
    return *groups[id.Index()];
}

Communicator&
Planner::State::Built(CommunicatorId id)
{
    Group& group = Known(id);
    if (!group.built)
    {
        builder.Build(group.communicator, id.Index());
        group.communicator.ll128 =
            AllowsLl128(constants, group.communicator, routing, cluster.GetSpec().node);
        group.built = true;
    }
    return group.communicator;
}

/** Gives the first @p channels rings of a group their hops and paths. */
void
Planner::State::ConnectRings(CommunicatorId id, uint32_t channels)
{
    Communicator& communicator = Built(id);
    builder.Connect(communicator, id.Index(), channels);
    for (std::size_t c = communicator.ringRoutes.size(); c < channels; ++c)
    {
        const auto& channel = communicator.channels[c];
        const bool asBefore = c > 0 && HaveSameHops(channel, communicator.channels[c - 1], routing);
        communicator.ringRoutes.push_back(asBefore ? communicator.ringRoutes.back()
                                                   : SumOfHops(channel, routing));
    }
}

/** Gives a group what a call takes that runs as chosen: of many channels small calls take few. */
void
Planner::State::ConnectFor(const CollectiveCall& call, const NcclChoice& choice)
{
    switch (choice.algorithm->graph)
    {
    case ChannelGraph::Trees:
        builder.ConnectTrees(Built(call.communicator), call.communicator.Index(), choice.channels);
        return;
    case ChannelGraph::Rings:
        ConnectRings(call.communicator, choice.channels);
        return;
    case ChannelGraph::None:
        return;
    }
}

/** With everything that plans of @p call look at. */
Communicator&
Planner::State::BuiltFor(const CollectiveCall& call)
{
    return IsPointToPoint(call.op) ? Built(call.communicator) : BuiltWithTrees(call.communicator);
}

Communicator&
Planner::State::BuiltWithTrees(CommunicatorId id)
{
    Communicator& communicator = Built(id);
    Group& group = *groups[id.Index()];
    if (!group.hasTrees)
    {
        builder.BuildTrees(communicator, id.Index());
        if (communicator.collNetGraph.channels > 0)
        {
            // Which of CollNet's kinds there are shows on all channels.
            ConnectRings(id, static_cast<uint32_t>(communicator.channels.size()));
        }
        group.hasTrees = true;
    }
    return communicator;
}

const Traffic&
Planner::State::TrafficOf(TrafficId id) const
{
    if (!id.IsValid() || id.Index() >= traffics.size())
    {
        throw std::invalid_argument("Planner: no such traffic");
    }
    return *traffics[id.Index()];
}

void
Planner::State::Check(const CollectiveCall& call, const Communicator& communicator) const
{
    if (call.bytes < Bytes())
    {
        throw std::invalid_argument(
            "a collective of negative size: " + std::to_string(call.bytes.Count()) + " bytes");
    }
    if (call.bytes > LARGEST_CALL)
    {
        throw std::invalid_argument("found a collective of " + std::to_string(call.bytes.Count()) +
                                    " bytes, expected at most 2^58");
    }
    if (call.root >= communicator.Size())
    {
        throw std::invalid_argument("root " + std::to_string(call.root) + " is not one of the " +
                                    std::to_string(communicator.Size()) + " ranks of the group");
    }
    if (call.op == CollectiveOp::Send && communicator.Size() < 2)
    {
        throw std::invalid_argument("found send in a group of one rank, expected two");
    }
    if (call.traffic.IsValid())
    {
        CheckTraffic(TrafficOf(call.traffic), call, communicator);
    }
}

AlgorithmInputs
Planner::State::InputsOf(const CollectiveCall& call, const NcclChoice& choice)
{
    return {Known(call.communicator).communicator,
            call,
            choice.protocol,
            choice.channels,
            constants,
            times,
            routing,
            connector,
            settings,
            call.traffic.IsValid() ? &TrafficOf(call.traffic) : nullptr,
            &programs};
}

/** With what only a call that will be run looks at. */
AlgorithmInputs
Planner::State::DecidedInputsOf(const CollectiveCall& call, const NcclChoice& choice)
{
    ConnectFor(call, choice);
    AlgorithmInputs inputs = InputsOf(call, choice);
    if (choice.algorithm->senders != nullptr && inputs.communicator.nodes > 1)
    {
        inputs.senders = choice.algorithm->senders(inputs);
    }
    return inputs;
}

NcclChoice
Planner::State::Choose(const CollectiveCall& call, const Communicator& communicator)
{
    const auto candidates = FindAlgorithms(call.op, communicator, call.overrides.algorithm);
    const bool own = candidates.front()->choose != nullptr;
    NcclChoice choice =
        own ? NcclChoice{candidates.front()}
            : ChooseAsNccl(constants, communicator, call, candidates, settings.filter);
    if (own)
    {
        AlgorithmInputs inputs = InputsOf(call, choice);
        choice.algorithm->choose(inputs);
        choice.protocol = inputs.protocol;
        choice.channels = inputs.channels;
    }
    const uint32_t most = choice.algorithm->maxChannels(InputsOf(call, choice));
    if (!own)
    {
        const KernelWidth width = NcclKernelWidth(constants,
                                                  communicator,
                                                  choice.algorithm->algorithm,
                                                  call.op,
                                                  choice.protocol,
                                                  call.bytes,
                                                  most);
        choice.channels = call.overrides.channels.value_or(width.channels);
    }
    if (choice.channels == 0 || choice.channels > most)
    {
        throw std::invalid_argument("found " + std::to_string(choice.channels) + " channels for " +
                                    ToString(call.op) + ", expected 1 to " + std::to_string(most) +
                                    ", as this group has");
    }
    return choice;
}

} // namespace weir
