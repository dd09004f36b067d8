// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/timeline.h"

#include "scenarios/simulation/run-scenario.h"
#include "scratch-folder.h"
#include "small-scenario.h"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace weir
{
namespace
{

using Json = nlohmann::json;

Json
RunTimeline(const std::vector<std::pair<std::string, std::string>>& settings)
{
    const ScratchFolder folder;
    Scenario scenario = SmallScenario(settings);
    scenario.output.timeline = true;
    scenario.output.timelineFile = folder / "t.json";
    RunScenario(scenario);
    EXPECT_EQ(folder.Files(), 1U);
    return Json::parse(ScratchFolder::Read(folder / "t.json"));
}

struct Span
{
    double start;
    double end;
};

/** Perfetto's rule: two events of one thread are disjoint or nested. */
void
ExpectNesting(const Json& trace)
{
    constexpr double HALF_PICOSECOND = 5e-7; // in microseconds
    std::map<std::pair<int, int>, std::vector<Span>> threads;
    for (const auto& event : trace["traceEvents"])
    {
        if (event["ph"] == "X")
        {
            const double start = event["ts"];
            threads[{event["pid"], event["tid"]}].push_back(
                {start, start + event["dur"].get<double>()});
        }
    }
    for (auto& [thread, spans] : threads)
    {
        std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
            return a.start != b.start ? a.start < b.start : a.end > b.end;
        });
        std::vector<double> open;
        for (const auto& span : spans)
        {
            while (!open.empty() && open.back() <= span.start + HALF_PICOSECOND)
            {
                open.pop_back();
            }
            ASSERT_TRUE(open.empty() || span.end <= open.back() + HALF_PICOSECOND)
                << "process " << thread.first << " thread " << thread.second << " at "
                << span.start;
            open.push_back(span.end);
        }
    }
    EXPECT_FALSE(threads.empty());
}

TEST(Timeline, EventsOfAThreadNestInEveryFidelity)
{
    for (const char* fidelity : {"analytical", "stream", "flow"})
    {
        ExpectNesting(RunTimeline({{"network.fidelity", fidelity}}));
    }
}

/** Fields that PyTorch's trace tools read: ranks, streams, and collectives with their groups. */
TEST(Timeline, HasKinetosFields)
{
    const Json trace = RunTimeline({});
    EXPECT_EQ(trace["distributedInfo"]["world_size"], 16);
    EXPECT_EQ(trace["distributedInfo"]["rank"], 0);
    std::set<int> processes;
    bool sawTensorGroup = false;
    for (const auto& event : trace["traceEvents"])
    {
        processes.insert(event["pid"].get<int>());
        if (event["ph"] == "X" && event["args"].contains("Process Group Ranks"))
        {
            EXPECT_EQ(event["cat"], "kernel");
            EXPECT_TRUE(event["args"].contains("Collective name"));
            EXPECT_EQ(event["name"].get<std::string>().rfind("ncclDevKernel_", 0), 0U);
            sawTensorGroup = sawTensorGroup ||
                             event["args"]["Process Group Ranks"] == "[0, 1, 2, 3, 4, 5, 6, 7]";
        }
    }
    EXPECT_TRUE(sawTensorGroup);
    EXPECT_EQ(processes, (std::set<int>{0, 8})) << "one rank of each pipeline stage";
}

TEST(Timeline, GoesBesideTheResultFile)
{
    Scenario scenario;
    scenario.path = "/somewhere/run.yaml";
    EXPECT_EQ(TimelinePath(scenario), "run.timeline.json");
    scenario.output.file = "out/a.b.h5";
    EXPECT_EQ(TimelinePath(scenario), "out/a.b.timeline.json");
    scenario.output.timelineFile = "x.json";
    EXPECT_EQ(TimelinePath(scenario), "x.json");
}

} // namespace
} // namespace weir
