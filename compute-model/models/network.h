// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_MODELS_NETWORK_H
#define WEIR_COMPUTE_MODEL_MODELS_NETWORK_H

#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"

#include <variant>

namespace weir
{

/** Model that a job trains: a transformer, or a network given as a table of layers. */
using Network = std::variant<Transformer, LayerTable>;

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_MODELS_NETWORK_H
