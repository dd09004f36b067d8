// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_WRITE_OUTCOMES_H
#define WEIR_SCENARIOS_VALIDATION_WRITE_OUTCOMES_H

#include "scenarios/results/hdf5-file.h"
#include "scenarios/validation/validate.h"

#include <vector>

namespace weir
{

/**
 * Versions in /provenance, and a group a suite below /validation.
 *
 * - /validation/SUITE: a row a case. Cases of measured collectives have their size and bus
 *   bandwidths; where times and plain numbers are in one table, a column says which a case is.
 * - /validation/SUITE/statements: a row a statement
 * - /validation/SUITE/bounds, of error bounds: a row a bound of a fresh case at each coverage
 */
void WriteOutcomes(Hdf5File& file, const std::vector<SuiteOutcome>& outcomes);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_WRITE_OUTCOMES_H
