// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"
#include "scenarios/bound/random-draws.h"
#include "scenarios/machine/calibrate-machine.h"
#include "scenarios/machine/machine-system.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/yaml/size-list.h"
#include "scratch-folder.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Number of nodes, and of GPUs per node. */
using Group = std::pair<uint32_t, uint32_t>;

/**
 * Synthetic measurements of all-reduces over @p groups of a machine: Weir's times with random
 * noise.
 */
std::vector<MeasuredCollective>
SyntheticRuns(const YamlNode& machine, double noise, const std::vector<Group>& groups)
{
    std::vector<MeasuredCollective> runs;
    RandomDraws draws(7, 0);
    for (const auto& [nodes, gpus] : groups)
    {
        MeasuredCollective run;
        run.name = std::to_string(nodes) + "x" + std::to_string(gpus);
        run.sweep.cluster = ReadSystem(machine, Catalog()).cluster;
        run.sweep.cluster.nodes = nodes;
        run.sweep.gpusPerNode = gpus;
        run.sweep.sizes = ParseSizeList("8B:1GiB:x4");
        for (const CollectivePoint& point : RunCollectiveSweep(run.sweep))
        {
            run.measured.push_back(point.time.ToSeconds() * draws.LogUniform(1 - noise, 1 + noise));
        }
        runs.push_back(std::move(run));
    }
    return runs;
}

const FittedParameter&
Find(const MachineCalibration& calibration, const std::string& name)
{
    return *std::find_if(calibration.parameters.begin(),
                         calibration.parameters.end(),
                         [&](const auto& each) { return each.parameter.Name() == name; });
}

/**
 * The machine of the synthetic runs. Its ports are slower than two queue pairs, 42.8 GB/s. Runs
 * with eight GPUs per node only would not distinguish slow ports from slow queue pairs.
 */
const YamlNode&
TrueMachine()
{
    static const YamlNode machine =
        SystemWith("hgx-h100",
                   {{"node.nic.measured", "0.75"},
                    {"node.nic.source", "a test"},
                    {"node.costs.llCall", "{value: 6us, source: a test}"},
                    {"node.costs.messageFetch", "{value: 9us, source: a test}"},
                    {"node.costs.nvlsSync", "{value: 7us, source: a test}"}});
    return machine;
}

const MachineCalibration&
Calibrated()
{
    static const MachineCalibration calibration = CalibrateMachine(
        {"hgx-h100",
         SyntheticRuns(TrueMachine(), 0.01, {{1, 2}, {1, 8}, {2, 1}, {2, 8}, {4, 8}}),
         2},
        Catalog(),
        [] {});
    return calibration;
}

/** Runs that Weir made with other figures give these figures back: the truth is known. */
TEST(CalibrateMachine, RecoversKnownFigures)
{
    const std::vector<std::pair<const char*, double>> truth{{"nic.measured", 0.75},
                                                            {"costs.llCall", 6},
                                                            {"costs.messageFetch", 9},
                                                            {"costs.nvlsSync", 7}};
    for (const auto& [name, value] : truth)
    {
        const FittedParameter& found = Find(Calibrated(), name);
        ASSERT_TRUE(found.isDetermined) << name;
        EXPECT_NEAR(found.value / value, 1, std::max(0.03, 4 * found.error)) << name;
        EXPECT_LT(found.error, 0.2) << name;
    }
}

/**
 * Figures on which all-reduces over NVSwitches do not depend keep their values and are reported as
 * undetermined.
 */
TEST(CalibrateMachine, KeepsWhatRunsDoNotDetermine)
{
    for (const char* name : {"costs.simplePcieStep", "costs.llPcieStep", "costs.idleLaunch"})
    {
        const FittedParameter& found = Find(Calibrated(), name);
        EXPECT_FALSE(found.isDetermined) << name;
        EXPECT_EQ(found.value, found.parameter.initial) << name;
        EXPECT_EQ(found.alike, "") << name;
    }
}

/** Errors shrink to the noise, both of the fitted points and of the held-out ones. */
TEST(CalibrateMachine, PredictsHeldOutRuns)
{
    const ClassErrors& all = Calibrated().classes.back();
    const auto median = [](std::vector<double> errors) {
        for (double& error : errors)
        {
            error = std::abs(error);
        }
        std::sort(errors.begin(), errors.end());
        return errors[errors.size() / 2];
    };
    EXPECT_GT(median(all.before), 0.05);
    EXPECT_LT(median(all.after), 0.01);
    EXPECT_LT(median(all.heldOut), 0.03);
    EXPECT_EQ(Calibrated().parts, 5);
}

