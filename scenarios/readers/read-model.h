// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_MODEL_H
#define WEIR_SCENARIOS_READERS_READ_MODEL_H

#include "compute-model/models/transformer.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * A model: a name or path of the catalogue, or a map of Transformer's fields, with `base:` or
 * without. heads may be followed by kvHeads (else as many), headDim (else hidden / heads) and ffn
 * (else four times hidden).
 * @throws InputError with the place of what is missing, unknown, out of range or does not divide.
 */
Transformer ReadModel(const YamlNode& node, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_MODEL_H
