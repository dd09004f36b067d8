# SPDX-License-Identifier: GPL-2.0-only
"""The congestion tree of the busiest link, its flows and its jobs."""
import numpy

from weir.congestion import congestion
from weir.figure import PALETTE, Figure, heat, heat_bar, new_figure
from weir.quantity import TIMES, in_bytes, in_seconds, unit_for

CHILDREN = 9  # links of a level that are drawn; the others are counted


class Congestion(Figure):
    """Whose traffic is on a link, and which links bring it there."""

    name = "congestion"
    title = "Congestion tree of the busiest link"

    def data(self, results, choice):
        return congestion(results[0], choice.link)

    def draw(self, data, choice):
        tree = data[data["part"] == "tree"]
        rows = max(min(len(level), CHILDREN + 1) for _, level in tree.groupby("level"))
        height = max(1.4, 0.27 * rows + 0.3)
        figure = new_figure(height + 1.9)
        axes, below = figure.subplots(2, 1, gridspec_kw={"height_ratios": [height, 1.7]})
        self._draw_tree(figure, axes, tree)
        self._draw_time(below, data[data["part"] == "time"], data[data["part"] == "series"])
        return figure

    @staticmethod
    def _draw_tree(figure, axes, tree):
        shades = heat(tree["utilization"].max())
        levels = int(tree["level"].max())
        root = tree.iloc[0]
        places = {}
        for level, own in tree.groupby("level"):
            drawn = own.nlargest(CHILDREN, "carried")
            heights = {name: places[parent][1] for name, parent
                       in zip(drawn["link"], drawn["parent"]) if parent in places}
            order = sorted(drawn.index, key=lambda i: -heights.get(drawn.loc[i, "link"], 0))
            count = len(order) + (len(own) > len(order))
            x = 1 - (level + 0.5) / (levels + 1)
            for place, i in enumerate(order):
                row = drawn.loc[i]
                y = 1 - (place + 0.5) / count
                places[row["link"]] = (x, y)
                box = {"boxstyle": "round,pad=0.25", "edgecolor": "none",
                       "facecolor": shades.to_rgba(row["utilization"])}
                light = sum(w * c for w, c in zip((0.3, 0.59, 0.11), box["facecolor"][:3]))
                axes.text(x, y, f"{row['link']}\n{in_bytes(row['carried'])}, "
                          f"{row['utilization']:.0%}", ha="center", va="center", fontsize=5.5,
                          bbox=box, color="black" if light > 0.5 else "white", zorder=3)
                if row["parent"] in places:
                    to = places[row["parent"]]
                    width = 0.4 + 4 * row["carried"] / max(root["carried"], 1)
                    axes.annotate("", to, (x, y), zorder=1, arrowprops={
                        "arrowstyle": "-", "color": "#999999", "linewidth": min(width, 5),
                        "connectionstyle": "arc3,rad=0", "shrinkA": 0, "shrinkB": 0})
            if len(own) > len(order):
                rest = own.drop(index=order)
                axes.text(x, 1 - (count - 0.5) / count, f"{len(rest)} more links", fontsize=5.5,
                          ha="center", va="center", color="#555555", zorder=3)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.axis("off")
        heat_bar(figure, axes, shades)

    @staticmethod
    def _draw_time(axes, times, series):
        size, unit = unit_for((times["start"] + times["duration"]).max(), TIMES)
        bottom = None
        for place, (job, own) in enumerate(times.groupby("job", sort=True)):
            edges = numpy.append(own["start"], own["start"].iloc[-1] + own["duration"].iloc[-1])
            rate = (own["bytes"] / own["duration"] / 1e9).to_numpy()
            rate = numpy.append(rate, rate[-1])
            bottom = numpy.zeros(len(rate)) if bottom is None else bottom
            axes.fill_between(edges / size, bottom, bottom + rate, step="post", linewidth=0,
                              color=PALETTE[place % len(PALETTE)], label=job or "flows")
            bottom = bottom + rate
        if len(series):
            edges = numpy.append(series["start"], series["start"].iloc[-1] +
                                 series["duration"].iloc[-1])
            axes.stairs(series["bytes"] / series["duration"] / 1e9, edges / size, color="black",
                        linewidth=0.7, baseline=None, label="link series")
        axes.set_xlim(times["start"].min() / size,
     (times["start"] + times["duration"]).max() / size)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(f"time, {unit}")
        axes.set_ylabel("GB/s over the link")
        axes.grid(True, axis="y")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncol=6, handlelength=1.0)

    def caption(self, data):
        tree, groups = (data[data["part"] == part] for part in ("tree", "flows"))
        root = tree.iloc[0]
        jobs = groups.groupby("job")["carried"].sum().sort_values(ascending=False)
        shares = ", ".join(f"{job or 'flows'} {in_bytes(value)}" for job, value in jobs.items())
        saturated = (f", at its full rate for {in_seconds(root['saturated'])}"
                     if "saturated" in root else "")
        left_out = data.attrs.get("left_out", 0)
        return (f"{root['link']} (mean utilization {root['utilization']:.1%}{saturated}): "
                f"{int(root['flows']):,} recorded flows carry {in_bytes(root['carried'])} of its "
                f"{in_bytes(root['bytes'])}: {shares}. To its left the links by which "
                "those flows come, with what they carry of them (width) and their utilization "
                "(color); below, by job and time, each flow's bytes spread evenly from its start to "
                "its finish." +
                (" The line is what the link carried in all (/link_series)."
                 if (data["part"] == "series").any() else "") +
                (f" The file has no rows for {left_out:,} further flows." if left_out else
                 " The flows are those of the steps that the file records."))
