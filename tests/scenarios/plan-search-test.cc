// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/plan-search.h"

#include "scenarios/catalog.h"
#include "scenarios/readers/read-scenario.h"
#include "scratch-folder.h"
#include "weir-command.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace weir
{
namespace
{

using Json = nlohmann::json;

/** The plans of 96 GPUs in nodes of 8, by the columns of the search. */
TEST(PlanSearch, HasEveryDivisionOfTheGpusOnce)
{
    const Scenario scenario = LoadScenario("gpt-175b-96-h800", {}, Catalog());
    const Sweep sweep = PlansOf(scenario, 0, {"run", "gpt-175b-96-h800"});
    std::set<std::vector<std::string>> plans;
    std::set<std::pair<int, int>> divisions; // tensor, pipeline
    for (const SweepCase& plan : sweep.cases)
    {
        std::map<std::string, int> number;
        for (const std::size_t i : {0, 1, 2, 4, 5})
        {
            number[sweep.columns[i]] = std::stoi(plan.values[i]);
        }
        EXPECT_EQ(number["tensor"] * number["pipeline"] * number["data"], 96);
        EXPECT_EQ(8 % number["tensor"], 0);
        EXPECT_EQ(96 % (number["data"] * number["microBatch"]), 0); // a batch of 96 samples
        EXPECT_EQ(plan.values[3], number["virtualStages"] > 1 ? "interleaved" : "1f1b");
        EXPECT_EQ(plan.words.back(),
                  std::string("jobs.0.parallel.sequenceParallel=") +
                      (number["tensor"] > 1 ? "true" : "false"));
        EXPECT_TRUE(plans.insert(plan.values).second);
        divisions.insert({number["tensor"], number["pipeline"]});
    }
    // For tensor 1, 2, 4 and 8, 96, 48, 24 and 12 GPUs have 12, 10, 8 and 6 divisors as pipeline.
    EXPECT_EQ(divisions.size(), 12u + 10 + 8 + 6);
    // The plan of the run.
    EXPECT_EQ(plans.count({"8", "12", "1", "1f1b", "1", "1", "none"}), 1u);
}

// With 8 GPUs and 40 samples per step a replica has 40 / data samples: 5 for eight replicas
// (micro-batches 1, 5), 10 for four (1, 2, 5), 20 for two (1, 2, 4, 5), 40 for one (1, 2, 4, 5, 8).
TEST(PlanSearch, HasEveryMicroBatchThatDividesAReplicasBatch)
{
    const Scenario scenario =
        LoadScenario("gpt-22b-8-h100-split", {"jobs.0.parallel.globalBatch=40"}, Catalog());
    const Sweep sweep = PlansOf(scenario, 0, {"run", "gpt-22b-8-h100-split"});
    std::map<std::string, std::set<std::string>> microBatches; // by replicas
    for (const SweepCase& plan : sweep.cases)
    {
        microBatches[plan.values[2]].insert(plan.values[5]);
    }
    const std::map<std::string, std::set<std::string>> expected{{"8", {"1", "5"}},
                                                                {"4", {"1", "2", "5"}},
                                                                {"2", {"1", "2", "4", "5"}},
                                                                {"1", {"1", "2", "4", "5", "8"}}};
    EXPECT_EQ(microBatches, expected);
}

// Each value that --set gives is that of every plan; the plans are those of the whole search with
// this value, and of values beyond the search's own, such as 16 samples, there are plans, too.
TEST(PlanSearch, KeepsTheValuesThatAreSet)
{
    const auto plansWith = [](const std::vector<std::string>& settings) {
        return PlansOf(LoadScenario("gpt-175b-96-h800", settings, Catalog()), 0, {"run"}, settings);
    };
    const std::string key = "jobs.0.parallel.";
    const Sweep whole = plansWith({});
    const std::pair<std::string, std::string> kept[] = {{"tensor", "8"},
                                                        {"pipeline", "12"},
                                                        {"data", "1"},
                                                        {"microBatch", "2"},
                                                        {"recomputation", "full"}};
    for (const auto& [name, value] : kept)
    {
        const auto column = std::find(whole.columns.begin(), whole.columns.end(), name);
        const auto at = static_cast<std::size_t>(column - whole.columns.begin());
        std::vector<std::vector<std::string>> expected;
        for (const SweepCase& plan : whole.cases)
        {
            if (plan.values[at] == value)
            {
                expected.push_back(plan.values);
            }
        }
        std::vector<std::vector<std::string>> found;
        for (const SweepCase& plan : plansWith({key + name + "=" + value}).cases)
        {
            found.push_back(plan.values);
        }
        EXPECT_FALSE(found.empty());
        EXPECT_EQ(found, expected) << name;
    }
    for (const SweepCase& plan : plansWith({key + "microBatch=16"}).cases)
    {
        EXPECT_EQ(plan.values[5], "16");
    }
    for (const SweepCase& plan :
         plansWith(
             {key + "schedule=gpipe", key + "virtualStages=1", key + "sequenceParallel=false"})
             .cases)
    {
        EXPECT_EQ(plan.values[3], "gpipe");
        EXPECT_EQ(plan.words.back(), key + "sequenceParallel=false");
    }
}

TEST(PlanSearch, RanksWhatHasAStep)
{
    const auto ended = [](int exit, const std::string& step) {
        return EndedCase{exit, "{\"jobs\": [{\"step_time_s\": " + step + "}]}"};
    };
    Sweep sweep;
    sweep.cases = {{{"a"}, {}}, {{"b"}, {}}, {{"c"}, {}}, {{"d"}, {}}};
    std::vector<EndedCase> ends{ended(0, "3"), ended(2, "1"), ended(0, "null"), ended(0, "2")};
    RankBySteps(0, sweep, ends);
    ASSERT_EQ(sweep.cases.size(), 2u);
    EXPECT_EQ(sweep.cases[0].values.front(), "d");
    EXPECT_EQ(sweep.cases[1].values.front(), "a");
    ASSERT_EQ(ends.size(), 2u);
    RankBySteps(1, sweep, ends); // there is no second job
    EXPECT_TRUE(sweep.cases.empty());
}

/**
 * The table is sorted by step time and contains the plan of the run, so its first row is no slower.
 */
TEST(PlanSearch, FindsNoSlowerPlanThanTheRunHas)
{
    const ScratchFolder folder;
    const std::string run = "gpt-22b-8-h100-split --set jobs.0.parallel.globalBatch=4";
    const Json own = Json::parse(Weir(folder, "run " + run + " --json").out);
    const Outcome outcome = Weir(folder, "search " + run + " --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json plans = Json::parse(outcome.out)["cases"];
    ASSERT_GT(plans.size(), 5u);
    double before = 0;
    std::size_t same = 0;
    for (const Json& plan : plans)
    {
        const double step = plan["result"]["step_time_s"];
        EXPECT_GE(step, before);
        before = step;
        same += step == own["step_time_s"] ? 1 : 0;
    }
    EXPECT_GE(same, 1u);
    const std::string best = plans[0]["command"];
    EXPECT_EQ(Json::parse(Weir(folder, best).out)["step_time_s"],
              plans[0]["result"]["step_time_s"]);
}

/** Plans are found for another number of GPUs, which the job's own plan does not fit. */
TEST(PlanSearch, FindsPlansOfOtherNumbersOfGpus)
{
    const ScratchFolder folder;
    const std::string search = "search llama-3-8b-16-h100 --set system.nodes=1 --dry-run";
    EXPECT_NE(Weir(folder, search).err.find("= 16 GPUs, expected at most 8"), std::string::npos);
    const Outcome outcome = Weir(folder, search + " --gpus 8");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(".tensor=2 --set jobs.0.parallel.pipeline=2 --set "
                               "jobs.0.parallel.data=2 "),
              std::string::npos)
        << outcome.out;
    EXPECT_NE(Weir(folder, search + " --gpus 9").err.find("--gpus: found 9, for which no plan"),
              std::string::npos);
    const std::string tensor = " --set jobs.0.parallel.tensor=4";
    const std::string kept = Weir(folder, search + tensor + " --gpus 8").out;
    EXPECT_NE(kept.find(".tensor=4 --set"), std::string::npos) << kept;
    EXPECT_EQ(kept.find(".tensor=2"), std::string::npos) << kept;
}

// Three GPUs divide into pipelines of three, which two layers do not fill, into three replicas,
// which four samples do not, and into no tensor ranks of a node of eight.
TEST(PlanSearch, SaysWhyNoPlanCanBeRun)
{
    const ScratchFolder folder;
    std::ofstream(folder / "three.yaml")
        << "title: three\nsystem: {base: hgx-h100, nodes: 1}\njobs:\n"
           "  - name: gpt\n    model: {base: gpt-1.7b, layers: 2}\n"
           "    parallel: {tensor: 3, globalBatch: 4}\n";
    const Outcome outcome = Weir(folder, "search three.yaml");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.out, "");
    // micro-batches of 1, 2 and 4 samples, 1, 2 and 4 chunks, with and without recomputation
    EXPECT_EQ(outcome.err.rfind("weir: found none of 18 plans of 3 GPUs that can be run", 0), 0u)
        << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    const Outcome set = Weir(folder, "search three.yaml --set jobs.0.parallel.tensor=3");
    EXPECT_EQ(set.exit, 2);
    EXPECT_EQ(set.err,
              "weir: --set: found jobs.0.parallel.tensor=3, with which 3 GPUs in nodes of 8 have "
              "no plan, expected values of a plan\n");
}

// The search keeps a grid of 2 x 2 tensor ranks, which supports neither sequence parallelism nor
// micro-batches that do not divide into two. 8 GPUs leave two divisions, 16 leave three: the other
// 2 or 4 GPUs of each tensor rank are stages, replicas or both.
TEST(PlanSearch, FindsPlansOnAGridOfTensorRanks)
{
    const ScratchFolder folder;
    std::ofstream(folder / "grid.yaml") << "title: a grid\n"
                                           "system: {base: hgx-h100, nodes: 2}\n"
                                           "jobs:\n"
                                           "  - name: grid\n"
                                           "    model: {base: llama-3-8b, layers: 4}\n"
                                           "    parallel:\n"
                                           "      {tensor: 4, tensorShape: [2, 2], data: 2,\n"
                                           "       microBatch: 2, globalBatch: 8}\n"
                                           "    steps: 1\n";
    for (const auto& [gpus, divisions] : {std::pair("", 2U), std::pair(" --gpus 16", 3U)})
    {
        const Outcome outcome = Weir(folder, std::string("search grid.yaml --json") + gpus);
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        const Json plans = Json::parse(outcome.out)["cases"];
        std::set<std::pair<int, int>> found; // stages, replicas
        for (const Json& plan : plans)
        {
            EXPECT_EQ(plan["values"]["tensor"], 4);
            found.emplace(plan["values"]["pipeline"].get<int>(), plan["values"]["data"].get<int>());
        }
        EXPECT_EQ(found.size(), divisions);
    }
    // A second stage doubles the GPUs of the own plan, which the output says.
    const std::string twice = Weir(folder, "search grid.yaml --set jobs.0.parallel.pipeline=2").out;
    EXPECT_NE(twice.find(" plans of 16 GPUs "), std::string::npos) << twice;
}

TEST(PlanSearch, RefusesRunsWithoutAPlan)
{
    const ScratchFolder folder;
    const Outcome none = Weir(folder, "search congestion-512-h100");
    EXPECT_EQ(none.exit, 2);
    EXPECT_EQ(
        none.err,
        "weir: congestion-512-h100: found no training job, expected one to search plans for\n");
    const Outcome other = Weir(folder, "search gpt-22b-8-h100-split --job gtp");
    EXPECT_EQ(other.exit, 2);
    EXPECT_EQ(other.err, "weir: --job: found 'gtp', expected one of: gpt (did you mean 'gpt'?)\n");
}

} // namespace
} // namespace weir
