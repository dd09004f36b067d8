// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CALIBRATION_FILE_H
#define WEIR_SCENARIOS_BOUND_CALIBRATION_FILE_H

#include "scenarios/bound/calibration.h"
#include "scenarios/catalog.h"

#include <string>

namespace weir
{

/**
 * The calibration as YAML: {title, command, version, reference, seed, scenarios, features,
 * regimes: [{name, cases, ranges: [[least, most], ...], intervals: [[coverage, lower,
 * upper, ranks, inside], ...]}]}. Ranges are by feature, as logarithms of base 2; intervals of
 * ln(reference over estimate); those that are infinite are left out.
 */
std::string ToYaml(const Calibration& calibration);

/**
 * The calibration of the catalogue called @p nameOrPath.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
Calibration ReadCalibration(const std::string& nameOrPath, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALIBRATION_FILE_H
