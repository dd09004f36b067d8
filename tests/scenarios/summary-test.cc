// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/summary.h"

#include "scenarios/results/run-json.h"
#include "scenarios/results/text-table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace weir
{
namespace
{

/** Time that @p breakdown attributes to @p category. */
Time&
SpentOn(RankBreakdown& breakdown, TimeCategory category)
{
    return breakdown.spent[static_cast<std::size_t>(category)];
}

/** Kind of model: no job has embedding look-ups combined with experts and long sequences. */
enum class Trains
{
    Transformer,
    Table
};

/** Result of @p jobs jobs with @p stages stages and every number at its maximum width. */
RunResult
WideResult(std::size_t jobs, std::size_t stages, Trains trains = Trains::Transformer)
{
    RankBreakdown breakdown;
    breakdown.spent.fill(Time::Seconds(12345.678901));
    if (trains == Trains::Transformer)
    {
        SpentOn(breakdown, TimeCategory::Embedding) = Time();
    }
    else
    {
        SpentOn(breakdown, TimeCategory::Context) = Time();
        SpentOn(breakdown, TimeCategory::Expert) = Time();
    }
    RunResult result;
    for (std::size_t i = 0; i < jobs; i++)
    {
        JobResult job;
        job.name = "a job with a rather long name " + std::to_string(i);
        job.gpus = 131072;
        job.itemsPerStep = 1e9;
        job.countsSamples = trains == Trains::Table;
        job.modelFlopsPerStep = Flops(1e24);
        job.steps = {Time::Seconds(74074.07)};
        job.stepTime = job.steps.front();
        job.stages.assign(stages, breakdown);
        job.mean = breakdown;
        result.jobs.push_back(job);
    }
    result.busiestLinks.assign(
        5,
        {"node16383/gpu7->node16383/nvswitch0 with a suffix that goes on and on and on and on",
         "inter-socket",
         0.99999,
         1,
         Bytes(int64_t{1} << 60)});
    result.events = 123456789012;
    result.wallSeconds = 98765;
    result.peakRssBytes = uint64_t{1} << 40;
    return result;
}

Scenario
LongTitle()
{
    Scenario scenario;
    scenario.title = std::string(300, 'W');
    return scenario;
}

TEST(Summary, FitsAScreenOf24LinesOf100Columns)
{
    for (const std::size_t jobs : {1, 2, 3, 50})
    {
        for (const std::size_t stages : {0, 1, 8, 9, 12, 64})
        {
            for (const Trains trains : {Trains::Transformer, Trains::Table})
            {
                const std::string text = Summarize(LongTitle(), WideResult(jobs, stages, trains));
                std::istringstream lines(text);
                std::size_t count = 0;
                for (std::string line; std::getline(lines, line); count++)
                {
                    EXPECT_LE(DisplayWidth(line), 100U) << line;
                }
                // The command adds two lines: the paths of the results and of the timeline.
                EXPECT_LE(count + 2, 24U) << text;
            }
        }
    }
}

/** Training on 8 GPUs and traffic between the same 8: the summary states 8 GPUs. */
TEST(Summary, CountsSharedGpusOnce)
{
    Scenario scenario;
    scenario.title = "both";
    scenario.cluster.node.gpus = 8;
    RunResult result;
    CollectiveJobResult collective;
    collective.sequence.resize(1);
    collective.gpus = 8;
    result.collectives.push_back(collective);
    TrafficJobResult traffic;
    traffic.gpus = 8;
    result.traffics.push_back(traffic);
    EXPECT_EQ(Summarize(scenario, result).rfind("both (stream, 8 GPUs)", 0), 0U);
}

TEST(Summary, ShowsTheFirstAndTheLastStages)
{
    const std::string text = Summarize(LongTitle(), WideResult(1, 12));
    for (const char* stage : {"\n  0 ", "\n  11 ", "\n  mean ", "\n  ...\n"})
    {
        EXPECT_NE(text.find(stage), std::string::npos) << stage;
    }
}

/** Of several jobs that have ended a step, the mean of each instead of the stages of the first. */
TEST(Summary, ShowsTheBreakdownOfEveryJob)
{
    RunResult result = WideResult(3, 2);
    const char* names[] = {"gpt", "noise", "late"};
    for (std::size_t i = 0; i < 3; i++)
    {
        result.jobs[i].name = names[i];
    }
    result.jobs[2].stepTime = Time::Infinite();
    const std::string text = Summarize(LongTitle(), result);
    EXPECT_NE(text.find("\n  job, s "), std::string::npos) << text;
    EXPECT_NE(text.find("\n  gpt "), std::string::npos) << text;
    EXPECT_NE(text.find("\n  noise "), std::string::npos) << text;
    EXPECT_EQ(text.find("\n  late "), std::string::npos) << text;
    EXPECT_EQ(text.find("\n  mean "), std::string::npos) << text;
}

/** Components of a step of 59.5 us would all round to 0.0 ms. */
TEST(Summary, ShowsShortStepsInMicroseconds)
{
    RunResult result = WideResult(1, 1);
    RankBreakdown breakdown{};
    breakdown.spent[static_cast<std::size_t>(TimeCategory::Compute)] = Time::Nanoseconds(59500);
    result.jobs[0].mean = breakdown;
    result.jobs[0].stages = {breakdown};
    const std::string text = Summarize(LongTitle(), result);
    EXPECT_NE(text.find("stage, us"), std::string::npos) << text;
    EXPECT_NE(text.find(" 59.5 "), std::string::npos) << text;
}

/** 1e24 operations in 74074.07 s on 131072 GPUs are 103 TFLOP/s each; 1e9 tokens are 13,500/s. */
TEST(Summary, SaysTokensAndOperationsPerSecond)
{
    const std::string text = Summarize(LongTitle(), WideResult(1, 1));
    EXPECT_NE(text.find("13,500 tokens/s"), std::string::npos) << text;
    EXPECT_NE(text.find("103.0 model TFLOP/s per GPU"), std::string::npos) << text;
}

/** A layer table counts samples: 1e9 in 74074.07 s. */
TEST(Summary, SaysSamplesPerSecondOfTables)
{
    const std::string text = Summarize(LongTitle(), WideResult(1, 1, Trains::Table));
    EXPECT_NE(text.find("13,500 samples/s"), std::string::npos) << text;
    EXPECT_EQ(text.find("tokens/s"), std::string::npos) << text;
}

TEST(RunJson, HasTheKeysThatProgramsReadAndNothingBeside)
{
    Scenario scenario;
    scenario.title = "t";
    const auto object = nlohmann::json::parse(ToJson(scenario, WideResult(2, 3)));
    for (const char* key : {"step_time_s",
                            "steps_s",
                            "breakdown_s",
                            "busiest_links",
                            "events",
                            "wall_s",
                            "peak_rss_bytes",
                            "jobs"})
    {
        EXPECT_TRUE(object.contains(key)) << key;
    }
    EXPECT_FALSE(object.contains("waiting"));
    EXPECT_DOUBLE_EQ(object["step_time_s"], 74074.07);
    double sum = 0;
    for (const char* key :
         {"compute", "tensor", "pipeline", "data", "copy", "bubble", "launch", "context", "expert"})
    {
        sum += object["breakdown_s"].at(key).get<double>();
    }
    EXPECT_EQ(object["breakdown_s"].size(), TIME_CATEGORY_COUNT);
    EXPECT_EQ(object["breakdown_s"].at("embedding"), 0);
    EXPECT_NEAR(sum, 9 * 12345.678901, 1e-6);
    EXPECT_EQ(object["jobs"][1]["stages"].size(), 3U);
    EXPECT_EQ(object["busiest_links"][0]["bytes"], int64_t{1} << 60);
}

TEST(RunJson, SaysWhoWaitsWhenNoStepWasFinished)
{
    RunResult result = WideResult(1, 0);
    result.jobs.front().steps.clear();
    result.jobs.front().stepTime = Time::Infinite();
    result.waiting = "gpt: rank 3 waits";
    const auto object = nlohmann::json::parse(ToJson(Scenario(), result));
    EXPECT_TRUE(object["step_time_s"].is_null());
    EXPECT_EQ(object["waiting"], "gpt: rank 3 waits");
}

/** Jobs that have not ended have no times: null in JSON, omitted in the text. */
TEST(RunJson, HasNoTimesOfWhatHasNotEnded)
{
    RunResult result;
    CollectiveJobResult collective;
    collective.name = "c";
    collective.sequence.resize(1);
    result.collectives.push_back(collective);
    TrafficJobResult traffic;
    traffic.name = "t";
    traffic.started = 2;
    result.traffics.push_back(traffic);
    const auto object = nlohmann::json::parse(ToJson(Scenario(), result));
    EXPECT_TRUE(object["collectives"][0]["mean_s"].is_null());
    EXPECT_TRUE(object["traffic"][0]["slowdown_p99"].is_null());
    const std::string text = Summarize(Scenario(), result);
    EXPECT_NE(text.find("0 of 2 flows"), std::string::npos) << text;
    EXPECT_EQ(text.find("mean 0"), std::string::npos) << text;
    EXPECT_EQ(text.find("slowdown"), std::string::npos) << text;
}

TEST(Summary, HasNoBreakdownOfAStepThatHasNotEnded)
{
    RunResult result;
    result.jobs.resize(1);
    result.jobs.front().name = "gpt";
    result.jobs.front().stages.resize(2);
    result.jobs.front().stepTime = Time::Infinite();
    const std::string text = Summarize(Scenario(), result);
    EXPECT_NE(text.find("step time gpt  no step has ended"), std::string::npos) << text;
    EXPECT_EQ(text.find("tokens/s"), std::string::npos) << text;
    EXPECT_EQ(text.find("compute"), std::string::npos) << text;
}

TEST(Summary, SaysThatJobsAreLeftOut)
{
    RunResult result;
    CollectiveJobResult collective;
    collective.sequence.resize(1);
    result.collectives.assign(3, collective);
    result.traffics.resize(4);
    EXPECT_EQ(Summarize(Scenario(), result).find("other collective"), std::string::npos);
    result.collectives.assign(5, collective);
    const std::string text = Summarize(Scenario(), result);
    EXPECT_NE(text.find("  and 2 other collectives, listed by --json\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("  and 1 other pattern, listed by --json\n"), std::string::npos) << text;
}

TEST(TextTable, AlignsTextLeftAndNumbersRight)
{
    TextTable table(1);
    table.Row({"a", "1", "1,000"});
    table.Row({"long", "22"});
    EXPECT_EQ(table.Print(1), " a      1  1,000\n long  22\n");
}

TEST(TextTable, FormatsNumbers)
{
    EXPECT_EQ(FormatFixed(1234567.891, 2), "1,234,567.89");
    EXPECT_EQ(FormatFixed(999, 0), "999");
    EXPECT_EQ(FormatFixed(-1234, 0), "-1,234");
    EXPECT_EQ(FormatSeconds(1.42), "1.420 s");
    EXPECT_EQ(FormatSeconds(0.0003525), "352.5 us");
    EXPECT_EQ(FormatSeconds(12345), "12,345 s");
    EXPECT_EQ(FormatDecimalBytes(999), "999 B");
    EXPECT_EQ(FormatDecimalBytes(1234567), "1.23 MB");
}

} // namespace
} // namespace weir
