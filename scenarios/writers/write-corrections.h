// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITE_CORRECTIONS_H
#define WEIR_SCENARIOS_WRITE_CORRECTIONS_H

#include "fabric/transport/corrected/correction-spec.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** The keys of each model of @p spec, into the map that is open. */
void WriteCorrections(YamlWriter& out, CorrectionSpec spec);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITE_CORRECTIONS_H
