// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/step-table.h"

#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <string>
#include <utility>

namespace weir
{

namespace
{

constexpr const char* NAME_COLUMN = "case";

/** Meaning of the fields of a line. */
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
    try
    {
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
        scenario.path = lines.Path() + ":" + std::to_string(lines.Line());
        return scenario;
    }
    catch (const InputError& error)
    {
        throw lines.Error(error.what());
    }
}

} // namespace

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

} // namespace weir
