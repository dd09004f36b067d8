// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_STEP_TABLE_H
#define WEIR_SCENARIOS_VALIDATION_STEP_TABLE_H

#include "scenarios/catalog.h"
#include "scenarios/validation/read-suite.h"
#include "scenarios/yaml/yaml-node.h"

#include <vector>

namespace weir
{

/**
 * Reads the cases of a suite that is a table of measured steps: {table, measured, run, columns,
 * classes}.
 *
 * `table` is a CSV file next to the suite with column names in the first line. The column `case`
 * names the row; the column that `measured` names holds seconds. `run` is the scenario (or the name
 * of a run) on which every row is based. `columns` maps columns to key paths of the scenario
 * ("tensor: jobs.0.parallel.tensor"); an empty cell keeps the value of `run`. Errors are also
 * averaged over rows with equal values in one of the columns `classes`.
 *
 * @throws InputError with the location of what is missing, unknown or out of range; errors in a row
 *         are located by the table's file and line.
 */
std::vector<ValidationCase> ReadStepTable(const YamlNode& suite, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_STEP_TABLE_H
