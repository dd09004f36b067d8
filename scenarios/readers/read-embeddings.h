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
std::vector<EmbeddingTable> ReadEmbeddingTables(const YamlNode& node);

constexpr uint64_t MAX_TABLE_ROWS = uint64_t{1} << 40; //!< of an embedding table

/**
 * Reads a file of indices, one per line.
 * @param location of the key that names the file, for messages
 * @param rows of the table: upper bound (exclusive) of the indices
 * @throws InputError at a line that is not an index, or when there is none.
 */
std::vector<uint64_t> ReadIndices(const std::string& path,
                                  const std::string& location,
                                  uint64_t rows = MAX_TABLE_ROWS);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_EMBEDDINGS_H
