// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_EXPERTS_H
#define WEIR_SCENARIOS_WRITERS_WRITE_EXPERTS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** What ReadExpertLayers reads; nothing without experts. */
void WriteExpertLayers(YamlWriter& out, const ExpertLayers& moe);

/** What ReadExpertLoad reads. */
void WriteExpertLoad(YamlWriter& out, const ExpertLoad& load);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_EXPERTS_H
