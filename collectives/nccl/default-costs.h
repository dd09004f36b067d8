// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_DEFAULT_COSTS_H
#define WEIR_COLLECTIVES_NCCL_DEFAULT_COSTS_H

#include "collectives/nccl/node-cost.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * Per-message overheads where a system does not say otherwise: the figures of
 * descriptions of architectures, hosts and transports (scenarios/architectures, hosts, transports),
 * with sources. These begin with how the figure came from them: measured (it is what was measured),
 * fitted (it makes the model's times those measured), inferred (it is one explanation of what was
 * measured), estimate.
 */
namespace weir
{

/** A figure and what it was measured at. */
struct CostFigure
{
    NodeCost cost;
    double clockGhz{0}; //!< of the SMs: the figure is that many times longer where theirs is
                        //!< slower; 0: whatever the clock
    double portGBps{0}; //!< faster ports have the figure in proportion, slower ones have no bound;
                        //!< 0: whatever the port
};

/** What a description says of costs. */
struct CostDescription
{
    std::string folder; //!< "architectures", "hosts" or "transports"
    std::string name;
    std::string base;              //!< the one of its folder that it differs from; empty: none
    uint32_t computeCapability{0}; //!< of an architecture, from which on, times ten
    double clockGhz{0};            //!< boost clock of an architecture's SMs; 0: its base's
    std::vector<CostFigure> figures;
};

/** Those of the catalogue that Weir was built with: an architecture's come by computeCapability,
 * growing. Written by shipped-costs.cmake. */
const std::vector<CostDescription>& ShippedCosts();

/** The figures for SMs of a clock and ports of a rate, in the order of @p figures; those of faster
 * ports are left out. */
std::vector<NodeCost> CostsAt(const std::vector<CostFigure>& figures, double clockGhz, Rate port);

/** By kind, what ShippedCosts has for the GPUs, hosts and NICs of @p node; its own `costs` do not
 * count. O(figures). */
std::array<NodeCost, NODE_COST_KINDS> DefaultCosts(const NodeSpec& node);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_DEFAULT_COSTS_H
