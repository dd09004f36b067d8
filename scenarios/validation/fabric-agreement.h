// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_FABRIC_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_FABRIC_AGREEMENT_H

#include "collectives/collective.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <string>
#include <vector>

namespace weir
{

/** One call over a fabric whose links do not carry all that its NICs could send. */
struct FabricPoint
{
    std::string fabric;
    std::string routing;
    std::string call; //!< operation and algorithm
    Time analytical;
    Time stream;
    Time flow;
};

/**
 * Ring and tree all-reduce and all-to-all of 32 MiB over 16 nodes of four GPUs and NICs, on
 * dragonflies, a dragonfly+, a torus, a fat tree with half the links upwards and a leaf-spine,
 * under every routing that the fabric can have.
 * @param progress is called after every fabric and routing
 */
std::vector<FabricPoint> CompareOnFabrics(const Catalog& catalog, const ShowSuite& progress);

/** A line for each fabric and routing, and why what is left differs. */
std::string ToText(const std::vector<FabricPoint>& points);

/**
 * The points as cases: in the class "fabrics: flow/stream" and in that of its routing the flow's
 * time beside the stream's, in "fabrics: stream/closed form" the stream's beside the closed form's.
 */
std::vector<CaseOutcome> CasesOf(const std::vector<FabricPoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_FABRIC_AGREEMENT_H
