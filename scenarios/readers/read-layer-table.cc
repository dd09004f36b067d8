// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-layer-table.h"

#include "compute-model/kernels/index-distribution.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr int64_t MAX_LAYERS = 100'000;
constexpr int64_t MAX_REPEATS = 10'000;

uint32_t
FigureOr(const YamlNode& node, const char* key, int64_t min, uint32_t otherwise)
{
    return node.ReadOr(key, otherwise, &YamlNode::AsCount, min, MAX_WIDTH);
}

bool
BiasOf(const YamlNode& node)
{
    return node.ReadOr("bias", true, &YamlNode::AsBool);
}

/** The value of `times`; 1 where it is absent. */
int64_t
TimesOf(const YamlNode& node, int64_t max)
{
    return node.ReadOr("times", int64_t{1}, &YamlNode::AsInteger, 1, max);
}

/** Three numbers: [c, h, w] or [size, stride, padding]. */
std::vector<uint32_t>
Triple(const YamlNode& node, int64_t min)
{
    auto numbers = node.Each(&YamlNode::AsCount, min, MAX_WIDTH);
    if (numbers.size() != 3)
    {
        node.Fail("found " + std::to_string(numbers.size()) + " numbers, expected 3");
    }
    return numbers;
}

SampleShape
ReadShape(const YamlNode& node)
{
    const std::vector<uint32_t> numbers = Triple(node, 1);
    return {numbers[0], numbers[1], numbers[2]};
}

/** Reads the entries of `network:` into a builder. */
class NetworkReader
{
  public:
    NetworkReader(const SampleShape& input, const std::vector<EmbeddingTable>& embeddings)
        : m_builder(input),
          m_embeddings(embeddings)
    {
    }

    void Read(const YamlNode& list)
    {
        for (const YamlNode& entry : list.Items())
        {
            ConvertErrors(entry.Where(),
                          [&] { entry.IsScalar() ? ReadName(entry) : ReadMap(entry); });
        }
    }

    std::vector<TableLayer> Take()
    {
        return m_builder.Take();
    }

  private:
    void ReadName(const YamlNode& entry)
    {
        const NamedChoices<TableOp> words = {{"batchNorm", TableOp::BatchNorm},
                                             {"relu", TableOp::Relu},
                                             {"add", TableOp::Add},
                                             {"dropout", TableOp::Dropout},
                                             {"loss", TableOp::Loss},
                                             {"globalAveragePool", TableOp::AveragePool},
                                             {"embeddings", TableOp::Embeddings},
                                             {"dot", TableOp::DotInteraction}};
        switch (const TableOp op = entry.AsEnum(words))
        {
        case TableOp::AveragePool:
            return m_builder.GlobalAveragePool();
        case TableOp::Embeddings:
            return m_builder.Embeddings(m_embeddings);
        case TableOp::DotInteraction:
            return m_builder.DotInteraction();
        default:
            return m_builder.Keep(op);
        }
    }

    void ReadMap(const YamlNode& entry)
    {
        if (entry.Has("convolution"))
        {
            entry.CheckKeys(YamlKeysOf("model.network.convolution"));
            const Window window{ReadWidth(entry.Get("size")),
                                FigureOr(entry, "stride", 1, 1),
                                FigureOr(entry, "padding", 0, 0)};
            m_builder.Convolution(ReadWidth(entry.Get("convolution")),
                                  window,
                                  FigureOr(entry, "groups", 1, 1),
                                  BiasOf(entry));
        }
        else if (entry.Has("linear"))
        {
            entry.CheckKeys(YamlKeysOf("model.network.linear"));
            m_builder.Linear(ReadWidth(entry.Get("linear")), BiasOf(entry));
        }
        else if (entry.Has("maxPool") || entry.Has("averagePool"))
        {
            ReadPool(entry);
        }
        else if (entry.Has("bottleneck") || entry.Has("basicBlock"))
        {
            ReadBlocks(entry);
        }
        else if (entry.Has("cross"))
        {
            entry.CheckKeys(YamlKeysOf("model.network.cross"));
            const int64_t times = TimesOf(entry, MAX_REPEATS);
            for (int64_t i = 0; i < times; i++)
            {
                m_builder.Cross(ReadWidth(entry.Get("cross")));
            }
        }
        else if (entry.Has("repeat"))
        {
            entry.CheckKeys(YamlKeysOf("model.network.repeat"));
            const int64_t times = entry.Get("repeat").AsInteger(1, MAX_REPEATS);
            for (int64_t i = 0; i < times; i++)
            {
                Read(entry.Get("layers"));
            }
        }
        else if (entry.Has("layer"))
        {
            ReadStated(entry);
        }
        else
        {
            RefuseUnknown(entry);
        }
    }

    [[noreturn]] static void RefuseUnknown(const YamlNode& entry)
    {
        std::vector<std::string> known;
        for (const YamlKeyMap& map : YamlKeyMaps())
        {
            for (const YamlKey& key : map.keys)
            {
                const bool isLayer = map.name.rfind("model.network.", 0) == 0;
                if (isLayer && !IsAmong(key.name, known))
                {
                    known.push_back(key.name);
                }
            }
        }
        entry.CheckKeys(known);
        entry.Fail(
            "found no kind of layer in it, expected one of: convolution, linear, maxPool, "
            "averagePool, bottleneck, basicBlock, cross, repeat, layer");
    }

