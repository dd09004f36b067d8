// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-embeddings.h"

#include "scenarios/readers/scenario-names.h"

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

} // namespace

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

} // namespace weir
