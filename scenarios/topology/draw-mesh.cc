// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/draw-mesh.h"

#include "scenarios/topology/topology-style.h"

#include <cmath>
#include <vector>

namespace weir
{
namespace
{

} // namespace

void
DrawMesh(SvgCanvas& canvas, const NodeSpec& node, SvgPoint corner, double side)
{
    canvas.Frame(corner, side, side, "NVLinks of node0: x of a bundle, (of a GPU)");
    const SvgPoint centre{corner.x + side / 2, corner.y + side / 2 - 6};
    const double radius = side / 2 - 44;
    const auto at = [&](uint32_t gpu) {
        constexpr double TURN = 6.283185307179586;
        const double angle = TURN * (gpu + 0.5) / node.gpus - TURN / 2;
        return SvgPoint{centre.x + radius * std::sin(angle), centre.y + radius * std::cos(angle)};
    };
    std::vector<uint32_t> links(node.gpus, 0); // of all bundles of a GPU
    for (const MeshLink& link : node.meshLinks)
    {
        const SvgPoint a = at(link.a);
        const SvgPoint b = at(link.b);
        canvas.Line(
            a, b, LineWidth(node.nvlink.PayloadRate() * link.links), ColorOf(LinkKind::NvLink));
        // Off the middle, where the lines of a ring's diameters meet.
        constexpr double ALONG = 0.28;
        const SvgPoint label{a.x + (b.x - a.x) * ALONG + 4, a.y + (b.y - a.y) * ALONG - 3};
        canvas.Text(label, "x" + std::to_string(link.links), 12, "start", "#1b5e20");
        links[link.a] += link.links;
        links[link.b] += link.links;
    }
    for (uint32_t gpu = 0; gpu < node.gpus; gpu++)
    {
        canvas.Box(at(gpu),
                   64,
                   BOX_HEIGHT,
                   FillOf(DeviceKind::Gpu),
                   "gpu" + std::to_string(gpu) + " (" + std::to_string(links[gpu]) + ")");
    }
}

} // namespace weir
