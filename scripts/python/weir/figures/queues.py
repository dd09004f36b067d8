# SPDX-License-Identifier: GPL-2.0-only
"""Queues and pauses of ports over time, as trees that begin where congestion begins."""
import numpy
import pandas
from matplotlib import cm, colors, patches

from weir.errors import InputError, Missing
from weir.figure import Figure, bins_within, heat, new_figure
from weir.network import natural
from weir.quantity import TIMES, in_bytes, in_seconds, unit_for
from weir.trees import port_totals, port_trees

ROWS = 40      # ports drawn
COLUMNS = 300  # bins drawn; more are joined
REMEDY = ("write it with output: {portSeries: 10us} in a scenario of fidelity packet or hybrid, or "
          "--port-series 10us of weir flows and weir collective with --fidelity packet")
SUMS = ["byte_s", "queued", "paused", "credit_wait", "queued_held", "marks", "drops"]


class Queues(Figure):
    """Which port has a queue when, whom it has paused, and where that began."""

    name = "queues"
    title = "Queues and pauses of the busiest ports, from the roots of congestion trees"
    choices = ("window",)

    def data(self, results, choice):
        result = results[0]
        if not result.has("port_series", "link", "bin", "queue"):
            raise Missing("there is no series of queues and pauses (/port_series)", REMEDY)
        series = result.table("port_series")
        width = series.attrs["bin_width_s"]
        end = series.attrs["window_end_s"]
        first, last = 0, int(series["bin"].max())
        if choice.window:
            first, until = bins_within(choice.window, width)
            last = min(last, until)
            series = series[(series["bin"] >= first) & (series["bin"] <= last)]
            if series.empty:
                raise InputError(f"--window: found no queue of {result.path} in it, expected a "
                                 "part of the run")
        series = series.assign(link=series["link"].astype(str))
        length = numpy.minimum(width, numpy.maximum(end - series["bin"] * width, width * 1e-9))
        series["byte_s"] = series["queue"].astype(float) * length
        trees = port_trees(result, series).head(ROWS)
        series = series[series["link"].isin(trees["link"])]
        join = -(-(last - first + 1) // COLUMNS)
        column = (series["bin"].astype(numpy.int64) - first) // join
        grouped = series.groupby(["link", column.rename("column")])
        frame = grouped[SUMS].sum()
        frame["max_queued"] = grouped["max_queued"].max()
        count = (last - first) // join + 1
        every = pandas.MultiIndex.from_product([trees["link"], range(count)],
                                               names=["link", "column"])
        frame = frame.reindex(every, fill_value=0).reset_index()
        frame["start"] = (first + frame["column"] * join) * width
        frame["duration"] = numpy.minimum(join, last + 1 - first - frame["column"] * join) * width
        frame["queue"] = frame["byte_s"] / frame["duration"]
        frame = frame.merge(trees[["link", "root", "level", "parent"]], on="link")
        return frame[["root", "level", "parent", "link", "start", "duration", "queue",
                      "max_queued", "queued", "paused", "credit_wait", "queued_held", "marks",
                      "drops"]]

    def draw(self, data, choice):
        ports = data.drop_duplicates("link")
        links = ports["link"].tolist()
        shape = (len(links), -1)
        queue = data["queue"].to_numpy().reshape(shape)
        held = data["paused"] + data["credit_wait"]
        paused = (held / data["duration"]).clip(upper=1).to_numpy().reshape(shape)
        size, unit = unit_for((data["start"] + data["duration"]).max(), TIMES)
        figure = new_figure(1.2 + 0.15 * len(links))
        axes, bars = figure.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": [3, 1]})
        shades = heat(queue.max())
        halts = cm.ScalarMappable(colors.Normalize(0, 1), "Reds")
        start, width = data["start"].iloc[0], data["duration"].iloc[0]
        axes.imshow(self._pixels(queue, paused, shades, halts), aspect="auto",
                    interpolation="nearest",
                    extent=(start / size, (start + width * queue.shape[1]) / size,
                            len(links) - 0.5, -0.5))
        names = [f"{'    ' * level}{'• ' if level == 0 else ''}{link}"
                 for level, link in zip(ports["level"], links)]
        axes.set_yticks(range(len(links)), names, fontsize=5.5)
        for label in axes.get_yticklabels():
            label.set_horizontalalignment("left")
        axes.tick_params(axis="y", length=0, pad=5 + 2.9 * max(map(len, names)))
        for border in range(1, len(links)):
            root = ports["level"].iloc[border] == 0
            axes.axhline(border - 0.5, color="white", linewidth=2.5 if root else 0.6)
        axes.set_xlabel(f"time, {unit}")
        largest = max(queue.max(), 1)
        bar = figure.colorbar(shades, ax=bars, label="bytes that wait", pad=0.03, fraction=0.09,
                              aspect=25, ticks=[largest / 16, largest / 4, largest])
        bar.ax.yaxis.set_major_formatter(lambda value, _: in_bytes(value))
        bar.ax.minorticks_off()
        self._draw_totals(bars, data, size, unit)
        return figure

    @staticmethod
    def _pixels(queue, paused, shades, halts):
        """Of each port three rows of pixels with its queue above two with its pauses."""
        idle = colors.to_rgba("#e4e4e4")
        above = shades.to_rgba(queue)
        above[queue == 0] = idle
        below = halts.to_rgba(paused)
        below[paused == 0] = idle
        return numpy.concatenate([numpy.repeat(above[:, None], 3, axis=1),
                                  numpy.repeat(below[:, None], 2, axis=1)],
                                 axis=1).reshape(5 * len(queue), -1, 4)

    @staticmethod
    def _draw_totals(axes, data, size, unit):
        totals = port_totals(data).loc[data["link"].drop_duplicates()]
        rows = numpy.arange(len(totals))
        free = (totals["queued"] - totals["queued_held"]) / size
        axes.barh(rows - 0.2, free, 0.36, color="#0072b2")
        axes.barh(rows + 0.2, totals["paused"] / size, 0.36, color="#d55e00")
        axes.barh(rows + 0.2, totals["credit_wait"] / size, 0.36, left=totals["paused"] / size,
                  color="#e69f00")
        axes.tick_params(axis="y", length=0, labelleft=False, pad=0)
        axes.set_xlabel(f"time in all, {unit}")
        axes.grid(True, axis="x")
        legend = axes.legend(handles=[patches.Patch(color=color, label=label) for color, label in (
            ("#0072b2", "queue, not held"), ("#d55e00", "paused"),
            ("#e69f00", "waits for credits"))], loc="lower right", bbox_to_anchor=(1, 1), ncol=3,
            handlelength=1.0)
        legend.set_in_layout(False)  # it is wider than the bars
        axes.set_title(" ")  # as high as it is

    def caption(self, data):
        totals = port_totals(data)
        roots = data[data["level"] == 0].drop_duplicates("link")["link"]
        first = totals.loc[roots.iloc[0]]
        held = data[(data["root"] == roots.iloc[0]) & (data["level"] > 0)]
        text = (f"Congestion begins at {roots.iloc[0]}: up to {in_bytes(first['max_queued'])} "
                f"waited there, for {in_seconds(first['queued'] - first['queued_held'])} while "
                "the port itself could send")
        if len(held):
            text += (f"; {held['link'].nunique()} ports behind it were held for "
                     f"{in_seconds((held['paused'] + held['credit_wait']).sum())} in all")
        others = sorted(roots.iloc[1:], key=natural)
        text += f". Further roots: {', '.join(others[:4])}" if others else ""
        text += f" and {len(others) - 4} more" if len(others) > 4 else ""
        return (f"{text}. Of each port the upper stripe is its queue, the lower one (red) the part "
                "of the time in which it was held: paused (PFC), or a packet waited for credits. A "
                "root (•) mostly has its queue while it can send; indented under a port are those "
                "that were held while packets which had come by them waited there. At the right, "
                f"times over the whole window; bins of {in_seconds(data['duration'].iloc[0])}.")
