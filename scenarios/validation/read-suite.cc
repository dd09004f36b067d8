// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/read-suite.h"

#include "fabric/enum-names.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
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
    one.classes = {"class " + node.ReadOr("class", std::string("all"), &YamlNode::AsString)};
    one.scenario = ReadRun(node.Get("run"), catalog);
    const YamlNode measured = node.Get("measured");
    measured.CheckKeys(YamlKeysOf("suite.cases.measured"));
    one.measuredStep = measured.Get("step_time_s").AsNumber(1e-9, LONGEST_STEP);
    return one;
}

constexpr const char* NAME_COLUMN = "case";

struct TableLayout
{
    std::vector<std::string> columns;                      //!< column name by field
    std::size_t name{0};                                   //!< field of the row's name
    std::size_t measured{0};                               //!< field of the measured seconds
    std::vector<std::size_t> classes;                      //!< fields by which errors are grouped
    std::vector<std::pair<std::size_t, std::string>> keys; //!< field, key path in the scenario
};

/**
 * Index of the field @p name.
 * @throws InputError with the location of @p asking when there is none.
 */
std::size_t
FieldOf(const std::vector<std::string>& columns, const std::string& name, const YamlNode& asking)
{
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end())
    {
        asking.FailChoice(columns);
    }
    return static_cast<std::size_t>(found - columns.begin());
}

TableLayout
ReadLayout(const YamlNode& suite, LocatedLines& lines)
{
    if (!lines.NextAtCommas())
    {
        throw lines.Error("found an empty file, expected the names of its columns");
    }
    TableLayout layout;
    for (const std::string_view field : lines.Fields())
    {
        layout.columns.emplace_back(field);
    }
    const auto name = std::find(layout.columns.begin(), layout.columns.end(), NAME_COLUMN);
    if (name == layout.columns.end())
    {
        throw lines.Error("found no column 'case', expected one that names the rows");
    }
    layout.name = static_cast<std::size_t>(name - layout.columns.begin());
    const YamlNode measured = suite.Get("measured");
    layout.measured = FieldOf(layout.columns, measured.AsString(), measured);
    for (const YamlNode& item : suite.Get("classes").Items())
    {
        layout.classes.push_back(FieldOf(layout.columns, item.AsString(), item));
    }
    const YamlNode columns = suite.Get("columns");
    for (const std::string& column : columns.Keys())
    {
        const YamlNode key = columns.Get(column);
        layout.keys.emplace_back(FieldOf(layout.columns, column, key), key.AsString());
    }
    return layout;
}

/**
 * The scenario on which all rows are based, as YAML. Its plans count as inherited, so that a row
 * with one pipeline stage may leave settings of transfers between stages unused.
 */
YamlNode
ReadTemplate(const YamlNode& run, const Catalog& catalog)
{
    const YamlNode start = run.IsMap() ? run : YamlNode::Load(catalog.Find(CatalogKind::Runs, run));
    for (const YamlNode& job : start.Get("jobs").Items())
    {
        if (auto plan = job.Find("parallel"))
        {
            plan->SetInherited();
        }
    }
    return start;
}

Scenario
ReadRow(const YamlNode& start,
        const TableLayout& layout,
        const LocatedLines& lines,
        const Catalog& catalog,
        KnownSystem& known)
{
    return LocateErrors(lines.Where(), [&] {
        YamlNode run = YamlNode::Parse("{}", lines.Path());
        run.Overlay(start);
        for (const auto& [field, key] : layout.keys)
        {
            if (!lines.Fields()[field].empty())
            {
                run.Set(key, std::string(lines.Fields()[field]));
            }
        }
        Scenario scenario = ReadScenario(run, catalog, known);
        scenario.output = OutputSpec();
        scenario.path = lines.Where();
        return scenario;
    });
}

NamedChoices<SuiteKind>
ChoicesOf(std::initializer_list<SuiteKind> kinds)
{
    NamedChoices<SuiteKind> choices;
    for (const SuiteKind kind : kinds)
    {
        choices.emplace_back(ToString(kind), kind);
    }
    return choices;
}

/** A form of suites. */
struct SuiteForm
{
    const char* mark; //!< the key that only suites of this form have
    SuiteKind kind;
    std::vector<std::string> keys; //!< besides title and statements
};

