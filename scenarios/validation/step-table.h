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
 * The cases of a suite that is a table of measured steps: {table, measured, run, columns, classes}.
 *
 * `table` is a file of comma-separated values beside the suite, with the names of its columns in
 * the first line; its column `case` names the row, the column that `measured` names holds seconds.
 * `run` is a scenario (or the name of a run) that every row starts from, and `columns` says where
 * in it the values of a column go ("tensor: jobs.0.parallel.tensor"); an empty cell leaves what
 * `run` has. Errors are also averaged over rows that agree in one of the columns `classes`.
 *
 * @throws InputError with the place of what is missing, unknown or out of range; what is wrong with
 * a row is said with the table's file and line.
 */
std::vector<ValidationCase> ReadStepTable(const YamlNode& suite, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_STEP_TABLE_H
