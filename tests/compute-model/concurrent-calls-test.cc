// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-calls.h"

#include "collectives/engines/analytical-engine.h"
#include "collectives/engines/stream-engine.h"
#include "compute-model/graph/step-builder.h"
#include "fabric/fabric.h"

#include "fabric/routing/routing-policies.h"
#include "sample-machine.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace weir
{
namespace
{

ClusterSpec
TwoNodes(uint32_t nics)
{
    ClusterSpec spec = SampleMachineSpec(2, 8);
    spec.node.nics = nics;
    return spec;
}

/**
 * GPT on 16 GPUs with tensor ranks in a node and replicas of them, and the communicators of both.
 */
struct Step
{
    Step(SampleMachine& machine, uint32_t tensor)
    {
        ParallelPlan plan;
        plan.tensor = tensor;
        plan.data = 16 / tensor;
        plan.globalBatch = plan.data;
        plan.overlapGradients = false;
        graph = BuildTransformerStep(SampleGpt(4, 1024, 16), plan, SampleGpu());
        for (uint32_t rank = 0; rank < plan.Ranks(); rank++)
        {
            gpus.emplace_back(rank);
        }
        for (const auto& group : graph.groups)
        {
            std::vector<GpuId> members;
            for (const Rank rank : group)
            {
                members.push_back(gpus[rank.Index()]);
            }
            communicators.push_back(machine.planner.AddCommunicator(members));
        }
        kinds =
            PlanCommunication(graph, communicators, gpus, machine.planner, SampleGpu().memoryRate);
    }

    StepGraph graph;
    std::vector<GpuId> gpus; //!< by rank
    std::vector<CommunicatorId> communicators;
    std::vector<uint32_t> kinds;
};

std::vector<CallClass>
CallsOf(SampleMachine& machine, uint32_t tensor)
{
    const Step step(machine, tensor);
    return ConcurrentCalls(step.graph, RankFold(step.graph, {}, step.kinds), step.communicators);
}

/** Runs the calls of an engine and records their ends. */
class Ends : public CollectiveClient
{
  public:
    explicit Ends(std::size_t calls)
        : m_ends(calls)
    {
    }

    void OnCollectiveDone(uint64_t token, Time now) override
    {
        m_ends[token] = now;
    }

    Time Of(std::size_t call) const
    {
        return m_ends[call];
    }

  private:
    std::vector<Time> m_ends;
};

// Only one of the groups on equivalent GPUs of a node is planned; planning every group gives the
// same times for each kind.
TEST(PlanCommunication, KindsAreWhatPlanningEveryGroupSays)
{
    for (const uint32_t tensor : {1U, 2U, 8U})
    {
        SampleMachine machine(TwoNodes(4), StaticRouting());
        const Step step(machine, tensor);
        std::map<uint32_t, std::vector<Time>> timesOf; // by kind
        for (std::size_t group = 0; group < step.graph.groups.size(); group++)
        {
            std::vector<Time> times;
            for (const auto bytes : {Bytes(4), Bytes::MiB(1), Bytes::GiB(1)})
            {
                CollectiveCall call;
                call.communicator = step.communicators[group];
                call.bytes = bytes;
                times.push_back(machine.planner.Plan(call).duration);
            }
            const auto [known, isNew] = timesOf.try_emplace(step.kinds[group], times);
            EXPECT_EQ(known->second, times) << "group " << group << ", tensor " << tensor;
        }
    }
}

// Eight data-parallel groups, one per tensor rank, reduce across the two nodes concurrently. With
// one NIC per GPU they share nothing; with four NICs two groups share each NIC, and their bytes
// move at its rate.
TEST(ConcurrentCalls, ShareANic)
{
    for (const uint32_t nics : {8U, 4U})
    {
        SampleMachine machine(TwoNodes(nics), StaticRouting());
        AnalyticalEngine engine(machine.planner);
        CollectiveCall one;
        for (const CallClass& callClass : CallsOf(machine, 8))
        {
            engine.ExpectConcurrent(callClass);
            const auto& calls = callClass.calls;
            one = calls.size() == 8 && calls[0].bytes > one.bytes ? calls[0] : one; // gradients
        }
        const CollectivePlan& plan = machine.planner.Plan(one);
        Ends ends(1);
        engine.Start(one, &ends, 0, Time());
        engine.AdvanceTo(Time::Seconds(1));
        const Time uncontended = plan.duration - plan.latency;
        const Time shared =
            plan.legs.front().bytes * 2 / machine.cluster.GetSpec().node.nic.rawRate;
        EXPECT_NEAR((ends.Of(0) - plan.latency).ToMicroseconds(),
                    (nics == 8 ? uncontended : shared).ToMicroseconds(),
                    1e-6)
            << nics << " NICs";
    }
}

// With one replica per GPU there is a single group, so no call has concurrent ones.
TEST(ConcurrentCalls, AreSingleOfOneGroup)
{
    SampleMachine machine(TwoNodes(4), StaticRouting());
    const auto classes = CallsOf(machine, 1);
    ASSERT_FALSE(classes.empty());
    for (const CallClass& callClass : classes)
    {
        EXPECT_EQ(callClass.calls.size(), 1U);
    }
}

// Single calls, each in a class of its own, start at random times over the same NICs and end like
// fluid flows that share the NICs: in both models rates change when a call starts or stops moving
// bytes, and all legs of a call end simultaneously here. Each change may round by a picosecond.
TEST(AnalyticalEngine, SharesLinksInTimeAsFluidDoes)
{
    constexpr std::size_t CALLS = 40;
    std::mt19937 random(7);
    for (int round = 0; round < 5; round++)
    {
        Fabric fabric(TwoNodes(2));
        Planner planner(fabric.GetCluster(), fabric.GetRouting());
        AnalyticalEngine analytical(planner);
        StreamEngine stream(planner, fabric.GetTransport());
        std::vector<CollectiveCall> calls;
        std::vector<Time> starts;
        for (std::size_t i = 0; i < CALLS; i++)
        {
            const auto from = static_cast<uint32_t>(random() % 8);
            CollectiveCall call;
            call.communicator = planner.AddCommunicator({GpuId(from), GpuId(8 + random() % 8)});
            call.op = CollectiveOp::Send;
            call.bytes = Bytes::MiB(1 + static_cast<int64_t>(i)); // all sizes differ
            calls.push_back(call);
            starts.push_back(Time::Microseconds(static_cast<double>(random() % 40000)));
            analytical.ExpectConcurrent({{call}, {}});
        }
        Ends planned(CALLS);
        Ends fluid(CALLS);
        EngineSet engines;
        engines.Add(analytical);
        engines.Add(stream);
        engines.Add(fabric.GetTransport());
        std::vector<std::size_t> order(CALLS);
        for (std::size_t i = 0; i < CALLS; i++)
        {
            order[i] = i;
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return starts[a] < starts[b];
        });
        for (const std::size_t i : order)
        {
            engines.RunUntil(starts[i]);
            analytical.Start(calls[i], &planned, i, starts[i]);
            stream.Start(calls[i], &fluid, i, starts[i]);
        }
        engines.RunToEnd();
        for (std::size_t i = 0; i < CALLS; i++)
        {
            EXPECT_NEAR(planned.Of(i).ToMicroseconds(), fluid.Of(i).ToMicroseconds(), 1e-5)
                << "call " << i << " of round " << round;
        }
    }
}

} // namespace
} // namespace weir
