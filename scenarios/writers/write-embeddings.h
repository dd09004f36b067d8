// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_EMBEDDINGS_H
#define WEIR_SCENARIOS_WRITERS_WRITE_EMBEDDINGS_H

#include "compute-model/models/embedding-table.h"
#include "compute-model/plan/embedding-sharding.h"
#include "scenarios/yaml/yaml-writer.h"

#include <vector>

namespace weir
{

/** A model's embedding tables as ReadEmbeddingTables takes them; nothing where there are none. */
void WriteEmbeddingTables(YamlWriter& out, const std::vector<EmbeddingTable>& tables);

/** A plan's as ReadEmbeddingSharding takes them. */
void WriteEmbeddingSharding(YamlWriter& out, const EmbeddingSharding& sharding);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_EMBEDDINGS_H
