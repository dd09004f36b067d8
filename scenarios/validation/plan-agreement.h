// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_PLAN_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_PLAN_AGREEMENT_H

#include "fabric/units.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <string>
#include <vector>

namespace weir
{

/** One training step at the fidelity of closed forms and at that of fluid flows. */
struct PlanPoint
{
    std::string machine;
    std::string plan;
    Time analytical;
    Time stream;
};

/**
 * Steps under products of parallelism whose communications meet on links: tensor ranks over several
 * nodes beside gradient buckets, fully sharded replicas, experts, parts of sequences, pipelines,
 * with a network port to each GPU, with ports that GPUs share, and with half the links upwards.
 * @param progress is called after every plan
 */
std::vector<PlanPoint> ComparePlans(const Catalog& catalog, const ShowSuite& progress);

/** A line for each plan, the errors of the closed forms, and where they come from. */
std::string ToText(const std::vector<PlanPoint>& points);

/** The points as cases, each in the class of its machine: closed forms beside fluid flows. */
std::vector<CaseOutcome> CasesOf(const std::vector<PlanPoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_PLAN_AGREEMENT_H
