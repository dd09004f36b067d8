// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/read-suite.h"

#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/validation/step-table.h"
#include "scenarios/yaml/yaml-node.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

/**
 * Replaces the base of the system @p node by that system in @p runs.
 * @throws InputError when no run uses the base.
 */
void
ReplaceSystem(const YamlNode& node, const Catalog& catalog, std::vector<MeasuredCollective>& runs)
{
    const std::string base = node.Get("base").AsString();
    const ClusterSpec replacement = ReadSystem(node, catalog).cluster;
    bool isUsed = false;
    for (MeasuredCollective& run : runs)
    {
        ClusterSpec& cluster = run.sweep.cluster;
        if (cluster.name == base)
        {
            const uint32_t nodes = cluster.nodes;
            cluster = replacement;
            cluster.nodes = nodes;
            isUsed = true;
        }
    }
    if (!isUsed)
    {
        node.Get("base").Fail("found '" + base + "', expected a system of the suite's runs");
    }
}

/**
 * Reads the runs of all suites of collectives; each cluster is predicted from parameters of other
 * clusters only.
 *
 * @p leftOut is a list of {suite, systems}. The runs of `suite` on a system that is the `base` of
 * one of `systems` are predicted with that one, whose parameters come from none of these runs.
 * Suites that are not in the list keep their systems.
 *
 * @throws InputError with the location of what is missing or unknown, of a suite without runs of
 *         collectives and of a system whose base none of the runs uses.
 */
std::vector<MeasuredCollective>
ReadLeftOutClusters(const YamlNode& leftOut, const Catalog& catalog)
{
    std::vector<std::pair<std::string, YamlNode>> suites; // suite name, systems
    for (const YamlNode& item : leftOut.Items())
    {
        item.CheckKeys(YamlKeysOf("suite.leftOut"));
        const YamlNode suite = item.Get("suite");
        const std::string name = suite.AsString();
        if (!YamlNode::Load(catalog.Find(CatalogKind::Suites, suite)).Has("collectives"))
        {
            suite.Fail("found '" + name + "', expected a suite of collectives");
        }
        suites.emplace_back(name, item.Get("systems"));
    }
    std::vector<MeasuredCollective> all;
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Suites))
    {
        const YamlNode node = YamlNode::Load(entry.path);
        if (!node.Has("collectives"))
        {
            continue;
        }
        std::vector<MeasuredCollective> runs = ReadCollectiveTable(node, catalog);
        for (const auto& [name, systems] : suites)
        {
            for (const YamlNode& system : systems.Items())
            {
                if (name == entry.name)
                {
                    ReplaceSystem(system, catalog, runs);
                }
            }
        }
        for (MeasuredCollective& run : runs)
        {
            run.suite = entry.name;
            all.push_back(std::move(run));
        }
    }
    return all;
}

Scenario
ReadRun(const YamlNode& node, const Catalog& catalog)
{
    Scenario scenario = node.IsMap()
                            ? ReadScenario(node, catalog)
                            : LoadScenario(catalog.Find(CatalogKind::Runs, node), {}, catalog);
    scenario.output = OutputSpec();
    return scenario;
}

ValidationCase
ReadCase(const YamlNode& node, const Catalog& catalog)
{
    constexpr double LONGEST_STEP = 1e6; // seconds
    node.CheckKeys(YamlKeysOf("suite.cases"));
    ValidationCase one;
    one.name = node.Get("name").AsString();
    const auto group = node.Find("class");
    one.classes = {"class " + (group ? group->AsString() : "all")};
    one.scenario = ReadRun(node.Get("run"), catalog);
    const YamlNode measured = node.Get("measured");
    measured.CheckKeys(YamlKeysOf("suite.cases.measured"));
    one.measuredStep = measured.Get("step_time_s").AsNumber(1e-9, LONGEST_STEP);
    return one;
}

NamedChoices<SuiteKind>
AgreementNames()
{
    return {{"fidelities", SuiteKind::Fidelities},
            {"plans", SuiteKind::Plans},
            {"hybrid", SuiteKind::Hybrid},
            {"bounds", SuiteKind::Bounds}};
}

NamedChoices<SuiteKind>
MemberNames()
{
    return {{"steps", SuiteKind::Steps},
            {"collectives", SuiteKind::Collectives},
            {"kernels", SuiteKind::Kernels},
            {"flows", SuiteKind::Flows}};
}

/** The kind of the suite @p node. */
SuiteKind
KindOf(const YamlNode& node)
{
    if (const auto agreement = node.Find("agreement"))
    {
        return agreement->AsEnum(AgreementNames());
    }
    return node.Has("suites")        ? SuiteKind::Group
           : node.Has("collectives") ? SuiteKind::Collectives
           : node.Has("kernels")     ? SuiteKind::Kernels
           : node.Has("flows")       ? SuiteKind::Flows
           : node.Has("completions") ? SuiteKind::Flows
           : node.Has("leftOut")     ? SuiteKind::LeftOut
                                     : SuiteKind::Steps;
}

