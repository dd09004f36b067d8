# SPDX-License-Identifier: GPL-2.0-only
"""Bus bandwidth against message size, with bounds and measured points."""
import pandas

from weir.bandwidth import rows_of
from weir.errors import Missing
from weir.figure import PALETTE, Figure, new_figure
from weir.quantity import size_label
from weir.text_results import read_measured


class Bandwidth(Figure):
    """What a collective moves, by its size."""

    name = "bandwidth"
    title = "Bus bandwidth by message size"
    choices = ("measured",)
    joint = True

    def data(self, results, choice):
        pieces, missing = [], None
        for result in results:
            try:
                pieces.append(rows_of(result, "simulated"))
            except Missing as error:
                missing = error
        if not pieces:
            raise missing
        if choice.measured:
            pieces.append(rows_of(read_measured(choice.measured), "measured"))
        return pandas.concat(pieces, ignore_index=True)

    def draw(self, data, choice):
        figure = new_figure(2.9, 4.6)
        axes = figure.subplots()
        sets = list(data.groupby(["kind", "result", "collective"], sort=False))
        several = data["collective"].nunique() > 1
        simulated = [one for one in sets if one[0][0] == "simulated"]
        for position, ((kind, name, collective), own) in enumerate(sets):
            own = own.sort_values("size_bytes")
            label = f"{name}, {collective}" if several else name
            if kind == "measured":
                axes.plot(own["size_bytes"], own["busbw_GBps"], "x", color="black", markersize=4.5,
                          zorder=4, label=f"{label} (measured)")
                continue
            color = PALETTE[position % len(PALETTE)]
            # Earlier lines are wider, so that they are seen beside later ones with
            # the same figures.
            width = 1.2 + 0.8 * min(len(simulated) - 1 - position, 4)
            axes.plot(own["size_bytes"], own["busbw_GBps"], marker="o", linewidth=width,
                      markersize=width + 2.2, color=color, label=label)
            if "busbw_lower_GBps" in own and own["busbw_lower_GBps"].notna().any():
                axes.fill_between(own["size_bytes"], own["busbw_lower_GBps"],
                                  own["busbw_upper_GBps"], color=color, alpha=0.2, linewidth=0)
        axes.set_xscale("log", base=2)
        sizes = sorted(data["size_bytes"].unique())
        axes.set_xticks(sizes[::-(-len(sizes) // 8)], minor=False)
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda size, _: size_label(size))
        axes.set_ylim(bottom=0)
        axes.set_xlabel("message size")
        axes.set_ylabel("bus bandwidth, GB/s")
        axes.grid(True)
        axes.legend()
        return figure

    def caption(self, data):
        text = "Bus bandwidth as nccl-tests counts it."
        if "busbw_lower_GBps" in data:
            text += " Bands: the error bounds of the estimates."
        if (data["kind"] == "measured").any():
            text += " Crosses: measured."
        return text
