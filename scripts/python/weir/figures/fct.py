# SPDX-License-Identifier: GPL-2.0-only
"""Percentiles of flow completion time and slowdown by size."""
import pandas
from matplotlib import patches, ticker
from matplotlib.lines import Line2D

from weir.completion import PERCENTILES, percentiles_by_size
from weir.errors import Missing
from weir.figure import PALETTE, Figure, new_figure
from weir.quantity import in_seconds, size_label

LINES = ["-o", "--s", ":^"]  # one a percentile
LEGEND_COLUMNS = 4
FEW_SIZES = 4  # up to so many are the ticks
QUANTITIES = {"fct": "FCT", "slowdown": "slowdown"}


class Completion(Figure):
    """How long flows of a size take."""

    name = "fct"
    title = "Flow completion times and slowdowns by size"
    joint = True

    def data(self, results, choice):
        pieces, missing, left_out = [], None, 0
        for result in results:
            try:
                pieces.append(percentiles_by_size(result))
                left_out += int(result.table("flows").attrs.get("rows_left_out", 0))
            except Missing as error:
                missing = error
        if not pieces:
            raise missing
        frame = pandas.concat(pieces, ignore_index=True)
        frame.attrs["left_out"] = left_out
        return frame

    def draw(self, data, choice):
        drawn = [name for name in QUANTITIES if f"{name}_p{PERCENTILES[0]}" in data]
        jobs = list(data.groupby("job", sort=False))
        results = dict(zip(data["result"].unique(), PALETTE * 9))
        lines = -(-(len(results) + len(LINES)) // LEGEND_COLUMNS)
        heights = [0.17 * lines] + [2.4] * len(jobs)
        figure = new_figure(sum(heights) + 0.2)
        grid = figure.add_gridspec(len(heights), len(drawn), height_ratios=heights)
        for row, (job, rows) in enumerate(jobs):
            for column, quantity in enumerate(drawn):
                axes = figure.add_subplot(grid[row + 1, column])
                self._draw_job(axes, rows, quantity, results)
                axes.set_title(job, loc="left")
        handles = [patches.Patch(color=color, label=name) for name, color in results.items()]
        handles += [Line2D([], [], linestyle=line[:-1], marker=line[-1], color="#444444",
                           label=f"p{p}") for line, p in zip(LINES, PERCENTILES)]
        above = figure.add_subplot(grid[0, :])
        above.axis("off")
        above.legend(handles=handles, loc="center", ncol=LEGEND_COLUMNS, handlelength=2.2)
        return figure

    def _draw_job(self, axes, rows, quantity, results):
        """Percentiles by size of the flows of one job."""
        for name, own in rows.groupby("result", sort=False):
            for line, p in zip(LINES, PERCENTILES):
                axes.plot(own["mean_bytes"], own[f"{quantity}_p{p}"], line, color=results[name])
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        self._ticks(axes, quantity, sorted(rows["mean_bytes"].unique()))
        axes.set_xlabel("flow size")
        axes.set_ylabel(QUANTITIES[quantity])
        axes.grid(True)

    @staticmethod
    def _ticks(axes, quantity, sizes):
        """Sizes in KiB, MiB; few of them; times in us, ms."""
        low, high = axes.get_xlim()
        step = 1
        while low * 2 ** (step * 6) < high:
            step += 1
        axes.xaxis.set_major_locator(ticker.FixedLocator(sizes) if len(sizes) <= FEW_SIZES else
                                     ticker.LogLocator(base=2 ** step, numticks=12))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.xaxis.set_major_formatter(lambda size, _: size_label(size))
        text = in_seconds if quantity == "fct" else lambda value: f"{value:g}"
        low, high = axes.get_ylim()
        if high / low < 3:
            axes.yaxis.set_major_locator(ticker.MaxNLocator(6))
        elif high / low < 30:
            axes.yaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 3, 5, 7)))
        axes.yaxis.set_major_formatter(lambda value, _: text(value))
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())

    def caption(self, data):
        text = (f"Percentiles {', '.join(map(str, PERCENTILES))} over the flows of a job in a bin "
                "of sizes, every row of /flows counted once (a row may stand for several merged "
                "flows).")
        if "slowdown_p50" not in data:
            text += (" These results have no slowdowns: weir flows --csv writes them, with the "
                     "completion time of the flow in isolation.")
        if data.attrs.get("left_out", 0):
            text += f" The files have no rows for {data.attrs['left_out']:,} further flows."
        return text
