# SPDX-License-Identifier: GPL-2.0-only
"""Percentiles of flow completion time and slowdown by size."""
import pandas
from matplotlib import ticker

from weir.completion import PERCENTILES, percentiles_by_size
from weir.errors import Missing
from weir.figure import PALETTE, Figure, new_figure
from weir.quantity import in_seconds, size_label

LINES = ["-o", "--s", ":^"]  # one a percentile
QUANTITIES = {"fct": "FCT", "slowdown": "slowdown"}


class Completion(Figure):
    """How long flows of a size take."""

    name = "fct"
    title = "Flow completion times and slowdowns by size"
    joint = True

    def data(self, results, choice):
        pieces, missing = [], None
        for result in results:
            try:
                pieces.append(percentiles_by_size(result))
            except Missing as error:
                missing = error
        if not pieces:
            raise missing
        return pandas.concat(pieces, ignore_index=True)

    def draw(self, data, choice):
        drawn = [name for name in QUANTITIES if f"{name}_p{PERCENTILES[0]}" in data]
        figure = new_figure(2.7)
        axes = figure.subplots(1, len(drawn), squeeze=False)[0]
        several = data["result"].nunique() > 1
        for place, quantity in zip(axes, drawn):
            for color, (name, own) in zip(PALETTE * 9, data.groupby("result", sort=False)):
                for line, p in zip(LINES, PERCENTILES):
                    place.plot(own["mean_bytes"], own[f"{quantity}_p{p}"], line,
                               color=color, label=f"{name} p{p}" if several else f"p{p}")
            place.set_xscale("log", base=2)
            place.set_yscale("log")
            self._ticks(place, quantity)
            place.set_xlabel("flow size")
            place.set_ylabel(QUANTITIES[quantity])
            place.grid(True)
        axes[0].legend(loc="best", handlelength=2.5)
        return figure

    @staticmethod
    def _ticks(axes, quantity):
        """Sizes in KiB, MiB; few of them; times in us, ms."""
        low, high = axes.get_xlim()
        step = 1
        while low * 2 ** (step * 6) < high:
            step += 1
        axes.xaxis.set_major_locator(ticker.LogLocator(base=2 ** step, numticks=12))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.xaxis.set_major_formatter(lambda size, _: size_label(size))
        text = in_seconds if quantity == "fct" else lambda value: f"{value:g}"
        low, high = axes.get_ylim()
        if high / low < 30:
            axes.yaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 3, 5, 7)))
        axes.yaxis.set_major_formatter(lambda value, _: text(value))
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())

    def caption(self, data):
        text = (f"Percentiles {', '.join(map(str, PERCENTILES))} over the flows of a bin of sizes, "
                "every row of /flows counted once (a row may stand for several merged flows).")
        if "slowdown_p50" not in data:
            text += (" These results have no slowdowns: weir flows --csv writes them, with the "
                     "completion time of the flow in isolation.")
        return text
