// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_SCENARIO_H
#define WEIR_SCENARIOS_WRITERS_WRITE_SCENARIO_H

#include "scenarios/scenario.h"

#include <string>

namespace weir
{

/**
 * The scenario after defaults as YAML, for provenance: system and models are written in full, the
 * GPU by name. ReadScenario reads it back to an equal scenario (except for the path).
 */
std::string DumpScenario(const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_SCENARIO_H
