# SPDX-License-Identifier: GPL-2.0-only
"""Link utilization on the topology: a drawing of the fabric, and every link as a cell."""
import math

import numpy
from matplotlib import collections

from weir.errors import Missing
from weir.figure import Figure, heat, heat_bar, heat_image, new_figure
from weir.network import class_of, ends_of, natural, node_of, tiers_of, with_ends

FEW_TICKS = 34     # so many names fit beside an axis
RASTER_FROM = 800  # so many lines are an image within the picture
NODE_PANELS = ["within nodes", "nodes to switches", "switches to nodes"]


def cell_of(source, target, name, tiers):
    """Panel, row and column of a link.

    A link of a node is a row of its class in the column of its node. A link between switches is in
    the matrix of their classes: its source's row, its target's column.
    """
    inside, outside = node_of(source), node_of(target)
    if inside and inside == outside:
        return "within nodes", name, inside
    if inside and outside:
        return "between nodes", inside, outside
    if inside:
        return "nodes to switches", f"{source.rpartition('/')[2]}->{class_of(target)}", inside
    if outside:
        return "switches to nodes", f"{class_of(source)}->{target.rpartition('/')[2]}", outside
    panel = f"{class_of(source)} to {class_of(target)}"
    if class_of(source) == class_of(target) and tiers.get(source) != tiers.get(target):
        panel += f", tier {tiers.get(source)} to {tiers.get(target)}"
    return panel, source, target


def kind_of(device, band):
    """What the devices of a band are called; some have numbers alone for names."""
    if class_of(device) != "device":
        return class_of(device) if band else "node"
    return "switch" if band else "host"


def matrix_of(cells):
    """Utilizations as a matrix, NaN where there is no link, with the names of rows and columns."""
    rows = sorted(cells["row"].unique(), key=natural)
    columns = sorted(cells["column"].unique(), key=natural)
    matrix = numpy.full((len(rows), len(columns)), numpy.nan)
    row = cells["row"].map({name: place for place, name in enumerate(rows)}).to_numpy()
    column = cells["column"].map({name: place for place, name in enumerate(columns)}).to_numpy()
    numpy.fmax.at(matrix, (row, column), cells["utilization"].to_numpy())
    return matrix, rows, columns


