// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/random-draws.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/validation/agreement.h"

#include <numeric>
#include <string>
#include <vector>

namespace weir
{

namespace
{

constexpr double TOLERANCE = 0.01;
constexpr const char* SETTLED_CONTROLS[] = {"none", "dcqcn", "hpcc", "swift"};
constexpr uint64_t SETTLED_SEEDS = 2;

/** Kind of work that is compared. */
enum class SettleKind
{
    Collectives,
    Transfers,
    Training
};

struct NamedText
{
    std::string name;
    std::string text;
    SettleKind kind;
};

/** Two jobs on alternate nodes of eight, each with a sequence of collectives of random sizes. */
std::string
CollectivesOf(const std::string& control, uint64_t seed)
{
    RandomDraws draws(seed);
    std::string text =
        "system: {base: hgx-h100, nodes: 8, fabric: {kind: leaf-spine, leafRadix: "
        "32, oversubscription: 2, routing: ecmp}}\njobs:\n";
    for (const char* job : {"a", "b"})
    {
        text += std::string("  - name: ") + job + "\n    collective: {calls: 4, sequence: [";
        for (const char* op : {"all-reduce", "all-gather", "all-to-all"})
        {
            text += std::string("{op: ") + op +
                    ", bytes: " + std::to_string(64 + draws.Bits() % 1024) + "KiB},";
        }
        text += "]}\n    gpus: 32\n    placement: {kind: strided, stride: 2}\n";
    }
    return text + "network: {fidelity: packet, congestionControl: {kind: " + control + "}}\n";
}

/** A long flow from each GPU of four nodes to another GPU, with 2:1 oversubscription. */
std::string
TransfersOf(const std::string& control)
{
    return "system: {base: hgx-h100, nodes: 4, fabric: {kind: leaf-spine, leafRadix: 16, "
           "oversubscription: 2, routing: ecmp}}\njobs:\n  - {name: job, traffic: {pattern: "
           "permutation, bytes: 100MB}, gpus: 32}\nnetwork: {fidelity: packet, "
           "congestionControl: {kind: " +
           control + "}}\n";
}

std::string
TrainingOf(const std::string& model, const std::string& plan)
{
    return "system: {base: hgx-h100, nodes: 2}\njobs:\n  - name: job\n    model: " + model +
           "\n    parallel: {" + plan + "}\n    precision: bf16\n    steps: 2\n" +
           "network: {fidelity: packet}\n";
}

std::vector<NamedText>
ComparedScenarios()
{
    std::vector<NamedText> all;
    for (const char* control : SETTLED_CONTROLS)
    {
        for (uint64_t seed = 1; seed <= SETTLED_SEEDS; seed++)
        {
            all.push_back(
                {"collectives, " + std::string(control) + ", seed " + std::to_string(seed),
                 CollectivesOf(control, seed),
                 SettleKind::Collectives});
        }
    }
    for (const char* control : {"powertcp", "timely"})
    {
        all.push_back(
            {"transfers, " + std::string(control), TransfersOf(control), SettleKind::Transfers});
    }
    all.push_back({"GPT-2, tensor 2, data 8",
                   TrainingOf("gpt-2", "tensor: 2, data: 8, microBatch: 1, globalBatch: 16"),
                   SettleKind::Training});
    all.push_back(
        {"BERT base, tensor 2, pipeline 4, data 2",
         TrainingOf("bert-base", "tensor: 2, pipeline: 4, data: 2, microBatch: 2, globalBatch: 32"),
         SettleKind::Training});
    return all;
}

/** The end of the last collective, the mean completion time of transfers, or the training step. */
Time
Outcome(const RunResult& result, SettleKind kind)
{
    if (kind == SettleKind::Transfers)
    {
        const std::vector<Time>& times = result.traffics.front().times;
        const Time sum = std::accumulate(times.begin(), times.end(), Time());
        return sum * (1.0 / static_cast<double>(times.size()));
    }
    return kind == SettleKind::Training ? result.StepTime() : result.measured;
}

} // namespace

std::vector<CaseOutcome>
CompareSettled(const Catalog& catalog, const ShowSuite& progress)
{
    std::vector<CaseOutcome> cases;
    const auto scenarios = ComparedScenarios();
    for (const auto& each : scenarios)
    {
        const YamlNode node = YamlNode::Parse("title: compared\n" + each.text, each.name);
        Scenario scenario = ReadScenario(node, catalog);
        const auto run = [&] {
            const RunResult result = RunScenario(scenario);
            return Outcome(result, each.kind);
        };
        constexpr const char* KINDS[] = {" collectives", " transfers", " training"};
        const std::string kind = KINDS[static_cast<std::size_t>(each.kind)];
        const Time packets = run();
        scenario.packets.settle.replay = true;
        cases.push_back(CaseOf(each.name, {"replay", "replay" + kind}, packets, run()));
        scenario.packets.settle.tolerance = TOLERANCE;
        cases.push_back(CaseOf(
            each.name + ", tolerance 1 %", {"tolerance", "tolerance" + kind}, packets, run()));
        progress({cases.size() / 2, std::size(scenarios), "replayed episodes"});
    }
    return cases;
}

} // namespace weir
