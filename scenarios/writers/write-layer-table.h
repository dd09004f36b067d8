// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_LAYER_TABLE_H
#define WEIR_SCENARIOS_WRITERS_WRITE_LAYER_TABLE_H

#include "compute-model/models/layer-table.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** A job's `model:` that ReadLayerTable reads back equal, layer by layer. */
void WriteLayerTable(YamlWriter& out, const LayerTable& table);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_LAYER_TABLE_H
