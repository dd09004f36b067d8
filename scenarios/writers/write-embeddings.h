// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_EMBEDDINGS_H
#define WEIR_SCENARIOS_WRITERS_WRITE_EMBEDDINGS_H

#include "compute-model/models/embedding-table.h"
#include "scenarios/yaml/yaml-writer.h"

#include <vector>

namespace weir
{

/** A model's embedding tables as ReadEmbeddingTables takes them; nothing where there are none. */
void WriteEmbeddingTables(YamlWriter& out, const std::vector<EmbeddingTable>& tables);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_EMBEDDINGS_H
