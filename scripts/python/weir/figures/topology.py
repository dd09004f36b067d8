# SPDX-License-Identifier: GPL-2.0-only
"""Link utilization on the topology: a drawing of the fabric, and every link as a cell."""
import math

import numpy
from matplotlib import collections, patches
from matplotlib.colors import to_rgba

from weir.errors import Missing
from weir.figure import Figure, heat, heat_bar, heat_image, new_figure
from weir.network import class_of, ends_of, natural, node_of, tiers_of, with_ends

FEW_TICKS = 34     # so many names fit beside an axis
RASTER_FROM = 800  # so many lines are an image within the picture
FEW_HOPS = 250     # more pairs of devices are drawn by groups
ROOM_FOR_NAMES = 0.07  # of the width of a drawing
IDLE = "#e4e4e4"
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
    """What the devices of a band are called; some have only numbers for names."""
    if class_of(device) != "device":
        return class_of(device) if band else "node"
    return "switch" if band else "host"


def components(devices, pairs):
    """The connected component of each device, as one of its members."""
    lead = {device: device for device in devices}

    def find(device):
        while lead[device] != device:
            lead[device] = lead[lead[device]]
            device = lead[device]
        return device

    for a, b in pairs:
        lead[find(a)] = find(b)
    return {device: find(device) for device in devices}


def boxes_of(hops, bands):
    """Groups of devices as boxes in bands: {(band, slot): (x, width, devices)}, and each device's.

    A group are the devices of a tier that those up to it, and the links between these, join: nodes
    of the same leaves, leaves and spines of a pod. It stands above what it joins.
    """
    boxes, group, order = {}, {}, {}
    for band, own in sorted(bands.items()):
        below = hops[hops[["low", "high"]].max(axis=1) <= max(band, 1)]
        lead = components({*below["a"], *below["b"], *own}, zip(below["a"], below["b"]))
        members = {}
        for device in own:
            members.setdefault(lead[device], []).append(device)
        first = {lead[device]: slot for device, slot in sorted(
            order.items(), key=lambda one: -one[1]) if device in lead}
        found = sorted(members.items(), key=lambda one: first.get(one[0], 0))
        for slot, (_, devices) in enumerate(found):
            width = (0.86 if len(found) > 1 else 0.94) / len(found)
            boxes[band, slot] = ((slot + 0.5) / len(found), width, devices)
            group.update(dict.fromkeys(devices, (band, slot)))
        order.update({device: slot for slot, device in enumerate(own)} if band == 0 else {})
    return boxes, group


def port_of(box, own, pairs, pair):
    """Where on a box the lines of a pair of boxes begin, and the room that they have there."""
    x, width, _ = box
    others = sorted(end for each in pairs for end in each if end != own)
    other = pair[0] if pair[1] == own else pair[1]
    room = width / len(others)
    return x - width / 2 + room * (others.index(other) + 0.5), room


def span_of(devices):
    """Devices of one box: "node0 ... 31"."""
    first, last = devices[0], devices[-1]
    kind = class_of(first)
    return first if len(devices) == 1 else \
        f"{first} ... {last.removeprefix(kind) if first.startswith(kind) else last}"


