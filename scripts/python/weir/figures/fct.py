# SPDX-License-Identifier: GPL-2.0-only
"""Percentiles of flow completion time and slowdown by size."""
import pandas
from matplotlib import patches
from matplotlib.lines import Line2D

from weir.completion import PERCENTILES, percentiles_by_size
from weir.errors import Missing
from weir.figure import PALETTE, Figure, new_figure, size_axis, value_axis
from weir.quantity import in_seconds

LINES = ["-o", "--s", ":^"]  # one a percentile
LEGEND_COLUMNS = 4
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
        size_axis(axes.xaxis, rows["mean_bytes"])
        value_axis(axes.yaxis, in_seconds if quantity == "fct" else "{:g}".format)
        axes.set_xlabel("flow size")
        axes.set_ylabel(QUANTITIES[quantity])
        axes.grid(True)

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
