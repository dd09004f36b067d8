// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_EMBEDDINGS_H
#define WEIR_SCENARIOS_READERS_READ_EMBEDDINGS_H

#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * A model's `embeddings:`, {dim, zipf, tables: [...]}, a table being {rows, pooling, dim, zipf,
 * indices, classes, classesOf, times}: `dim` and `zipf` of all tables may stand before them,
 * pooling is 1 if not given, `times` says how many there are of a table. Which rows are looked up
 * is told by an exponent `zipf` (0, alike, if not given), by `indices`, a file of indices beside
 * this one, one a line, or by `classes` of rows that are used alike: [[rows, share of the
 * look-ups], ...]; with `classesOf: N` they were counted in a list of N look-ups, as those of a
 * file are.
 * @throws InputError with the place of what is missing, unknown, out of range or does not fit.
 */
std::vector<EmbeddingTable> ReadEmbeddingTables(const YamlNode& node);

constexpr uint64_t MAX_TABLE_ROWS = uint64_t{1} << 40; //!< of an embedding table

/**
 * The indices that a file lists, one a line.
 * @param place of its name, for messages.
 * @param rows of the table: each is below that.
 * @throws InputError at the line that is not an index, or when there is none.
 */
std::vector<uint64_t> ReadIndices(const std::string& path,
                                  const std::string& place,
                                  uint64_t rows = MAX_TABLE_ROWS);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_EMBEDDINGS_H
