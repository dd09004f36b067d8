// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//     rail 0: leaf 0 --- spines --- rail 1: leaf 1 ... rail 7: leaf 7
//              |                          |                  |        400 Gb/s per port
//      server 0 ---> server 1 ---> server 2 ---> ... ---> server 11
//      [8 GPUs]      [8 GPUs]      [8 GPUs]               [8 GPUs]
//      stage 0       stage 1       stage 2                stage 11
//
// One training step of GPT-175B on 96 H800, as an ns-3 program: the experiment of
// scenarios/runs/gpt-175b-96-h800.yaml with helpers, attributes and trace sources in place of YAML.
// Each server is one of twelve pipeline stages (1F1B), its eight GPUs split every layer (tensor and
// sequence parallelism), and a step has 96 micro-batches. The program prints the duration of each
// step, the time breakdown of the first and the last rank, and calls and bytes of each collective.
//
// Try: train-gpt-96 --globalBatch=24 --steps=1

#include "ns3/boolean.h"
#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"

#include "scenarios/catalog.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdio>
#include <map>
#include <string>

using namespace ns3;

/** Number of calls and bytes of each collective operation. */
std::map<std::string, std::pair<uint64_t, double>> g_collectives;

/** Prints a step when it ends. */
void
PrintStep(uint32_t step, weir::Time started, weir::Time finished)
{
    std::printf("step %u: %.6f s\n", step, (finished - started).ToSeconds());
}

/** Counts a collective when it ends. */
void
CountCollective(uint32_t step,
                uint32_t group,
                const weir::StepOp& op,
                weir::Time firstArrival,
                weir::Time started,
                weir::Time finished)
{
    auto& [count, bytes] = g_collectives[weir::ToString(op.collective)];
    count++;
    bytes += op.bytes.ToDouble();
}

int
main(int argc, char* argv[])
{
    uint32_t globalBatch = 96;
    uint32_t steps = 2;
    std::string fidelity = "stream";
    CommandLine cmd(__FILE__);
    cmd.AddValue("globalBatch", "Samples per step", globalBatch);
    cmd.AddValue("steps", "Number of steps", steps);
    cmd.AddValue("fidelity", "analytical, stream or flow", fidelity);
    cmd.Parse(argc, argv);

    // The machine and the model are descriptions that Weir ships.
    const weir::Catalog catalog;
    const auto system = weir::ReadSystem(weir::YamlNode::Parse("hgx-h800", "system"), catalog);
    const auto model = weir::ReadModel(weir::YamlNode::Parse("gpt-175b", "model"), catalog);

    ClusterHelper clusterHelper(system.cluster);
    ClusterContainer cluster = clusterHelper.Install(12);

    TrainingJobHelper jobHelper(model, system.gpu);
    jobHelper.SetAttribute("Tensor", UintegerValue(8));
    jobHelper.SetAttribute("SequenceParallel", BooleanValue(true));
    jobHelper.SetAttribute("Pipeline", UintegerValue(12));
    jobHelper.SetAttribute("GlobalBatch", UintegerValue(globalBatch));
    jobHelper.SetAttribute("Steps", UintegerValue(steps));
    jobHelper.SetAttribute("Fidelity", StringValue(fidelity));
    Ptr<TrainingJob> job = jobHelper.Install(cluster);
    job->TraceConnectWithoutContext("StepFinished", MakeCallback(&PrintStep));
    job->TraceConnectWithoutContext("CollectiveFinished", MakeCallback(&CountCollective));

    Simulator::Run();

    std::printf("%-10s", "rank");
    for (std::size_t i = 0; i < weir::TIME_CATEGORY_COUNT; i++)
    {
        std::printf("%12s", weir::ToString(static_cast<weir::TimeCategory>(i)));
    }
    std::printf("  (seconds)\n");
    for (const uint32_t rank : {0u, job->GetNRanks() - 1})
    {
        std::printf("%-10u", rank);
        for (const weir::Time spent : job->GetBreakdown()[rank].spent)
        {
            std::printf("%12.6f", spent.ToSeconds());
        }
        std::printf("\n");
    }
    for (const auto& [name, total] : g_collectives)
    {
        std::printf("%-16s %8llu calls %12.3f GB\n",
                    name.c_str(),
                    static_cast<unsigned long long>(total.first),
                    total.second * 1e-9);
    }
    Simulator::Destroy();
    return 0;
}
