// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_LEFT_OUT_CLUSTERS_H
#define WEIR_SCENARIOS_VALIDATION_LEFT_OUT_CLUSTERS_H

#include "scenarios/catalog.h"
#include "scenarios/validation/collective-table.h"
#include "scenarios/yaml/yaml-node.h"

#include <vector>

namespace weir
{

/**
 * The runs of all suites of collectives, every cluster predicted from other clusters' figures
 * alone.
 *
 * @p leftOut is a list of {suite, systems}: the runs of `suite` on the system that one of `systems`
 * has as its `base` are predicted with that one, whose figures none of these runs gave. Runs of
 * suites that are not in the list keep their systems.
 *
 * @throws InputError with the place of what is missing or unknown, of a suite that has no runs of
 * collectives and of a system whose base none of its runs is on.
 */
std::vector<MeasuredCollective> ReadLeftOutClusters(const YamlNode& leftOut,
                                                    const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_LEFT_OUT_CLUSTERS_H