/** The form of the suite @p node: the first whose mark it has, else the last. */
const SuiteForm&
FormOf(const YamlNode& node)
{
    static const std::vector<SuiteForm> FORMS{
        {"agreement", SuiteKind::Fidelities, {"agreement"}}, // or of another comparison
        {"suites", SuiteKind::Group, {"suites"}},
        {"collectives", SuiteKind::Collectives, {"citation", "url", "measured", "collectives"}},
        {"kernels", SuiteKind::Kernels, {"citation", "url", "kernels"}},
        {"flows", SuiteKind::Flows, {"citation", "url", "flows"}},
        {"completions", SuiteKind::Flows, {"citation", "url", "completions"}},
        {"leftOut", SuiteKind::LeftOut, {"leftOut"}},
        {"table",
         SuiteKind::Steps,
         {"citation", "url", "table", "measured", "classes", "run", "columns"}},
        {"cases", SuiteKind::Steps, {"citation", "url", "cases"}}};
    const auto form = std::find_if(
        FORMS.begin(), FORMS.end(), [&node](const SuiteForm& each) { return node.Has(each.mark); });
    return form == FORMS.end() ? FORMS.back() : *form;
}

SuiteKind
KindOf(const YamlNode& node)
{
    if (const auto agreement = node.Find("agreement"))
    {
        return agreement->AsEnum(ChoicesOf(
            {SuiteKind::Fidelities, SuiteKind::Plans, SuiteKind::Hybrid, SuiteKind::Bounds}));
    }
    return FormOf(node).kind;
}

std::vector<ValidationCase>
ReadCases(const YamlNode& node, const Catalog& catalog)
{
    if (node.Has("table"))
    {
        return ReadStepTable(node, catalog);
    }
    return Mapped<ValidationCase>(node.Get("cases").Items(),
                                  [&](const auto& item) { return ReadCase(item, catalog); });
}

/** The name of the suite in the file @p path: NAME/suite.yaml, or NAME.yaml. */
std::string
NameOf(const std::string& path)
{
    const std::filesystem::path file = std::filesystem::absolute(path).lexically_normal();
    return (file.stem() == "suite" ? file.parent_path().filename() : file.stem()).string();
}

} // namespace

const char*
ToString(SuiteKind kind)
{
    static constexpr EnumName<SuiteKind> NAMES[]{{SuiteKind::Steps, "steps"},
                                                 {SuiteKind::Collectives, "collectives"},
                                                 {SuiteKind::LeftOut, "left-out clusters"},
                                                 {SuiteKind::Kernels, "kernels"},
                                                 {SuiteKind::Flows, "flows"},
                                                 {SuiteKind::Fidelities, "fidelities"},
                                                 {SuiteKind::Plans, "plans"},
                                                 {SuiteKind::Hybrid, "hybrid"},
                                                 {SuiteKind::Bounds, "bounds"},
                                                 {SuiteKind::Group, "group"}};
    return NameIn(NAMES, kind);
}

SuiteKind
KindOfSuite(const std::string& nameOrPath, const Catalog& catalog)
{
    return KindOf(YamlNode::Load(catalog.Find(CatalogKind::Suites, nameOrPath)));
}

std::vector<ValidationCase>
ReadStepTable(const YamlNode& suite, const Catalog& catalog)
{
    const YamlNode table = suite.Get("table");
    LocatedLines lines(table.AsPathBesideFile(), table.Where());
    const TableLayout layout = ReadLayout(suite, lines);
    const YamlNode start = ReadTemplate(suite.Get("run"), catalog);
    KnownSystem known;
    std::vector<ValidationCase> cases;
    while (lines.NextRow(layout.columns.size()))
    {
        ValidationCase one;
        one.name = lines.Fields()[layout.name];
        one.measuredStep = lines.Positive(layout.measured, "measured", "seconds");
        for (const std::size_t field : layout.classes)
        {
            one.classes.push_back(layout.columns[field] + " " + std::string(lines.Fields()[field]));
        }
        one.scenario = ReadRow(start, layout, lines, catalog, known);
        cases.push_back(std::move(one));
    }
    return cases;
}

ValidationSuite
LoadSuite(const std::string& nameOrPath, const Catalog& catalog)
{
    const std::string path = catalog.Find(CatalogKind::Suites, nameOrPath);
    const YamlNode node = YamlNode::Load(path);
    ValidationSuite suite;
    suite.kind = KindOf(node);
    std::vector<std::string> keys = FormOf(node).keys;
    const bool hasSource = keys.front() == "citation";
    keys.insert(keys.end(), {"title", "expected", "guard", "known"});
    node.CheckKeys(keys);
    suite.name = NameOf(path);
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
        suite.members = node.Get("suites").AsEnum(ChoicesOf(
            {SuiteKind::Steps, SuiteKind::Collectives, SuiteKind::Kernels, SuiteKind::Flows}));
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
