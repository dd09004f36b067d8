// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/sweep-tables.h"

#include "scenarios/results/hdf5-table.h"
#include "scenarios/results/result-groups.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace weir
{
namespace
{

using Json = nlohmann::ordered_json;

/** The arrays of results. */
constexpr const char* RESULTS[] = {"points", "jobs", "collectives", "traffic", "classes"};

/** Costs of running a case, which differ between equal runs. */
constexpr const char* COSTS[] = {"wall_s", "read_s", "play_s", "write_s", "peak_rss_bytes"};

/** Values of the whole case that belong to its first result. */
constexpr const char* BOUNDS[] = {"bound", "measured_bound"};

/** The columns of results that are printed, with their headings. */
constexpr std::pair<const char*, const char*> PRINTED[] = {
    {"name", "name"},
    {"size_bytes", "size (B)"},
    {"step_time_s", "step"},
    {"mean_s", "mean call"},
    {"time_us", "time (us)"},
    {"fct_s_p50", "median FCT"},
    {"fct_s_p99", "p99 FCT"},
    {"slowdown_p50", "median slowdown"},
    {"slowdown_p99", "p99 slowdown"},
    {"busbw_GBps", "busbw (GB/s)"},
    {"model_tflops_per_gpu", "TFLOP/s per GPU"},
    {"gpu_memory_bytes_total", "GPU memory"},
    {"bound_lower_s", "lower"},
    {"bound_upper_s", "upper"},
    {"bound_lower_us", "lower (us)"},
    {"bound_upper_us", "upper (us)"}};

template <typename Names>
bool
Has(const Names& names, const std::string& name)
{
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/** A row of cells, an object with a member for each column. */
using Row = Json;

/**
 * Adds a cell to @p row; under the name "result_" + @p name if another cell has that name, such as
 * a varied value.
 */
void
AddCell(Row& row, const std::string& name, const Json& cell)
{
    const auto [known, isNew] = row.emplace(name, Json(cell));
    if (!isNew && *known != cell && !cell.is_null())
    {
        AddCell(row, "result_" + name, cell);
    }
}

/** Adds the numbers and texts of @p value; members of nested objects are named after both. */
void
AddCells(Row& row, const Json& value, const std::string& name = "")
{
    if (value.is_object())
    {
        for (const auto& [key, item] : value.items())
        {
            AddCells(row, item, name.empty() ? key : name + "_" + key);
        }
    }
    else if (!value.is_array())
    {
        AddCell(row, name, value);
    }
}

/** The cell of a column; null where the row has none, or JSON's null. */
const Json*
FindCell(const Row& row, const std::string& name)
{
    const auto found = row.find(name);
    return found == row.end() || found->is_null() ? nullptr : &*found;
}

struct Table
{
    std::string name;
    std::vector<Row> rows;

    /**
     * The columns of all rows; each follows the column that precedes it in the first row that has
     * it.
     */
    std::vector<std::string> Columns() const
    {
        std::vector<std::string> columns;
        for (const Row& row : rows)
        {
            auto after = columns.begin();
            for (const auto& [name, cell] : row.items())
            {
                const auto known = std::find(columns.begin(), columns.end(), name);
                after = (known == columns.end() ? columns.insert(after, name) : known) + 1;
            }
        }
        return columns;
    }
};

/** A number if the text is one, so that tables can be sorted by it. */
Json
CellOf(const std::string& value)
{
    const auto integer = ParseNumber<int64_t>(value);
    if (integer && std::to_string(*integer) == value)
    {
        return *integer;
    }
    const auto number = ParseNumber<double>(value);
    return number && std::isfinite(*number) && value.find('.') < value.size() ? Json(*number)
                                                                              : Json(value);
}

Json
ResultOf(const EndedCase& outcome)
{
    Json result = outcome.exit == 0 ? Json::parse(outcome.output, nullptr, false) : Json();
    return result.is_object() ? result : Json::object();
}

Row
RowOf(const Sweep& sweep, std::size_t number)
{
    Row row = Json::object();
    AddCell(row, "case", number);
    for (std::size_t i = 0; i < sweep.columns.size(); i++)
    {
        AddCell(row, sweep.columns[i], CellOf(sweep.cases[number].values[i]));
    }
    return row;
}

bool
IsTable(const Json& value)
{
    return value.is_array() && !value.empty() && value.front().is_object();
}

const char*
EndOf(const EndedCase& outcome)
{
    constexpr int REFUSED = 2; // ExitCode::WrongInput
    return outcome.exit == 0 ? "done" : outcome.exit == REFUSED ? "refused" : "failed";
}

/** One row for each result of each case; one for a case without results. */
Table
ResultsOf(const Sweep& sweep, const std::vector<EndedCase>& outcomes)
{
    Table table{"results", {}};
    for (std::size_t i = 0; i < outcomes.size(); i++)
    {
        const Json result = ResultOf(outcomes[i]);
        const std::size_t before = table.rows.size();
        for (const char* name : RESULTS)
        {
            if (!result.contains(name) || !IsTable(result[name]))
            {
                continue;
            }
            for (const Json& element : result[name])
            {
                Row row = RowOf(sweep, i);
                AddCells(row, element);
                table.rows.push_back(std::move(row));
            }
        }
        if (table.rows.size() == before)
        {
            table.rows.push_back(RowOf(sweep, i));
            AddCell(table.rows.back(), "ended", EndOf(outcomes[i]));
            AddCell(table.rows.back(), "message", outcomes[i].message);
        }
        for (const char* bound : BOUNDS)
        {
            if (result.contains(bound))
            {
                AddCells(table.rows[before], result[bound], bound);
            }
        }
    }
    return table;
}

/** /cases, /results, and a table for each further array of objects. */
std::vector<Table>
TablesOf(const Sweep& sweep, const std::vector<EndedCase>& outcomes)
{
    std::vector<Table> tables{{"cases", {}}, ResultsOf(sweep, outcomes)};
    for (std::size_t i = 0; i < outcomes.size(); i++)
    {
        Row row = RowOf(sweep, i);
        AddCell(row, "ended", EndOf(outcomes[i]));
        AddCell(row, "message", outcomes[i].message);
        AddCell(row, "command", ShellLine(sweep.cases[i].words));
        const Json result = ResultOf(outcomes[i]);
        for (const auto& [name, value] : result.items())
        {
            if (!Has(COSTS, name))
            {
                AddCells(row, value, name);
            }
            if (!IsTable(value) || Has(RESULTS, name))
            {
                continue;
            }
            auto table = std::find_if(tables.begin(), tables.end(), [&name](const Table& known) {
                return known.name == name;
            });
            if (table == tables.end())
            {
                table = tables.insert(tables.end(), Table{name, {}});
            }
            for (const Json& element : value)
            {
                table->rows.push_back(Json::object());
                AddCell(table->rows.back(), "case", i);
                AddCells(table->rows.back(), element);
            }
        }
        tables.front().rows.push_back(std::move(row));
    }
    return tables;
}

/** The unit of a number, by its name. */
std::string
UnitsOf(const std::string& name)
{
    const auto endsWith = [&name](const std::string& end) {
        return name.size() >= end.size() &&
               name.compare(name.size() - end.size(), end.size(), end) == 0;
    };
    return endsWith("_per_s")                                 ? "s-1"
           : endsWith("_stage")                               ? "1" // a stage, although of bytes
           : endsWith("_us")                                  ? "us"
           : endsWith("_s") || name.find("_s_") < name.size() ? "s"
           : name.find("bytes") < name.size()                 ? "B"
           : endsWith("GBps")                                 ? "GB s-1"
                                                              : "1";
}

std::string
CellText(const Json& cell)
{
    return cell.is_string() ? cell.get<std::string>() : cell.dump();
}

std::string
PrintedOf(const std::string& name, const Json* cell)
{
    if (name == "gpu_memory_bytes_total" && cell != nullptr && cell->is_number())
    {
        return FormatDecimalBytes(cell->get<double>());
    }
    if (UnitsOf(name) == "s" && cell != nullptr && cell->is_number())
    {
        return FormatSeconds(cell->get<double>());
    }
    return cell == nullptr           ? "-"
           : cell->is_number_float() ? FormatText("%.6g", cell->get<double>())
                                     : CellText(*cell);
}

/** The cell with all digits, quoted where CSV requires it. */
std::string
CsvOf(const Json* cell)
{
    const std::string text = cell == nullptr ? "" : CellText(*cell);
    if (text.find_first_of(",\"\n\r") == std::string::npos)
    {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text)
    {
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    return quoted + "\"";
}

/** Adds a column: integers if all cells are, else numbers (NaN if missing), else texts. */
void
AddColumn(Hdf5RowTable<Row>& file,
          const Table& table,
          const std::string& name,
          const std::string& phrase)
{
    bool areNumbers = true;
    bool areIntegers = true;
    for (const Row& row : table.rows)
    {
        const Json* cell = FindCell(row, name);
        areNumbers = areNumbers && (cell == nullptr || cell->is_number() || cell->is_boolean());
        areIntegers =
            areIntegers && cell != nullptr && (cell->is_number_integer() || cell->is_boolean());
    }
    const ColumnInfo info{name, areNumbers ? UnitsOf(name) : "", phrase, ""};
    if (areIntegers)
    {
        file.Add(info, [name](const Row& row) {
            const Json& cell = *FindCell(row, name);
            return cell.is_boolean() ? static_cast<int64_t>(cell.get<bool>()) : cell.get<int64_t>();
        });
    }
    else if (areNumbers)
    {
        file.Add(info, [name](const Row& row) {
            const Json* cell = FindCell(row, name);
            return cell == nullptr      ? std::numeric_limits<double>::quiet_NaN()
                   : cell->is_boolean() ? static_cast<double>(cell->get<bool>())
                                        : cell->get<double>();
        });
    }
    else
    {
        file.Add(info, [name](const Row& row) {
            const Json* cell = FindCell(row, name);
            return cell == nullptr ? std::string() : CellText(*cell);
        });
    }
}

} // namespace

std::string
ToText(const Sweep& sweep, const std::vector<EndedCase>& outcomes)
{
    const Table results = ResultsOf(sweep, outcomes);
    std::vector<std::string> columns = sweep.columns;
    std::vector<std::string> head = sweep.columns;
    for (const auto& [name, heading] : PRINTED)
    {
        std::string first;
        bool areSame = true;
        for (const Row& row : results.rows)
        {
            const std::string cell = PrintedOf(name, FindCell(row, name));
            first = first.empty() && cell != "-" ? cell : first;
            areSame = areSame && (cell == "-" || cell == first);
        }
        // A name that is the same in all results is not printed.
        const bool tellsNothing = name == std::string("name") && areSame;
        if (!first.empty() && !Has(columns, name) && !tellsNothing)
        {
            columns.emplace_back(name);
            head.emplace_back(heading);
        }
    }
    TextTable table(sweep.columns.size());
    table.Row(head);
    for (const Row& row : results.rows)
    {
        auto line = Mapped<std::string>(
            columns, [&](const std::string& name) { return PrintedOf(name, FindCell(row, name)); });
        if (const Json* ended = FindCell(row, "ended"); ended != nullptr && *ended != "done")
        {
            line.push_back(ended->get<std::string>());
        }
        table.Row(std::move(line));
    }
    return sweep.title + "\n" + table.Print(2);
}

std::string
ToCsv(const Sweep& sweep, const std::vector<EndedCase>& outcomes)
{
    const Table results = ResultsOf(sweep, outcomes);
    const auto columns = results.Columns();
    std::string text;
    for (const std::string& name : columns)
    {
        const Json cell = name;
        text += (text.empty() ? "" : ",") + CsvOf(&cell);
    }
    text += "\n";
    for (const Row& row : results.rows)
    {
        for (const std::string& name : columns)
        {
            text += (&name == &columns.front() ? "" : ",") + CsvOf(FindCell(row, name));
        }
        text += "\n";
    }
    return text;
}

std::string
ToJson(const Sweep& sweep, const std::vector<EndedCase>& outcomes)
{
    Json cases = Json::array();
    for (std::size_t i = 0; i < outcomes.size(); i++)
    {
        Json values = Json::object();
        for (std::size_t k = 0; k < sweep.columns.size(); k++)
        {
            values[sweep.columns[k]] = CellOf(sweep.cases[i].values[k]);
        }
        const Json result = ResultOf(outcomes[i]);
        cases.push_back({{"case", i},
                         {"values", values},
                         {"command", ShellLine(sweep.cases[i].words)},
                         {"ended", EndOf(outcomes[i])},
                         {"message", outcomes[i].message},
                         {"result", result.empty() ? Json() : result}});
    }
    return Json{
        {"title", sweep.title}, {"columns", sweep.columns}, {"keys", sweep.keys}, {"cases", cases}}
        .dump(2, ' ', false, Json::error_handler_t::replace);
}

void
WriteSweepFile(const std::string& path,
               const std::string& what,
               const Sweep& sweep,
               const std::vector<EndedCase>& outcomes)
{
    Hdf5File file(path, what);
    file.SetAttribute("/", "title", sweep.title);
    WriteVersions(file);
    file.WriteText("/provenance/sweep", ReadTextFile(sweep.path, "a YAML file"));
    for (const Table& table : TablesOf(sweep, outcomes))
    {
        const bool isOfCases = table.name == "cases";
        Hdf5RowTable<Row> group(file, "/" + table.name, isOfCases ? "case" : "row");
        for (const std::string& name : table.Columns())
        {
            const auto varied = std::find(sweep.columns.begin(), sweep.columns.end(), name);
            const auto index = static_cast<std::size_t>(varied - sweep.columns.begin());
            const std::string phrase = name == "case" ? "number of the case, as in /cases"
                                       : varied != sweep.columns.end()
                                           ? "varied key: " + sweep.keys[index]
                                           : "value in the command's --json output: " + name;
            if (!isOfCases || name != "case")
            {
                AddColumn(group, table, name, phrase);
            }
        }
        group.AppendAll(table.rows);
    }
    file.SetAttribute("/cases", "varied", JoinNames(sweep.columns, ","));
    file.Commit();
}

} // namespace weir
