// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_MODEL_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_MODEL_H

#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"

#include <string>

namespace weir
{

/** A model for the terminal: its shape, its parameters, the operations of a token. */
std::string DescribeModel(const Transformer& model);

/** A table of layers for the terminal: one line a layer with weights, and their sums. */
std::string DescribeTable(const LayerTable& table);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_MODEL_H