class Topology(Figure):
    """How busy links are where."""

    name = "topology"
    title = "Link utilization on the topology"

    def data(self, results, choice):
        result = results[0]
        if not (result.has("links", "name", "rate", "bytes", "utilization") and
                result.links["utilization"].max() > 0):
            raise Missing("there are no loads of all links (/links)",
                          "they are in the HDF5 file of weir run: weir run FILE.yaml -o RESULT.h5, "
                          "in fidelity stream or flow")
        links = with_ends(result.table("links"))
        tiers = tiers_of(links)
        cells = [cell_of(*ends, tiers) for ends in zip(links["source"], links["target"],
                                                       links["class"])]
        links = links.reset_index(drop=True)[["name", "rate", "bytes", "utilization"]]
        for place, column in enumerate(["panel", "row", "column"]):
            links[column] = [cell[place] for cell in cells]
        order = {panel: place for place, panel in enumerate(NODE_PANELS)}
        links["order"] = links["panel"].map(order).fillna(len(order))
        links = links.sort_values(["order", "panel"], kind="stable").drop(columns="order")
        return links.rename(columns={"name": "link"})[
            ["panel", "row", "column", "link", "rate", "bytes", "utilization"]]

    def draw(self, data, choice):
        names = list(dict.fromkeys(data["panel"]))
        drawn = {name: matrix_of(data[data["panel"] == name]) for name in names}
        wide = [name for name in names if name in NODE_PANELS]
        square = [name for name in names if name not in NODE_PANELS]
        lines = [square[place:place + 2] for place in range(0, len(square), 2)]
        heights = [2.3] + [0.45 + 0.1 * min(len(drawn[name][1]), FEW_TICKS) for name in wide]
        heights += [0.7 + 0.085 * min(max(max(len(drawn[name][1]) for name in line), 8), FEW_TICKS)
                    for line in lines]
        figure = new_figure(0.3 + sum(heights))
        grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
        shades = heat(data["utilization"].max())
        axes = [figure.add_subplot(grid[0, :])]
        self._draw_fabric(axes[0], data, shades)
        for row, name in enumerate(wide):
            axes.append(figure.add_subplot(grid[1 + row, :]))
            self._draw_matrix(axes[-1], *drawn[name], name, shades, 16)
        for row, line in enumerate(lines):
            for side, name in enumerate(line):
                place = grid[1 + len(wide) + row, side] if len(line) > 1 else \
                    grid[1 + len(wide) + row, :]
                axes.append(figure.add_subplot(place))
                self._draw_matrix(axes[-1], *drawn[name], name, shades, 16 if len(line) > 1 else 32)
        heat_bar(figure, axes, shades)
        return figure

    @staticmethod
    def _draw_fabric(axes, data, shades):
        """Nodes in a row, switches above them by tier; the busier a link the further in front."""
        ends = [ends_of(name) for name in data["link"]]
        links = data.assign(source=[a for a, _ in ends], target=[b for _, b in ends])
        tiers = tiers_of(links)
        hops = {}
        inside = {}
        for source, target, load in zip(links["source"], links["target"], links["utilization"]):
            a, b = node_of(source) or source, node_of(target) or target
            if a == b:
                inside[a] = max(inside.get(a, 0.0), load)
            else:
                pair = tuple(sorted((a, b), key=natural))
                hops[pair] = max(hops.get(pair, 0.0), load)
        devices = {device for pair in hops for device in pair} | set(inside)
        bands = {}
        for device in sorted(devices, key=natural):
            bands.setdefault(tiers.get(device, 0), []).append(device)
        places = {device: ((place + 0.5) / len(own), band)
                  for band, own in bands.items() for place, device in enumerate(own)}
        segments, loads = [], []
        for (a, b), load in sorted(hops.items(), key=lambda hop: hop[1]):
            (x, y), (u, v) = places[a], places[b]
            if y == v:  # an arc above the band
                turn = numpy.linspace(0, math.pi, 17)
                segments.append(numpy.column_stack([
                    (x + u) / 2 - (u - x) / 2 * numpy.cos(turn),
                    y + 0.8 * abs(u - x) ** 0.5 * numpy.sin(turn)]))
            else:
                segments.append(numpy.array([(x, y), (u, v)]))
            loads.append(load)
        loads = numpy.array(loads)
        colors = shades.to_rgba(loads)
        colors[loads == 0] = (0.89, 0.89, 0.89, 1)
        top = max(loads.max() if len(loads) else 0, 1e-9)
        axes.add_collection(collections.LineCollection(
            segments, colors=colors, linewidths=0.35 + 0.9 * numpy.sqrt(loads / top),
            rasterized=len(segments) > RASTER_FROM, zorder=1))
        for band, own in bands.items():
            side = min(4.5, 330 / max(len(own), 1))
            fill = [shades.to_rgba(inside[device]) if inside.get(device) else "#e4e4e4"
                    for device in own] if band == 0 else "#ffffff"
            axes.scatter([places[device][0] for device in own], [band] * len(own), s=side**2 * 2.5,
                         marker="s" if band == 0 else "o", c=fill, edgecolors="#444444",
                         linewidths=0.4, zorder=2)
            axes.text(-0.01, band, f"{len(own)} x {kind_of(own[0], band)}", ha="right",
                      va="center", fontsize=7)
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.3, max(bands) + (0.9 if any(
            places[a][1] == places[b][1] for a, b in hops) else 0.3))
        axes.axis("off")

    @staticmethod
    def _draw_matrix(axes, matrix, rows, columns, name, shades, room):
        heat_image(axes, matrix, shades)
        for axis, names, most in ((axes.yaxis, rows, FEW_TICKS), (axes.xaxis, columns, room)):
            kinds = {class_of(device) for device in names}
            numbered = all(device[len(min(kinds)):].isdigit() for device in names)
            if len(kinds) == 1 and "->" not in names[0] and numbered:
                axis.set_label_text(min(kinds), fontsize=6)
                names = [device[len(min(kinds)):] for device in names]
            step = -(-len(names) // most)
            axis.set_ticks(range(0, len(names), step), names[::step], fontsize=5.5)
            axis.set_tick_params(length=1.5, pad=1.5)
            if axis is axes.xaxis and max(map(len, names)) * min(len(names), most) > 4 * most:
                axis.set_tick_params(rotation=90)
        axes.set_title(name, loc="left", pad=2, fontsize=7)

    def caption(self, data):
        most = data.loc[data["utilization"].idxmax()]
        return ("Mean utilization of the links over the run. Top: the fabric; a line is the busier "
                "direction of the links between two devices, the color of a node that of the "
                "busiest link in it. Below every link as a cell: a column is a node and a row a "
                "class of its links, or a row is the switch that sends and a column the one that "
                "receives; the busiest of several links counts. Gray: idle; white: there is no "
                "link. The busiest is "
                f"{most['link']} with {most['utilization']:.1%}.")
