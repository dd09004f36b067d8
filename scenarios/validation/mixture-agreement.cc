// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/samples.h"
#include "scenarios/bound/scenario-position.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/wire-scenario.h"
#include "scenarios/validation/agreement.h"
#include "scenarios/yaml/quantity.h"

#include <limits>
#include <optional>
#include <stdexcept>

namespace weir
{
namespace
{

constexpr uint64_t SEED = 41;
constexpr std::size_t MIXTURES = 120;

/**
 * The `events` of a link between switches of the scenario that fails at a random time within
 * @p call; nothing if there is no such link.
 */
std::optional<std::string>
DrawFailure(RandomDraws& draws, const std::string& text, Time call, const Catalog& catalog)
{
    const auto simulation = WireScenario(ReadScenario(YamlNode::Parse(text, "sample"), catalog));
    const Topology& topology = simulation->GetCluster().GetTopology();
    std::vector<LinkId> wires;
    for (uint32_t i = 0; i < topology.LinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (IsNetworkSwitch(topology.GetDevice(link.from)) &&
            IsNetworkSwitch(topology.GetDevice(link.to)))
        {
            wires.emplace_back(i);
        }
    }
    if (wires.empty())
    {
        return std::nullopt;
    }
    const Link& wire = topology.GetLink(draws.OneOf(wires));
    return "events: [{kind: link-down, at: " + FormatTime(call * draws.Unit()) +
           ", from: " + topology.GetDevice(wire.from).name + ", to: \"" +
           topology.GetDevice(wire.to).name + "#" + std::to_string(wire.parallel + 1) + "\"}]\n";
}

/** The algorithm of the first job of @p text if the scenario sets it, otherwise the operation. */
std::string
KindOf(const std::string& text)
{
    const std::string first = text.substr(0, text.find("}, placement"));
    for (const char* key : {"algorithm: ", "op: "})
    {
        if (const auto at = first.find(key); at != std::string::npos)
        {
            const auto begin = first.find(' ', at) + 1;
            return first.substr(begin, first.find_first_of(",}", begin) - begin);
        }
    }
    return "";
}

/** Every other node of @p nodes nodes of 8 GPUs, from the first or the second on. */
std::string
AlternateNodes(uint32_t nodes, bool isSecond)
{
    std::string gpus;
    for (uint32_t node = isSecond ? 1 : 0; node < nodes; node += 2)
    {
        for (uint32_t local = 0; local < 8; ++local)
        {
            gpus += (gpus.empty() ? "" : ", ") + std::to_string(node * 8 + local);
        }
    }
    return gpus;
}

/** Two jobs of @p first and @p second on alternate nodes of leaves with 4:1 oversubscription. */
std::string
OversubscribedText(const std::string& routing, const std::string& first, const std::string& second)
{
    constexpr uint32_t NODES = 16;
    return "system: {base: hgx-h100, nodes: " + std::to_string(NODES) +
           ", fabric: {kind: leaf-spine, oversubscription: 4, routing: " + routing +
           "}}\njobs:\n- {name: first, collective: {" + first + ", calls: 3}, placement: {gpus: [" +
           AlternateNodes(NODES, false) + "]}}\n- {name: second, collective: {" + second +
           "}, until: first, placement: {gpus: [" + AlternateNodes(NODES, true) + "]}}\n";
}

} // namespace

std::vector<CaseOutcome>
CompareMixtures(const Catalog& catalog, const ShowSuite& progress)
{
    std::vector<CaseOutcome> cases;
    for (uint64_t index = 0; cases.size() < MIXTURES; ++index)
    {
        progress({cases.size(), MIXTURES, "mixtures of jobs"});
        const SampledRun sample = SampleJobs(SEED, index, Fidelity::Flow, catalog);
        if (sample.text.find("name: second") == std::string::npos)
        {
            continue;
        }
        std::string text = sample.text;
        const bool fails = index % 2 == 1;
        RandomDraws draws(SEED + 1, index);
        const auto failure = fails ? DrawFailure(draws, text, sample.reference, catalog) : "";
        if (!failure)
        {
            continue;
        }
        text += *failure;
        try
        {
            const std::string flow = "mixtures: flow/stream";
            const std::string kind = KindOf(text);
            const bool isContended = IsConcurrent(sample.estimates.back().position);
            cases.push_back(CaseOf(
                "mixture " + std::to_string(index) + ", " + kind,
                {flow,
                 flow + (fails ? " failure" : " no failure"),
                 flow + (isContended ? " contended" : " uncontended"),
                 flow + " " + kind},
                fails ? TimeOfJobs(text, Fidelity::Stream, catalog) : sample.estimates.back().time,
                fails ? TimeOfJobs(text, Fidelity::Flow, catalog) : sample.reference));
        }
        catch (const std::invalid_argument&)
        {
            continue; // no path is left
        }
    }
    return cases;
}

std::vector<CaseOutcome>
CompareOversubscribed(const Catalog& catalog, const ShowSuite& progress)
{
    const std::vector<std::pair<const char*, const char*>> calls{
        {"nvls-tree", "op: all-reduce, algorithm: nvls-tree, bytes: 64MiB"},
        {"nvls-tree", "op: all-reduce, algorithm: nvls-tree, bytes: 8MiB"},
        {"tree", "op: all-reduce, algorithm: tree, bytes: 64MiB"},
        {"ring", "op: all-reduce, algorithm: ring, bytes: 64MiB"},
        {"ring", "op: all-reduce, algorithm: ring, bytes: 4MiB"},
        {"ring", "op: all-reduce, algorithm: ring, bytes: 1MiB"},
        {"ring", "op: all-gather, algorithm: ring, bytes: 16MiB"}};
    const std::vector<std::string> others{"op: all-to-all, bytes: 64MiB",
                                          "op: all-reduce, algorithm: ring, bytes: 64MiB",
                                          "op: all-reduce, algorithm: tree, bytes: 16MiB"};
    constexpr uint64_t MAX_WORK = std::numeric_limits<uint64_t>::max();
    std::vector<CaseOutcome> cases;
    for (const std::string routing : {"spray", "ecmp"})
    {
        for (const auto& [algorithm, call] : calls)
        {
            for (const std::string& other : others)
            {
                progress({cases.size(), 2 * calls.size() * others.size(), "oversubscribed leaves"});
                const std::string text = OversubscribedText(routing, call, other);
                const std::string all = "oversubscribed: flow/stream";
                cases.push_back(
                    CaseOf(std::string(call) + " concurrent with " + other + ", " + routing,
                           {all, all + " " + algorithm, all + " " + routing},
                           TimeOfJobs(text, Fidelity::Stream, catalog, MAX_WORK),
                           TimeOfJobs(text, Fidelity::Flow, catalog, MAX_WORK)));
            }
        }
    }
    return cases;
}

} // namespace weir
