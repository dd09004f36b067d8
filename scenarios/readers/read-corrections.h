// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READ_CORRECTIONS_H
#define WEIR_SCENARIOS_READ_CORRECTIONS_H

#include "fabric/transport/corrected/correction-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Reads what corrects a fluid: a map of models, or the name or path of a file with them.
 * @throws InputError at a key, value or name that is wrong.
 */
CorrectionSpec ReadCorrections(const YamlNode& node, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READ_CORRECTIONS_H
