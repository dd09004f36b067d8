// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-embeddings.h"

#include "compute-model/kernels/index-distribution.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

constexpr auto MAX_ROWS = static_cast<int64_t>(MAX_TABLE_ROWS);
constexpr int64_t MAX_ROW_WIDTH = 65536; //!< of a row
constexpr int64_t MAX_POOLING = 65536;   //!< rows of a bag
constexpr int64_t MAX_TABLES = 65536;
constexpr double MAX_ZIPF = 16;       //!< of the exponent
constexpr double MAX_OBSERVED = 1e15; //!< look-ups in a list

constexpr std::size_t WITHOUT_NAME = std::char_traits<char>::length("IndexDistribution: ");

/** The value of @p key in @p node, or in @p defaults. */
std::optional<YamlNode>
FindIn(const YamlNode& node, const YamlNode& defaults, const char* key)
{
    const auto found = node.Find(key);
    return found ? found : defaults.Find(key);
}

/**
 * Reads [[rows, share], ...] for a table of @p rows; @p areCounts: counts of look-ups instead of
 * shares.
 */
std::vector<RowClass>
ReadClasses(const YamlNode& node, uint64_t rows, bool areCounts)
{
    std::vector<RowClass> classes;
    double sum = 0;
    double looked = 0;
    for (const YamlNode& item : node.Items())
    {
        const std::vector<YamlNode> pair = item.Items();
        if (pair.size() != 2)
        {
            item.Fail("found " + std::to_string(pair.size()) +
                      " numbers, expected 2: rows and their share of the look-ups");
        }
        RowClass one;
        one.rows = pair[0].AsNumber(1e-9, static_cast<double>(MAX_ROWS));
        const double share = pair[1].AsNumber(0, 1e18);
        one.probability = share / one.rows;
        sum += one.rows;
        looked += share;
        classes.push_back(one);
    }
    constexpr double ROUNDING = 1e-6;
    if (sum > static_cast<double>(rows) * (1 + ROUNDING) || !(looked > 0))
    {
        node.Fail("found classes of " + std::to_string(static_cast<uint64_t>(sum)) +
                  " rows in total, expected at most the table's " + std::to_string(rows) +
                  " and at least one look-up");
    }
    constexpr double ROUNDED_SHARES = 0.01;
    if (!areCounts && std::abs(looked - 1) > ROUNDED_SHARES)
    {
        node.Fail("found shares of the look-ups that sum to " +
                  FormatNumber(std::round(looked * 1e6) / 1e6) +
                  ", expected 1, or counts with 'classesOf'");
    }
    return classes;
}

/** Reads the distribution of looked-up rows of @p table. */
void
ReadUse(const YamlNode& node, const YamlNode& defaults, EmbeddingTable& table)
{
    const int kinds = int{node.Has("zipf")} + int{node.Has("indices")} + int{node.Has("classes")};
    if (kinds > 1)
    {
        node.Fail("found several of zipf, indices and classes, expected one of them");
    }
    if (const auto indices = node.Find("indices"))
    {
        const auto seen = IndexDistribution::Observed(
            ReadIndices(indices->AsPathBesideFile(), indices->Where(), table.rows));
        table.classes = seen.Classes();
        table.observed = seen.ObservedLookups();
    }
    else if (const auto classes = node.Find("classes"))
    {
        table.classes = ReadClasses(*classes, table.rows, node.Has("classesOf"));
        if (const auto observed = node.Find("classesOf"))
        {
            table.observed = observed->AsNumber(1, MAX_OBSERVED);
            try
            {
                IndexDistribution::Counted(table.classes, table.observed);
            }
            catch (const std::invalid_argument& error)
            {
                observed->Fail("found " + observed->AsString() + ", with which " +
                               std::string(error.what()).substr(WITHOUT_NAME) +
                               ", expected a whole number for every class");
            }
        }
    }
    else if (const auto zipf = FindIn(node, defaults, "zipf"))
    {
        table.zipf = zipf->AsNumber(0, MAX_ZIPF);
    }
}

EmbeddingTable
ReadTable(const YamlNode& node, const YamlNode& defaults)
{
    node.CheckKeys(YamlKeysOf("model.embeddings.tables"));
    EmbeddingTable table;
    table.rows = static_cast<uint64_t>(node.Get("rows").AsInteger(1, MAX_ROWS));
    const auto dim = FindIn(node, defaults, "dim");
    // Get() again, so that the error names the table.
    table.dim = static_cast<uint32_t>((dim ? *dim : node.Get("dim")).AsInteger(1, MAX_ROW_WIDTH));
    node.Read("pooling", table.pooling, &YamlNode::AsCount, 1, MAX_POOLING);
    ReadUse(node, defaults, table);
    return table;
}

} // namespace

std::vector<EmbeddingTable>
ReadEmbeddingTables(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("model.embeddings"));
    std::vector<EmbeddingTable> tables;
    const YamlNode list = node.Get("tables");
    for (const YamlNode& item : list.Items())
    {
        const EmbeddingTable table = ReadTable(item, node);
        const auto times = item.Find("times");
        const int64_t count = times ? times->AsInteger(1, MAX_TABLES) : 1;
        tables.insert(tables.end(), static_cast<std::size_t>(count), table);
    }
    if (tables.empty() || tables.size() > static_cast<std::size_t>(MAX_TABLES))
    {
        list.Fail("found " + std::to_string(tables.size()) + " tables, expected 1 to " +
                  std::to_string(MAX_TABLES));
    }
    return tables;
}

std::vector<uint64_t>
ReadIndices(const std::string& path, const std::string& location, uint64_t rows)
{
    LocatedLines lines(path, location);
    std::vector<uint64_t> indices;
    while (lines.NextAtCommas())
    {
        const auto last = static_cast<int64_t>(rows - 1);
        indices.push_back(static_cast<uint64_t>(lines.Whole(0, "index", 0, last)));
    }
    if (indices.empty())
    {
        throw InputError(location + ": found no index in " + path + ", expected one a line");
    }
    return indices;
}

} // namespace weir
