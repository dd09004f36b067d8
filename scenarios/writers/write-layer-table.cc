// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-layer-table.h"

#include "compute-model/models/layer-table.h"
#include "scenarios/readers/scenario-names.h"

#include <vector>

namespace weir
{

namespace
{

/** Its own share is what the reader divides by the rows again. */
void
WriteUse(YamlWriter& out, const EmbeddingTable& table)
{
    if (table.classes.empty())
    {
        out.Number("zipf", table.zipf);
        return;
    }
    out.BeginList("classes");
    for (const RowClass& one : table.classes)
    {
        out.Pair(one.rows, one.rows * one.probability);
    }
    out.EndList();
    if (table.observed > 0)
    {
        out.Number("classesOf", table.observed);
    }
}

/** A model's embedding tables as ReadEmbeddingTables takes them; nothing where there are none. */
void
WriteEmbeddingTables(YamlWriter& out, const std::vector<EmbeddingTable>& tables)
{
    if (tables.empty())
    {
        return;
    }
    out.BeginMap("embeddings");
    out.BeginList("tables");
    for (const EmbeddingTable& table : tables)
    {
        out.BeginMap();
        out.Integer("rows", table.rows);
        out.Integer("dim", table.dim);
        out.Integer("pooling", table.pooling);
        WriteUse(out, table);
        out.EndMap();
    }
    out.EndList();
    out.EndMap();
}

void
WriteTriple(YamlWriter& out, const char* key, uint32_t a, uint32_t b, uint32_t c)
{
    out.BeginList(key);
    for (const uint32_t number : {a, b, c})
    {
        out.Item(std::to_string(number));
    }
    out.EndList();
}

void
WriteSampleShape(YamlWriter& out, const char* key, const SampleShape& shape)
{
    WriteTriple(out, key, shape.channels, shape.height, shape.width);
}

} // namespace

void
WriteLayerTable(YamlWriter& out, const LayerTable& table)
{
    out.BeginMap("model");
    out.Text("name", table.name);
    out.Text("source", table.source);
    WriteSampleShape(out, "input", table.layers.front().in);
    WriteEmbeddingTables(out, table.embeddings);
    out.BeginList("network");
    for (const TableLayer& layer : table.layers)
    {
        out.BeginMap();
        out.Text("layer", NameOf(TableOpNames(), layer.op));
        out.Text("name", layer.name);
        WriteSampleShape(out, "in", layer.in);
        WriteSampleShape(out, "out", layer.out);
        WriteTriple(out, "window", layer.window.size, layer.window.stride, layer.window.padding);
        out.Integer("groups", layer.groups);
        out.Integer("rank", layer.rank);
        out.Flag("bias", layer.bias);
        out.EndMap();
    }
    out.EndList();
    out.EndMap();
}

} // namespace weir
