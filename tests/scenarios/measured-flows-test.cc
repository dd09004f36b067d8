// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/measured-flows.h"

#include "scenarios/yaml/yaml-node.h"

#include <gtest/gtest.h>
#include <map>

namespace weir
{
namespace
{

/**
 * Where HPCC's simulator, as run by netiken/m3, draws no random numbers it is an oracle to the
 * nanosecond: under DCTCP with a single threshold, HPCC and TIMELY. The source gives uncontended
 * completion times up to 2 ns above the simulator's whole nanoseconds. The remaining differences
 * come from the simulator's round-robin order after a queue pair ends.
 */
TEST(MeasuredFlows, EndAtTheNanosecondOfHpccsSimulator)
{
    const std::string folder = std::string(WEIR_SOURCE_DIR) + "/validation/m3-2024/";
    const YamlNode suite = YamlNode::Load(folder + "suite.yaml");
    const MeasuredFlows measured = ReadMeasuredFlows(suite.Get("flows"));
    std::map<std::string, std::size_t> flows;
    std::map<std::string, std::size_t> equal;
    for (const MeasuredFlowRun& run : measured.runs)
    {
        const std::string& control = run.classes.front();
        if (control == "dcqcn")
        {
            continue;
        }
        const std::vector<Time> times = CompletionTimesOf(measured.topology, run, 1);
        flows[control] += times.size();
        for (std::size_t i = 0; i < times.size(); i++)
        {
            const double less = run.flows[i].measured * 1e9 - times[i].ToSeconds() * 1e9;
            equal[control] += less > -0.5 && less < 2.5 ? 1 : 0;
        }
    }
    EXPECT_EQ(flows["timely"], 1600U);
    EXPECT_EQ(equal["timely"], flows["timely"]);
    EXPECT_EQ(flows["hpcc"], 2900U);
    EXPECT_GE(static_cast<double>(equal["hpcc"]), 0.99 * flows["hpcc"]);
    EXPECT_EQ(flows["dctcp"], 3700U);
    EXPECT_GE(static_cast<double>(equal["dctcp"]), 0.95 * flows["dctcp"]);
}

} // namespace
} // namespace weir