/** The written system has the fitted figures, everything else from its base, and bounds. */
TEST(CalibrateMachine, WritesASystem)
{
    const ScratchFolder folder;
    const std::string path = folder / "mine.yaml";
    std::ofstream(path) << ToSystemYaml(Calibrated(), {"hgx-h100", "mine", "a test", {"a", "b"}});
    const YamlNode reference = YamlNode::ParseArgument(path, "--system");
    const ClusterSpec mine = ReadSystem(reference, Catalog()).cluster;
    EXPECT_EQ(mine.name, "mine");
    EXPECT_NEAR(mine.node.nic.measured, Find(Calibrated(), "nic.measured").value, 1e-4);
    EXPECT_NE(mine.node.nic.source.find("weir calibrate"), std::string::npos);
    EXPECT_EQ(mine.node.gpus, 8);
    const MeasuredBounds bounds(reference, Catalog());
    EXPECT_EQ(bounds.GetOwner(), "this machine");
    const auto bound = bounds.FindCollective({CollectiveOp::AllReduce, Bytes(8), 4}, 0.9);
    ASSERT_TRUE(bound.has_value());
    EXPECT_LT(bound->lower, bound->upper);
    const auto lacks = [&](CollectiveOp op, uint32_t nodes) {
        EXPECT_FALSE(bounds.FindCollective({op, Bytes(8), nodes}, 0.9).has_value());
        return bounds.DescribeUnmeasured({op, Bytes(8), nodes}, 0.9);
    };
    EXPECT_EQ(lacks(CollectiveOp::AllToAll, 4), "all-to-all, measured: all-reduce");
    EXPECT_EQ(lacks(CollectiveOp::AllReduce, 9), "9 nodes, measured: 1, 2, 4");
    for (const uint32_t nodes : {1, 2, 8})
    {
        EXPECT_EQ(bounds.DescribeUnmeasured({CollectiveOp::AllReduce, Bytes(8), nodes}, 0.9), "");
    }
}

/** A system without bounds uses those of unseen clusters. */
TEST(CalibrateMachine, OtherSystemsHaveTheBoundsOfUnseenClusters)
{
    const MeasuredBounds bounds(YamlNode::ParseArgument("hgx-h100", "--system"), Catalog());
    EXPECT_EQ(bounds.GetOwner(), "unseen clusters");
}

/**
 * Ports slower than two queue pairs are found, although the queue pairs are the bottleneck at the
 * start of the fit, where the derivatives of the times with respect to the port rate are zero.
 */
TEST(CalibrateMachine, FindsWhatBindsElsewhere)
{
    const YamlNode machine =
        SystemWith("hgx-h100", {{"node.nic.measured", "0.8"}, {"node.nic.source", "a test"}});
    const MachineCalibration calibration = CalibrateMachine(
        {"hgx-h100", SyntheticRuns(machine, 0, {{2, 8}, {4, 8}}), 2}, Catalog(), [] {});
    const FittedParameter& port = Find(calibration, "nic.measured");
    EXPECT_TRUE(port.isDetermined);
    EXPECT_NEAR(port.value, 0.8, 0.02);
}

/** The same runs give the same file, for any number of threads. */
TEST(CalibrateMachine, IsTheSameTwice)
{
    const auto text = [](uint32_t threads) {
        const auto runs = SyntheticRuns(SystemWith("polaris", {}), 0.02, {{1, 2}, {1, 4}});
        const MachineFitSpec spec{"polaris", runs, threads};
        return ToSystemYaml(CalibrateMachine(spec, Catalog(), [] {}), {"polaris", "a", "b", {"c"}});
    };
    EXPECT_EQ(text(1), text(2));
}

TEST(CalibrateMachine, RefusesNoRuns)
{
    EXPECT_THROW(CalibrateMachine({"polaris", {}, 1}, Catalog(), [] {}), std::invalid_argument);
}

/** An invalid run is named. */
TEST(CalibrateMachine, NamesTheRunThatCannotBe)
{
    MeasuredCollective run;
    run.name = "measured";
    run.sweep.cluster = ReadSystem(SystemWith("hgx-h100", {}), Catalog()).cluster;
    run.sweep.cluster.nodes = 1;
    run.sweep.overrides.algorithm = Algorithm::Pat; // only for all-gather and reduce-scatter
    run.sweep.sizes = {Bytes(8)};
    run.measured = {1e-5};
    EXPECT_NE(RefusalOf([&] {
                  CalibrateMachine({"hgx-h100", {run}, 1}, Catalog(), [] {});
              }).find("run measured: found no algorithm 'pat'"),
              std::string::npos);
}

/** Zero costs and thresholds are not parameters; all parameters start within their ranges. */
TEST(MachineParameter, BeginsWithinItsRange)
{
    for (const char* name : {"hgx-h100", "polaris", "a100-pcie-hdr", "alps-gh200"})
    {
        const NodeSpec node = ReadSystem(SystemWith(name, {}), Catalog()).cluster.node;
        const auto parameters = ParametersOf(node);
        ASSERT_FALSE(parameters.empty()) << name;
        for (const MachineParameter& each : parameters)
        {
            EXPECT_GE(each.initial, each.min) << name << " " << each.key;
            EXPECT_LE(each.initial, each.max) << name << " " << each.key;
            EXPECT_NE(each.Name(), "costs.messageInline");
        }
    }
}

} // namespace
} // namespace weir
