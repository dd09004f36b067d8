// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/training-run.h"

#include "fabric/kinds/no-fabric.h"
#include "fixed-time-engine.h"
#include "sample-machine.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

/** A single node of eight GPUs. */
ClusterSpec
OneNode()
{
    ClusterSpec spec = SampleMachineSpec(1, 1);
    spec.fabric.kind = NoFabric();
    return spec;
}

TrainingJobSpec
SmallJob()
{
    TrainingJobSpec spec;
    spec.name = "small";
    spec.network = SampleGpt(4, 1024, 16);
    spec.plan.tensor = 2;
    spec.plan.pipeline = 2;
    spec.plan.data = 2;
    spec.plan.globalBatch = 8;
    for (std::size_t gpu = 0; gpu < 8; gpu++)
    {
        spec.gpus.push_back(GpuId(gpu));
    }
    return spec;
}

std::string
RefusalOf(const TrainingJobSpec& spec, const Gpu& gpu)
{
    SampleMachine machine(OneNode());
    FixedTimeEngine engine;
    try
    {
        TrainingRun job(spec, gpu, machine.planner, engine);
    }
    catch (const std::invalid_argument& refusal)
    {
        return refusal.what();
    }
    return "accepted";
}

// The same GPUs in the same order are one communicator, so activations and gradients that a pair
// exchanges in one direction share it. Calls reach the engine with the group's communicator.
TEST(TrainingRun, RunsItsStepsOnItsCommunicators)
{
    SampleMachine machine(OneNode());
    FixedTimeEngine engine([](const CollectiveCall&) { return Time::Microseconds(20); });
    TrainingJobSpec spec = SmallJob();
    spec.steps = 3;
    spec.start = Time::Seconds(1);
    TrainingRun job(spec, SampleGpu(), machine.planner, engine);
    EngineSet engines;
    engines.Add(job.GetExecutor());
    engines.Add(engine);
    const Time end = engines.RunToEnd();
    ASSERT_TRUE(job.GetExecutor().IsFinished()) << job.GetExecutor().DescribeWaiting();
    const std::vector<Time>& steps = job.GetExecutor().StepTimes();
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_EQ(steps[0], steps[1]);
    EXPECT_EQ(end, Time::Seconds(1) + steps[0] + steps[1] + steps[2]);
    ASSERT_FALSE(engine.Calls().empty());
    for (const CollectiveCall& call : engine.Calls())
    {
        const Communicator& communicator = machine.planner.GetCommunicator(call.communicator);
        EXPECT_EQ(communicator.Size() == 2, call.bytes > Bytes(4)) << ToString(call.op);
    }
}

// Ranks 0 and 2 share a program, with rank 1 between them. Its all-reduce occupies one SM for each
// channel of the rank's group: one is within a node; the other spans two nodes, whose NICs take
// other numbers of channels than NVLinks.
TEST(TrainingRun, EachGroupOccupiesTheSmsOfItsChannels)
{
    SampleMachine machine(SampleMachineSpec(2, 2));
    StepGraph graph;
    graph.labels = {"all-reduce"};
    graph.groups = {{Rank(0), Rank(1)}, {Rank(2), Rank(3)}};
    StepOp op;
    op.kind = StepOpKind::Collective;
    op.bytes = Bytes::MiB(64);
    for (uint32_t program = 0; program < 2; program++)
    {
        graph.programs.emplace_back()
            .streams[static_cast<std::size_t>(StreamKind::TensorComm)]
            .push_back(op);
        graph.programStage.push_back(0);
    }
    for (uint32_t rank = 0; rank < 4; rank++)
    {
        graph.rankProgram.push_back(rank % 2);
        graph.rankGroups.push_back({rank / 2});
    }
    TrainingJobSpec spec;
    spec.plan.data = 4;
    spec.gpus = {GpuId(0), GpuId(1), GpuId(2), GpuId(8)};
    spec.recorded = std::move(graph);
    FixedTimeEngine engine;
    const TrainingRun job(std::move(spec), SampleGpu(), machine.planner, engine);
    const auto channels = [&](GpuId first, GpuId second) {
        CollectiveCall call;
        call.communicator = machine.planner.AddCommunicator({first, second});
        call.bytes = op.bytes;
        return machine.planner.Plan(call).channels;
    };
    ASSERT_NE(channels(GpuId(0), GpuId(1)), channels(GpuId(2), GpuId(8)));
    const StepProgram& program = job.GetGraph().programs[0];
    const StepOp& call = program.streams[static_cast<std::size_t>(StreamKind::TensorComm)][0];
    EXPECT_EQ(job.GetGraph().LoadOf(0, call).sms, channels(GpuId(0), GpuId(1)));
    EXPECT_EQ(job.GetGraph().LoadOf(1, call).sms, channels(GpuId(2), GpuId(8)));
}

TEST(TrainingRun, RefusesAnotherNumberOfGpus)
{
    TrainingJobSpec spec = SmallJob();
    spec.gpus.pop_back();
    EXPECT_EQ(RefusalOf(spec, SampleGpu()),
              "job small: found 7 GPUs, expected tensor * pipeline * data = 8");
}

TEST(TrainingRun, RefusesWhatDoesNotFitAndSaysWhy)
{
    Gpu gpu = SampleGpu();
    gpu.memory = Bytes::GiB(1);
    const std::string refusal = RefusalOf(SmallJob(), gpu);
    for (const char* part : {"job small: a GPU of pipeline stage ",
                             "weights ",
                             "gradients ",
                             "optimizer ",
                             "activations ",
                             "buffers ",
                             "expected at most the 1.0 GiB of sample"})
    {
        EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
    }
}

TEST(TrainingRun, RefusesAPlanThatCannotRun)
{
    TrainingJobSpec spec = SmallJob();
    spec.plan.tensor = 3;
    EXPECT_EQ(RefusalOf(spec, SampleGpu()), "tensor: found 3, expected a divisor of heads = 16");
}

} // namespace
} // namespace weir
