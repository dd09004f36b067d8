// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/read-suite.h"

#include "scenarios/readers/read-scenario.h"
#include "scenarios/validation/step-table.h"
#include "scenarios/yaml/yaml-node.h"

#include <charconv>
#include <filesystem>

namespace weir
{

namespace
{

/** "10%" as 0.1. */
double
ReadPercentage(const YamlNode& node)
{
    const std::string text = node.AsString();
    double percent = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, percent);
    if (error != std::errc() || stop + 1 != end || *stop != '%' || percent <= 0 || percent > 100)
    {
        node.Fail("found '" + text + "', expected a percentage above 0 %, as in 10%");
    }
    return percent / 100;
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
    node.CheckKeys({"name", "class", "run", "measured", "tolerance"});
    ValidationCase one;
    one.name = node.Get("name").AsString();
    const auto group = node.Find("class");
    one.classes = {"class " + (group ? group->AsString() : "all")};
    one.scenario = ReadRun(node.Get("run"), catalog);
    const YamlNode measured = node.Get("measured");
    measured.CheckKeys({"step_time_s"});
    one.measuredStep = measured.Get("step_time_s").AsNumber(1e-9, LONGEST_STEP);
    one.tolerance = ReadPercentage(node.Get("tolerance"));
    return one;
}

} // namespace

bool
HoldsCollectives(const std::string& name, const Catalog& catalog)
{
    return YamlNode::Load(catalog.Find(CatalogKind::Suites, name)).Has("collectives");
}

bool
HoldsKernels(const std::string& name, const Catalog& catalog)
{
    return YamlNode::Load(catalog.Find(CatalogKind::Suites, name)).Has("kernels");
}

ValidationSuite
LoadSuite(const std::string& nameOrPath, const Catalog& catalog)
{
    const std::string path = catalog.Find(CatalogKind::Suites, nameOrPath);
    const YamlNode node = YamlNode::Load(path);
    const bool isTable = node.Has("table");
    const bool isCollectives = node.Has("collectives");
    const bool isKernels = node.Has("kernels");
    if (isCollectives)
    {
        node.CheckKeys({"title", "citation", "url", "meanError", "measured", "collectives"});
    }
    else if (isKernels)
    {
        node.CheckKeys({"title", "citation", "url", "meanError", "kernels"});
    }
    else if (isTable)
    {
        node.CheckKeys({"title",
                        "citation",
                        "url",
                        "meanError",
                        "table",
                        "measured",
                        "classes",
                        "run",
                        "columns"});
    }
    else
    {
        node.CheckKeys({"title", "citation", "url", "meanError", "cases"});
    }
    ValidationSuite suite;
    suite.name = std::filesystem::path(path).parent_path().filename().string();
    suite.title = node.Get("title").AsString();
    suite.citation = node.Get("citation").AsString();
    suite.url = node.Get("url").AsString();
    if (const auto limit = node.Find("meanError"))
    {
        suite.meanError = ReadPercentage(*limit);
    }
    if (isCollectives)
    {
        suite.collectives = ReadCollectiveTable(node, catalog);
        return suite;
    }
    if (isKernels)
    {
        suite.kernels = ReadMeasuredKernels(node.Get("kernels"), catalog);
        return suite;
    }
    if (isTable)
    {
        suite.cases = ReadStepTable(node, catalog);
        return suite;
    }
    for (const auto& item : node.Get("cases").Items())
    {
        suite.cases.push_back(ReadCase(item, catalog));
    }
    return suite;
}

} // namespace weir