def matrix_of(cells):
    """Utilizations as a matrix, NaN where there is no link, with the names of rows and columns."""
    rows = sorted(cells["row"].unique(), key=natural)
    columns = sorted(cells["column"].unique(), key=natural)
    matrix = numpy.full((len(rows), len(columns)), numpy.nan)
    row = cells["row"].map({name: slot for slot, name in enumerate(rows)}).to_numpy()
    column = cells["column"].map({name: slot for slot, name in enumerate(columns)}).to_numpy()
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
                          "they are in the HDF5 file (-o RESULT.h5) of weir run, collective and "
                          "flows; in fidelity analytical links carry nothing")
        links = with_ends(result.table("links"))
        tiers = tiers_of(links)
        cells = [cell_of(*ends, tiers) for ends in zip(links["source"], links["target"],
                                                       links["class"])]
        links = links.reset_index(drop=True)[["name", "rate", "bytes", "utilization"]]
        for slot, column in enumerate(["panel", "row", "column"]):
            links[column] = [cell[slot] for cell in cells]
        order = {panel: slot for slot, panel in enumerate(NODE_PANELS)}
        links["order"] = links["panel"].map(order).fillna(len(order))
        links = links.sort_values(["order", "panel"], kind="stable").drop(columns="order")
        return links.rename(columns={"name": "link"})[
            ["panel", "row", "column", "link", "rate", "bytes", "utilization"]]

    def draw(self, data, choice):
        names = list(dict.fromkeys(data["panel"]))
        drawn = {name: matrix_of(data[data["panel"] == name]) for name in names}
        wide = [name for name in names if name in NODE_PANELS]
        square = [name for name in names if name not in NODE_PANELS]
        lines = [square[slot:slot + 2] for slot in range(0, len(square), 2)]
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
                slot = grid[1 + len(wide) + row, side] if len(line) > 1 else \
                    grid[1 + len(wide) + row, :]
                axes.append(figure.add_subplot(slot))
                parallel = data[data["panel"] == name].groupby(["row", "column"]).size().max()
                title = name + (f", the busiest of {parallel} parallel links" if parallel > 1 else "")
                self._draw_matrix(axes[-1], *drawn[name], title, shades,
                                  16 if len(line) > 1 else 32)
        heat_bar(figure, axes, shades)
        return figure

    def _draw_fabric(self, axes, data, shades):
        """Nodes in a row, switches above them by tier."""
        ends = [ends_of(name) for name in data["link"]]
        links = data.assign(a=[node_of(a) or a for a, _ in ends],
                            b=[node_of(b) or b for _, b in ends])
        tiers = tiers_of(data.assign(source=[a for a, _ in ends], target=[b for _, b in ends]))
        inside = links[links["a"] == links["b"]].groupby("a")["utilization"].max().to_dict()
        hops = links[links["a"] != links["b"]]
        bands = {}
        for device in sorted({*hops["a"], *hops["b"], *inside}, key=natural):
            bands.setdefault(tiers.get(device, 0), []).append(device)
        heights = {device: band for band, own in bands.items() for device in own}
        hops = hops.assign(low=hops["a"].map(heights), high=hops["b"].map(heights))
        is_layered = (hops["low"] != hops["high"]).all()
        if is_layered and len(hops[["a", "b"]].drop_duplicates()) > FEW_HOPS:
            top = self._draw_groups(axes, hops, bands, inside, shades)
        else:
            top = self._draw_devices(axes, hops, bands, inside, shades)
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.3, top)
        axes.axis("off")

    @staticmethod
    def _draw_groups(axes, hops, bands, inside, shades):
        """Groups of devices as boxes, the links between two of them as a pair of lines."""
        boxes, group = boxes_of(hops, bands)
        sends = hops.groupby("a")["utilization"].max().to_dict()
        for (band, slot), (x, width, own) in boxes.items():
            loads = inside if band == 0 else sends
            for number, device in enumerate(own):
                load = loads.get(device, 0)
                axes.add_patch(patches.Rectangle(
                    (x - width / 2 + width * number / len(own), band - 0.1), width / len(own), 0.2,
                    linewidth=0, facecolor=shades.to_rgba(load) if load else IDLE, zorder=2))
            axes.add_patch(patches.Rectangle((x - width / 2, band - 0.1), width, 0.2, fill=False,
                                             edgecolor="#444444", linewidth=0.5, zorder=3))
            if width > ROOM_FOR_NAMES:
                axes.text(x - width / 2, band + (0.13 if band else -0.13), span_of(own), ha="left",
                          va="bottom" if band else "top", fontsize=5.5, zorder=4,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4})
            if slot == 0:
                axes.text(-0.01, band, f"{len(bands[band])} x {kind_of(own[0], band)}",
                          ha="right", va="center", fontsize=7)
        bundles = {}
        for a, b, load in zip(hops["a"].map(group), hops["b"].map(group), hops["utilization"]):
            bundles.setdefault((min(a, b), max(a, b)), ([], []))[int(a > b)].append(load)
        for (low, high), directions in bundles.items():
            foot, room = port_of(boxes[low], low, [pair for pair in bundles if low == pair[0]
                                                   and pair[1][0] == high[0]], (low, high))
            head, more = port_of(boxes[high], high, [pair for pair in bundles if high == pair[1]
                                                     and pair[0][0] == low[0]], (low, high))
            shift = min(0.012, 0.25 * room, 0.25 * more)
            ends = [low[0] + 0.1, high[0] - 0.1]
            for side, loads in zip((-shift, shift), directions):
                color = shades.to_rgba(numpy.mean(loads)) if max(loads, default=0) else IDLE
                axes.plot([foot + side, head + side], ends, zorder=1, solid_capstyle="butt",
                          linewidth=max(0.4, 450 * shift), color=color)
            if min(room, more) > ROOM_FOR_NAMES:
                text = "\n".join(f"{len(loads)} {name}: {numpy.mean(loads):.0%}, at most "
                                 f"{max(loads):.0%}"
                                 for name, loads in zip(("up", "down"), directions) if loads)
                axes.text((foot + head) / 2 + 2 * shift, sum(ends) / 2, text, fontsize=5,
                          va="center", zorder=4)
        return max(bands) + 0.35

    @staticmethod
    def _draw_devices(axes, hops, bands, inside, shades):
        """Each device and the busier direction of the links between two; busy ones in front."""
        spots = {device: ((slot + 0.5) / len(own), band)
                  for band, own in bands.items() for slot, device in enumerate(own)}
        pairs = {}
        for a, b, load in zip(hops["a"], hops["b"], hops["utilization"]):
            pair = tuple(sorted((a, b), key=natural))
            pairs[pair] = max(pairs.get(pair, 0.0), load)
        segments, loads = [], []
        for (a, b), load in sorted(pairs.items(), key=lambda pair: pair[1]):
            (x, y), (u, v) = spots[a], spots[b]
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
        colors[loads == 0] = to_rgba(IDLE)
        top = max(loads.max() if len(loads) else 0, 1e-9)
        axes.add_collection(collections.LineCollection(
            segments, colors=colors, linewidths=0.35 + 0.9 * numpy.sqrt(loads / top),
            rasterized=len(segments) > RASTER_FROM, zorder=1))
        for band, own in bands.items():
            side = min(4.5, 330 / max(len(own), 1))
            fill = [shades.to_rgba(inside[device]) if inside.get(device) else IDLE
                    for device in own] if band == 0 else "#ffffff"
            axes.scatter([spots[device][0] for device in own], [band] * len(own), s=side**2 * 2.5,
                         marker="s" if band == 0 else "o", c=fill, edgecolors="#444444",
                         linewidths=0.4, zorder=2)
            axes.text(-0.01, band, f"{len(own)} x {kind_of(own[0], band)}", ha="right",
                      va="center", fontsize=7)
        return max(bands) + (0.9 if any(spots[a][1] == spots[b][1] for a, b in pairs) else 0.3)

    @staticmethod
    def _draw_matrix(axes, matrix, rows, columns, title, shades, room):
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
        axes.set_title(title, loc="left", pad=2, fontsize=7)

    def caption(self, data):
        most = data.loc[data["utilization"].idxmax()]
        return ("Mean utilization of the links over the run. Top: the fabric; a line is the busier "
                "direction of the links between two devices, the color of a node that of the "
                "busiest link in it. Of large fabrics devices stand in boxes, nodes of the same "
                "leaves, switches of the same pod; a switch has the color of the busiest link that "
                "it sends to, and a pair of lines the mean of all links up (left) and down. Below "
                "every link as a cell: a column is a node and a row a "
                "class of its links, or a row is the switch that sends and a column the one that "
                "receives; the busiest of several links counts. Gray: idle; white: there is no "
                "link. The busiest is "
                f"{most['link']} with {most['utilization']:.1%}.")
