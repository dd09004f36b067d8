# SPDX-License-Identifier: GPL-2.0-only
"""Step breakdown by stage and by rank."""
import numpy
from matplotlib import ticker

from weir.breakdown import ORDER, breakdown
from weir.figure import PALETTE, Figure, new_figure
from weir.quantity import TIMES, unit_for

COLORS = {"compute": "#0072b2", "launch": "#332288", "tensor": "#e69f00", "context": "#f0e442",
          "expert": "#d55e00", "embedding": "#882255", "pipeline": "#009e73", "data": "#cc79a7",
          "copy": "#56b4e9", "bubble": "#dddddd"}
FEW_RANKS = 24  # up to so many have bars of their own
LABEL_CHARACTERS = 80  # that have room below an axis


def color_of(part):
    """The part's color, the same in every figure."""
    return COLORS.get(part, PALETTE[len(part) % len(PALETTE)])


def drawn_parts(data):
    """The parts that take any time, in the order of drawing."""
    total = data.groupby("part", sort=False)["seconds"].sum()
    return [part for part in total.index if total[part] > 0]


def stacks(data, parts, level, unit):
    """Positions, labels and one array a part of the bars of a level."""
    own = data[data["level"] == level].groupby(["job", "number", "part"], sort=False)["seconds"]
    wide = own.sum().unstack("part", fill_value=0.0)
    wide = wide.reindex(list(dict.fromkeys(own.sum().index.droplevel("part"))))
    several = wide.index.get_level_values("job").nunique() > 1
    labels = [f"{job} {number}" if several else str(number) for job, number in wide.index]
    return labels, {part: wide[part].to_numpy() / unit for part in parts}


def ticks_of_jobs(labels):
    """Positions and labels of ranks "JOB NUMBER": numbers, and below the middle one of a job it.

    A name wider than the ranks of its job is cut.
    """
    jobs = [label.rpartition(" ")[0] for label in labels]
    step = -(-len(labels) // 16)
    rows, words = [], []
    for job in dict.fromkeys(jobs):
        own = [row for row, one in enumerate(jobs) if one == job]
        drawn = own[::step]
        room = max(2, LABEL_CHARACTERS * len(own) // len(labels))
        name = job if len(job) <= room else job[:room - 1] + "…"
        for position, row in enumerate(drawn):
            rows.append(row)
            words.append(labels[row].rpartition(" ")[2] +
                         (f"\n{name}" if position == len(drawn) // 2 else ""))
    return rows, words


class Breakdown(Figure):
    """Where the time of a step went."""

    name = "breakdown"
    title = "Step breakdown"

    def data(self, results, choice):
        return breakdown(results[0])

    def draw(self, data, choice):
        parts = drawn_parts(data)
        longest = data.groupby(["level", "job", "number"])["seconds"].sum().max()
        size, unit = unit_for(longest, TIMES)
        levels = [level for level in ("stage", "rank") if (data["level"] == level).any()]
        stages = len(data[data["level"] == "stage"][["job", "number"]].drop_duplicates())
        heights = {"stage": 0.5 + 0.17 * min(stages, 40), "rank": 1.9}
        figure = new_figure(0.4 + sum(heights[level] for level in levels))
        axes = figure.subplots(len(levels), 1, squeeze=False, gridspec_kw={
            "height_ratios": [heights[level] for level in levels]})[:, 0]
        for plot, level in zip(axes, levels):
            labels, arrays = stacks(data, parts, level, size)
            draw = self._draw_stages if level == "stage" else self._draw_ranks
            draw(plot, labels, arrays, unit)
        axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=max(len(parts), 1),
                       handlelength=1.0, columnspacing=1.2)
        return figure

    @staticmethod
    def _draw_stages(axes, labels, arrays, unit):
        rows = numpy.arange(len(labels))
        left = numpy.zeros(len(labels))
        for part, values in arrays.items():
            axes.barh(rows, values, left=left, height=0.8, color=color_of(part), label=part)
            left = left + values
        axes.set_yticks(rows[::-(-len(rows) // 40)], labels[::-(-len(rows) // 40)])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_ylabel("stage")
        axes.set_xlabel(f"time of the step by stage, {unit}")
        axes.set_xlim(0, left.max() if left.max() > 0 else 1)

    @staticmethod
    def _draw_ranks(axes, labels, arrays, unit):
        rows = numpy.arange(len(labels))
        bottom = numpy.zeros(len(labels))
        for part, values in arrays.items():
            if len(labels) <= FEW_RANKS:
                axes.bar(rows, values, bottom=bottom, width=0.8, color=color_of(part), label=part)
            else:  # one outline a part: thousands of bars are no picture
                edges = numpy.append(rows, len(rows)) - 0.5
                axes.fill_between(edges, numpy.append(bottom, bottom[-1]),
                                  numpy.append(bottom + values, (bottom + values)[-1]),
                                  step="post", color=color_of(part), linewidth=0, label=part)
            bottom = bottom + values
        axes.set_xlim(-0.5, len(rows) - 0.5)
        axes.set_ylim(0, bottom.max() if bottom.max() > 0 else 1)
        if " " in labels[0]:
            axes.set_xticks(*ticks_of_jobs(labels))
        elif len(rows) <= FEW_RANKS:
            axes.set_xticks(rows, labels, rotation=0 if max(map(len, labels)) < 4 else 90)
        else:
            axes.xaxis.set_major_locator(ticker.MaxNLocator(12, integer=True))
        axes.set_xlabel("rank")
        axes.set_ylabel(unit)

    def caption(self, data):
        known = [part for part in ORDER if part in set(drawn_parts(data))]
        return ("Of each pipeline stage (mean of its ranks) and of each rank: the time of the "
                f"steady step by what it was spent on ({', '.join(known)}). The parts of a rank "
                "sum to the step; communication counts where it is exposed.")