    void ReadPool(const YamlNode& entry)
    {
        const bool isMaximum = entry.Has("maxPool");
        const char* key = isMaximum ? "maxPool" : "averagePool";
        entry.CheckKeys(YamlKeysOf("model.network.pool"));
        const uint32_t size = ReadWidth(entry.Get(key));
        m_builder.Pool(
            isMaximum ? TableOp::MaxPool : TableOp::AveragePool,
            {size, FigureOr(entry, "stride", 1, size), FigureOr(entry, "padding", 0, 0)});
    }

    void ReadBlocks(const YamlNode& entry)
    {
        const bool isBottleneck = entry.Has("bottleneck");
        const char* key = isBottleneck ? "bottleneck" : "basicBlock";
        entry.CheckKeys(YamlKeysOf("model.network.block"));
        const uint32_t stride = FigureOr(entry, "stride", 1, 1);
        const int64_t times = TimesOf(entry, MAX_REPEATS);
        for (int64_t i = 0; i < times; i++)
        {
            m_builder.Residual(ReadWidth(entry.Get(key)), i == 0 ? stride : 1, isBottleneck);
        }
    }

    void ReadStated(const YamlNode& entry)
    {
        entry.CheckKeys(YamlKeysOf("model.network.layer"));
        TableLayer layer;
        layer.op = entry.Get("layer").AsEnum(TableOpNames());
        layer.name = entry.Get("name").AsString();
        layer.in = ReadShape(entry.Get("in"));
        layer.out = ReadShape(entry.Get("out"));
        const std::vector<uint32_t> window = Triple(entry.Get("window"), 0);
        layer.window = {window[0], window[1], window[2]};
        layer.groups = FigureOr(entry, "groups", 1, 1);
        layer.rank = FigureOr(entry, "rank", 0, 0);
        layer.bias = BiasOf(entry);
        m_builder.State(layer);
    }

    LayerTableBuilder m_builder;
    const std::vector<EmbeddingTable>& m_embeddings;
};

/** Requires exactly one entry `embeddings` where there are embedding tables, none elsewhere. */
void
CheckJoin(const LayerTable& table, const YamlNode& network)
{
    const auto joins =
        std::count_if(table.layers.begin(), table.layers.end(), [](const TableLayer& layer) {
            return layer.op == TableOp::Embeddings;
        });
    if (joins != (table.embeddings.empty() ? 0 : 1))
    {
        network.Fail("found " + std::to_string(joins) + " entries 'embeddings', expected " +
                     (table.embeddings.empty() ? "none without tables"
                                               : "one, where their outputs join the layers"));
    }
}

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

/** Reads [[rows, share], ...] for a table of @p rows; counts of look-ups if @p areCounts. */
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
    table.dim = (dim ? *dim : node.Get("dim")).AsCount(1, MAX_ROW_WIDTH);
    node.Read("pooling", table.pooling, &YamlNode::AsCount, 1, MAX_POOLING);
    ReadUse(node, defaults, table);
    return table;
}

/**
 * Reads a model's `embeddings:`, {dim, zipf, tables: [...]}, where each table is {rows, pooling,
 * dim, zipf, indices, classes, classesOf, times}. `dim` and `zipf` of the outer map are defaults of
 * all tables, pooling defaults to 1, and `times` is the number of copies of a table.
 *
 * The distribution of looked-up rows is given by one of: an exponent `zipf` (default 0: uniform);
 * `indices`, a file beside this one with one index per line; or `classes` of equally used rows,
 * [[rows, share of the look-ups], ...]. With `classesOf: N` the shares are counts in a list of N
 * look-ups, as counted from a file of indices.
 * @throws InputError with the location of what is missing, unknown, out of range or does not fit.
 */
std::vector<EmbeddingTable>
ReadEmbeddingTables(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("model.embeddings"));
    std::vector<EmbeddingTable> tables;
    const YamlNode list = node.Get("tables");
    for (const YamlNode& item : list.Items())
    {
        const EmbeddingTable table = ReadTable(item, node);
        tables.insert(tables.end(), static_cast<std::size_t>(TimesOf(item, MAX_TABLES)), table);
    }
    if (tables.empty() || tables.size() > static_cast<std::size_t>(MAX_TABLES))
    {
        list.Fail("found " + std::to_string(tables.size()) + " tables, expected 1 to " +
                  std::to_string(MAX_TABLES));
    }
    return tables;
}

} // namespace

bool
IsLayerTable(const YamlNode& reference, const Catalog& catalog)
{
    return ResolveBase(reference, CatalogKind::Models, catalog).Has("network");
}

LayerTable
ReadLayerTable(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolveBase(reference, CatalogKind::Models, catalog);
    node.CheckKeys(YamlKeysOf("model (layer table)"));
    LayerTable table;
    table.name = node.Get("name").AsString();
    table.source = ReadSource(node);
    node.Read("embeddings", table.embeddings, ReadEmbeddingTables);
    NetworkReader reader(ReadShape(node.Get("input")), table.embeddings);
    const YamlNode network = node.Get("network");
    reader.Read(network);
    table.layers = reader.Take();
    if (table.layers.empty() || table.layers.size() > MAX_LAYERS || table.Parameters() == 0)
    {
        network.Fail("found " + std::to_string(table.layers.size()) + " layers, expected 1 to " +
                     std::to_string(MAX_LAYERS) + ", one with weights among them");
    }
    CheckJoin(table, network);
    node.CheckAllRead({"title"});
    return table;
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
