// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_WRITE_OUTCOMES_H
#define WEIR_SCENARIOS_VALIDATION_WRITE_OUTCOMES_H

#include "scenarios/results/hdf5-file.h"
#include "scenarios/validation/validate.h"

#include <vector>

namespace weir
{

/**
 * Writes the versions to /provenance, and one group per suite below /validation.
 *
 *  - /validation/SUITE: one row per case. Cases of measured collectives have their size and bus
 *    bandwidths; if a table has both times and dimensionless values, a column states the unit.
 *  - /validation/SUITE/statements: one row per statement
 *  - /validation/SUITE/bounds, for error bounds: one row per bound of a fresh case and coverage
 */
void WriteOutcomes(Hdf5File& file, const std::vector<SuiteOutcome>& outcomes);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_WRITE_OUTCOMES_H