/** The keys of a suite in addition to title and statements. */
std::vector<std::string>
KeysOf(const YamlNode& node, SuiteKind kind)
{
    switch (kind)
    {
    case SuiteKind::Steps:
        return node.Has("table") ? std::vector<std::string>{"citation",
                                                            "url",
                                                            "table",
                                                            "measured",
                                                            "classes",
                                                            "run",
                                                            "columns"}
                                 : std::vector<std::string>{"citation", "url", "cases"};
    case SuiteKind::Collectives:
        return {"citation", "url", "measured", "collectives"};
    case SuiteKind::LeftOut:
        return {"leftOut"};
    case SuiteKind::Kernels:
        return {"citation", "url", "kernels"};
    case SuiteKind::Flows:
        return {"citation", "url", node.Has("flows") ? "flows" : "completions"};
    case SuiteKind::Fidelities:
    case SuiteKind::Plans:
    case SuiteKind::Hybrid:
    case SuiteKind::Bounds:
        return {"agreement"};
    case SuiteKind::Group:
        return {"suites"};
    }
    throw std::logic_error("KeysOf: no such kind of suite");
}

std::vector<ValidationCase>
ReadCases(const YamlNode& node, const Catalog& catalog)
{
    if (node.Has("table"))
    {
        return ReadStepTable(node, catalog);
    }
    std::vector<ValidationCase> cases;
    for (const auto& item : node.Get("cases").Items())
    {
        cases.push_back(ReadCase(item, catalog));
    }
    return cases;
}

} // namespace

const char*
ToString(SuiteKind kind)
{
    switch (kind)
    {
    case SuiteKind::Steps:
        return "steps";
    case SuiteKind::Collectives:
        return "collectives";
    case SuiteKind::LeftOut:
        return "left-out clusters";
    case SuiteKind::Kernels:
        return "kernels";
    case SuiteKind::Flows:
        return "flows";
    case SuiteKind::Fidelities:
        return "fidelities";
    case SuiteKind::Plans:
        return "plans";
    case SuiteKind::Hybrid:
        return "hybrid";
    case SuiteKind::Bounds:
        return "bounds";
    case SuiteKind::Group:
        return "group";
    }
    throw std::logic_error("SuiteKind: no such kind");
}

SuiteKind
KindOfSuite(const std::string& nameOrPath, const Catalog& catalog)
{
    return KindOf(YamlNode::Load(catalog.Find(CatalogKind::Suites, nameOrPath)));
}

ValidationSuite
LoadSuite(const std::string& nameOrPath, const Catalog& catalog)
{
    const std::string path = catalog.Find(CatalogKind::Suites, nameOrPath);
    const YamlNode node = YamlNode::Load(path);
    ValidationSuite suite;
    suite.kind = KindOf(node);
    std::vector<std::string> keys = KeysOf(node, suite.kind);
    const bool hasSource = keys.front() == "citation";
    keys.insert(keys.end(), {"title", "expected", "guard", "known"});
    node.CheckKeys(keys);
    suite.name = std::filesystem::path(path).parent_path().filename().string();
    suite.title = node.Get("title").AsString();
    if (hasSource)
    {
        suite.citation = node.Get("citation").AsString();
        suite.url = node.Get("url").AsString();
    }
    suite.statements = ReadStatements(node);
    switch (suite.kind)
    {
    case SuiteKind::Steps:
        suite.cases = ReadCases(node, catalog);
        break;
    case SuiteKind::Collectives:
        suite.collectives = ReadCollectiveTable(node, catalog);
        break;
    case SuiteKind::LeftOut:
        suite.collectives = ReadLeftOutClusters(node.Get("leftOut"), catalog);
        break;
    case SuiteKind::Kernels:
        suite.kernels = ReadMeasuredKernels(node.Get("kernels"), catalog);
        break;
    case SuiteKind::Flows:
        if (node.Has("flows"))
        {
            suite.flows = ReadMeasuredFlows(node.Get("flows"));
        }
        else
        {
            suite.completions =
                ReadMeasuredCompletions(node.Get("completions"), catalog.GetFabricKinds());
        }
        break;
    case SuiteKind::Group:
        suite.members = node.Get("suites").AsEnum(MemberNames());
        break;
    case SuiteKind::Fidelities:
    case SuiteKind::Plans:
    case SuiteKind::Hybrid:
    case SuiteKind::Bounds:
        break;
    }
    return suite;
}

} // namespace weir
