// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_DRAW_MESH_H
#define WEIR_SCENARIOS_TOPOLOGY_DRAW_MESH_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/topology/svg-canvas.h"

namespace weir
{

/** The GPUs of a mesh in a ring, with their direct links, in a square panel. */
void DrawMesh(SvgCanvas& canvas, const NodeSpec& node, SvgPoint corner, double side);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_DRAW_MESH_H
