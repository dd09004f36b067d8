// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/sampled-calls.h"
#include "scenarios/bound/scenario-position.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/wire-scenario.h"
#include "scenarios/validation/agreement.h"
#include "scenarios/yaml/quantity.h"

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
            const bool isSlowed = IsConcurrent(sample.estimates.back().position);
            cases.push_back(CaseOf(
                "mixture " + std::to_string(index) + ", " + kind,
                {flow,
                 flow + (fails ? " failure" : " whole"),
                 flow + (isSlowed ? " slowed" : " apart"),
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

} // namespace weir
