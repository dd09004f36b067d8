// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_PLANNER_STATE_H
#define WEIR_COLLECTIVES_PLANNER_STATE_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/channel-builder.h"
#include "collectives/nccl/nccl-choice.h"
#include "collectives/nccl/nccl-tuning.h"
#include "collectives/planner.h"

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

/** A running hash: splitmix64's finaliser over the running sum. */
inline void
MixIn(uint64_t& hash, uint64_t value)
{
    hash += value + 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 27;
}

struct CallHash
{
    std::size_t operator()(const CollectiveCall& call) const
    {
        const auto& o = call.overrides;
        uint64_t hash = static_cast<uint64_t>(call.bytes.Count());
        MixIn(hash, static_cast<uint64_t>(call.communicator.Index()) << 32 | call.root);
        MixIn(hash, call.traffic.IsValid() ? call.traffic.Index() + 1 : 0);
        MixIn(hash,
              static_cast<uint64_t>(o.channels ? *o.channels + 1 : 0) << 24 |
                  static_cast<uint64_t>(o.protocol ? static_cast<int>(*o.protocol) + 1 : 0) << 16 |
                  static_cast<uint64_t>(o.algorithm ? static_cast<int>(*o.algorithm) + 1 : 0) << 8 |
                  static_cast<uint64_t>(call.op));
        return hash;
    }
};

struct GroupHash
{
    std::size_t operator()(const std::vector<GpuId>& gpus) const
    {
        uint64_t hash = gpus.size();
        for (GpuId gpu : gpus)
        {
            MixIn(hash, gpu.Index());
        }
        return hash;
    }
};

/** A communicator and what of it has been searched. */
struct Group
{
    Communicator communicator;
    bool built{false};    //!< channels, of which as many have hops as calls have asked for
    bool hasTrees{false}; //!< trees and the other graphs, which only collectives look at
};

/** What a Planner knows, and how it gets to know it. */
struct Planner::State
{
    State(const Cluster& aCluster, Routing& aRouting, NcclSettings aSettings)
        : cluster(aCluster),
          routing(aRouting),
          settings(std::move(aSettings)),
          constants(NcclVersion::Parse(settings.version),
                    aCluster.GetSpec().node.computeCapability,
                    aCluster.GetSpec().node.cpu,
                    MeasuredBlockTimes(NodeCosts(aCluster.GetSpec().node))),
          times(aCluster.GetSpec().node),
          connector(aCluster, aRouting, settings.p2pLevel),
          builder(aCluster, aRouting.GetRouter(), connector, constants, settings)
    {
    }

    Group& Known(CommunicatorId id);
    Communicator& Built(CommunicatorId id);
    Communicator& BuiltFor(const CollectiveCall& call);
    Communicator& BuiltWithTrees(CommunicatorId id);
    void ConnectRings(CommunicatorId id, uint32_t channels);
    void ConnectFor(const CollectiveCall& call, const NcclChoice& choice);
    const Traffic& TrafficOf(TrafficId id) const;
    void Check(const CollectiveCall& call, const Communicator& communicator) const;
    NcclChoice Choose(const CollectiveCall& call, const Communicator& communicator);
    AlgorithmInputs InputsOf(const CollectiveCall& call, const NcclChoice& choice);
    AlgorithmInputs DecidedInputsOf(const CollectiveCall& call, const NcclChoice& choice);

    const Cluster& cluster;
    Routing& routing;
    const NcclSettings settings;
    NcclConstants constants;
    KernelTimes times;
    Connector connector;
    ChannelBuilder builder;
    std::vector<std::unique_ptr<Group>> groups; //!< by CommunicatorId
    std::unordered_map<std::vector<GpuId>, CommunicatorId, GroupHash> ids;
    std::vector<std::unique_ptr<Traffic>> traffics; //!< by TrafficId
    std::vector<ImportedProgram> programs;
    bool playsFirstPasses{true}; //!< see Planner::KeepToClosedForms
    std::unordered_map<CollectiveCall, std::unique_ptr<CollectivePlan>, CallHash> plans;
    std::unordered_map<CollectiveCall, std::unique_ptr<Schedule>, CallHash> schedules;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_PLANNER_STATE_H
