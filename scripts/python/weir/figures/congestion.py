# SPDX-License-Identifier: GPL-2.0-only
"""Saturated links by the jobs that share them, and where the traffic of one comes from."""
import numpy

from weir.congestion import congestion
from weir.figure import PALETTE, Figure, heat, heat_bar, new_figure
from weir.quantity import TIMES, in_bytes, in_seconds, unit_for

CHILDREN = 9  # links of a level that are drawn; the others are counted
VISIBLE = 0.005  # parts of the time that get a mark
MARKS = (("saturated", "at its full rate", "black", "|"), ("paused", "paused", "#d55e00", "x"))


def jobs_in(data):
    """Every job with its color."""
    jobs = sorted(set(data["job"].dropna()))
    return {job: PALETTE[position % len(PALETTE)] for position, job in enumerate(jobs)}


class Congestion(Figure):
    """Which links are full, whose traffic is on them, and which links bring it to one."""

    name = "congestion"
    title = "Saturated links and the jobs that share them"
    choices = ("link",)

    def data(self, results, choice):
        return congestion(results[0], choice.link)

    def draw(self, data, choice):
        links, tree = (data[data["part"] == part] for part in ("links", "tree"))
        heights = [0.35 + 0.135 * links["link"].nunique(), 1.7]
        if len(tree):
            rows = max(min(level["link"].nunique(), CHILDREN + 1)
                       for _, level in tree.groupby("level"))
            heights.insert(1, max(1.4, 0.27 * rows + 0.3))
        figure = new_figure(sum(heights) + 0.4)
        axes = figure.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights})
        jobs = jobs_in(data)
        self._draw_links(axes[0], links, data.attrs, jobs)
        if len(tree):
            self._draw_tree(figure, axes[1], tree)
        self._draw_time(axes[-1], data[data["part"] == "time"], data[data["part"] == "series"],
                        jobs)
        return figure

    @staticmethod
    def _draw_links(axes, links, attrs, jobs):
        """Of each link a bar of what the jobs' flows carry, as a part of what it could carry.

        Where the file lacks flows, the rest of what the link carried follows in gray.
        """
        names = links.sort_values("rank")["link"].unique().tolist()
        of_link = links.drop_duplicates("link").set_index("link").loc[names]
        room = of_link["rate"] * of_link["window"].fillna(
            of_link["bytes"] / of_link["rate"] / of_link["utilization"])
        rows = numpy.arange(len(names))
        left = numpy.zeros(len(names))
        for job, color in jobs.items():
            own = links[links["job"] == job].set_index("link")["carried"].reindex(names)
            part = (own.fillna(0) / room).to_numpy(dtype=float)
            axes.barh(rows, part, left=left, height=0.75, color=color, label=job or "flows")
            left += part
        if attrs.get("left_out", 0):
            rest = (of_link["bytes"] / room).to_numpy(dtype=float) - left
            axes.barh(rows, rest.clip(min=0), left=left, height=0.75, color="#bbbbbb",
                      label="of no recorded flow")
        for column, label, color, marker in MARKS:
            part = of_link[column] / of_link["window"] if column in of_link else of_link["rate"] * 0
            if (part > VISIBLE).any():
                axes.plot(part.where(part > VISIBLE), rows, marker, color=color, markersize=6,
                          markeredgewidth=1.5, label=label)
        axes.set_yticks(rows, names, fontsize=5.5)
        for label in axes.get_yticklabels():
            if label.get_text() == attrs.get("root", ""):
                label.set_fontweight("bold")
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_xlabel("bars: load over the link's capacity; marks: fraction of the time")
        axes.grid(True, axis="x")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncol=6, handlelength=1.0)

    @staticmethod
    def _draw_tree(figure, axes, tree):
        """The root at the right, and to its left the links before it on the paths of its flows."""
        shades = heat(tree["utilization"].max())
        levels = int(tree["level"].max())
        positions = {}
        for level, own in tree.groupby("level"):
            known = own[own["parent"].isin([name for at, name in positions if at == level - 1])] \
                if level else own
            sums = known.groupby("link")["carried"].sum()
            drawn = known[known["link"].isin(sums.nlargest(CHILDREN).index)]
            above = drawn.assign(y=[positions[level - 1, parent][1] if level else 0.5
                                    for parent in drawn["parent"]])
            order = above.groupby("link")["y"].mean().sort_values(ascending=False, kind="stable")
            rest = own["link"].nunique() - len(order)
            count = len(order) + (rest > 0)
            x = 1 - (level + 0.5) / (levels + 1)
            for position, name in enumerate(order.index):
                y = 1 - (position + 0.5) / count
                positions[level, name] = (x, y)
                edges = drawn[drawn["link"] == name]
                row = edges.iloc[0]
                box = {"boxstyle": "round,pad=0.25", "edgecolor": "none",
                       "facecolor": shades.to_rgba(row["utilization"])}
                light = sum(w * c for w, c in zip((0.3, 0.59, 0.11), box["facecolor"][:3]))
                axes.text(x, y, f"{name}\n{in_bytes(edges['carried'].sum())}, "
                          f"{row['utilization']:.0%}", ha="center", va="center", fontsize=5.5,
                          bbox=box, color="black" if light > 0.5 else "white", zorder=3)
                for parent, carried in zip(edges["parent"], edges["carried"]) if level else ():
                    width = 0.4 + 4 * carried / max(tree["carried"].iloc[0], 1)
                    axes.annotate("", positions[level - 1, parent], (x, y), zorder=1, arrowprops={
                        "arrowstyle": "-", "color": "#999999", "linewidth": min(width, 5),
                        "connectionstyle": "arc3,rad=0", "shrinkA": 0, "shrinkB": 0})
            if rest:
                axes.text(x, 1 - (count - 0.5) / count, f"{rest} more links", fontsize=5.5,
                          ha="center", va="center", color="#555555", zorder=3)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.axis("off")
        heat_bar(figure, axes, shades)

    @staticmethod
    def _draw_time(axes, times, series, jobs):
        size, unit = unit_for((times["start"] + times["duration"]).max(), TIMES)
        bottom = None
        for job, own in times.groupby("job", sort=True):
            edges = numpy.append(own["start"], own["start"].iloc[-1] + own["duration"].iloc[-1])
            rate = (own["bytes"] / own["duration"] / 1e9).to_numpy()
            rate = numpy.append(rate, rate[-1])
            bottom = numpy.zeros(len(rate)) if bottom is None else bottom
            axes.fill_between(edges / size, bottom, bottom + rate, step="post", linewidth=0,
                              color=jobs[job])
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
        axes.set_ylabel(f"{times['link'].iloc[0]}, GB/s", fontsize=7)
        axes.grid(True, axis="y")
        if len(series):
            axes.legend(loc="lower right", bbox_to_anchor=(1, 1), handlelength=1.0)

    def caption(self, data):
        tree, groups = (data[data["part"] == part] for part in ("tree", "flows"))
        links = data[data["part"] == "links"].drop_duplicates("link")
        root = links[links["link"] == groups["link"].iloc[0]].iloc[0]
        jobs = groups.groupby("job")["carried"].sum().sort_values(ascending=False)
        shares = ", ".join(f"{job or 'flows'} {in_bytes(value)}" for job, value in jobs.items())
        saturated = (f", at its full rate for {in_seconds(root['saturated'])}"
                     if "saturated" in root and root["saturated"] > 0 else "")
        left_out = data.attrs.get("left_out", 0)
        text = (f"{root['link']} (mean utilization {root['utilization']:.1%}{saturated}): "
                f"{int(groups['flows'].sum()):,} recorded flows carry "
                f"{in_bytes(groups['carried'].sum())} of its {in_bytes(root['bytes'])}: {shares}. "
                "Top: the links that were at their full rate for longest, of every class, in the "
                "order in which a path passes these; the marks are parts of the time. ")
        if len(tree):
            text += ("Middle: by which hops the flows come to it, with what they carry of them "
                     "(width) and the utilization of the link (color). ")
            if tree.loc[tree["level"] == 0, "flows"].sum() < groups["flows"].sum():
                text += "Flows of collectives that load a set of links at once are not in it. "
        else:
            text += ("Its flows load a set of links at once (fidelity stream), so none of these "
                     "is upstream of another. ")
        text += "Bottom: its load by job and time, each flow's bytes spread evenly over its time."
        if (data["part"] == "series").any():
            text += " The line is what the link carried in all (/link_series)."
        if left_out:
            text += (f" The file has no rows for {left_out:,} further flows: what the links carried "
                     "beyond the recorded flows is gray, and the bottom lacks them.")
        return text
