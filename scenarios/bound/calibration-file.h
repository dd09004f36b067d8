// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CALIBRATION_FILE_H
#define WEIR_SCENARIOS_BOUND_CALIBRATION_FILE_H

#include "scenarios/bound/calibration.h"
#include "scenarios/catalog.h"

#include <string>

namespace weir
{

/**
 * Writes the calibration as YAML: {title, command, version, reference, seed, scenarios, features,
 * regimes: [{name, cases, ranges: [[least, most], ...], intervals: [[coverage, lower, upper, ranks,
 * inside], ...]}]}. Ranges are by feature, as logarithms to base 2; intervals are of ln(reference /
 * estimate). Infinite intervals are omitted.
 */
std::string ToYaml(const Calibration& calibration);

/**
 * Reads the calibration @p nameOrPath of the catalog.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
Calibration ReadCalibration(const std::string& nameOrPath, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALIBRATION_FILE_H
