# SPDX-License-Identifier: GPL-2.0-only
"""Two results side by side."""
import numpy

from weir.breakdown import ORDER
from weir.compare import compare
from weir.errors import Missing
from weir.figure import PALETTE, Figure, new_figure
from weir.figures.breakdown import color_of
from weir.quantity import TIMES, unit_for

MAX_ROWS = 24  # changed quantities that are drawn
LEAST = 0.001   # relative changes below are not drawn


def ratio_ticks(reach):
    """Round ratios up to 2**reach and down to its inverse, some seven of them."""
    if reach >= 1:
        step = -(-int(reach) // 3)
        return [2.0**power for power in range(-step * (int(reach) // step), int(reach) + 1, step)]
    most = 2.0**reach - 1
    step = next(size * 10.0**power for power in range(-6, 1) for size in (1, 2, 5)
                if most / (size * 10.0**power) <= 3.5)
    count = int(most / step)
    return [round(1 + position * step, 9) for position in range(-count, count + 1)]


class Comparison(Figure):
    """What differs between two results, and by how much."""

    name = "comparison"
    title = "Comparison"
    joint = True

    def data(self, results, choice):
        if len(results) != 2:
            raise Missing("there is 1 result" if len(results) == 1 else
                          f"there are {len(results)} results",
                          "a comparison is of two: weir report A.h5 B.h5")
        frame = compare(*results).reset_index()
        if not frame[["a", "b"]].notna().all(axis=1).any():
            raise Missing("the two results share no quantity",
                          "give two results of the same verb of weir")
        frame.insert(0, "result_b", results[1].label)
        frame.insert(0, "result_a", results[0].label)
        return frame

    def draw(self, data, choice):
        both = data[data[["a", "b"]].notna().all(axis=1)]
        parts = both[both["quantity"].str.endswith(tuple(f": {part}" for part in ORDER)) &
                     (both["units"] == "s")]
        parts = parts[(parts["a"] > 0) | (parts["b"] > 0)]
        changes = both[(both["ratio"] - 1).abs() >= LEAST]
        changes = changes.loc[(changes["ratio"] - 1).abs().sort_values(ascending=False).index]
        changes = changes.head(MAX_ROWS).sort_index()
        rows = max(len(changes), 1)
        heights = [0.5 + 0.3 * 2 + 0.3] * bool(len(parts)) + [0.6 + 0.16 * rows]
        figure = new_figure(sum(heights) + 0.2)
        axes = figure.subplots(len(heights), 1, squeeze=False,
                               gridspec_kw={"height_ratios": heights})[:, 0]
        if len(parts):
            self._draw_parts(axes[0], parts)
        self._draw_changes(axes[-1], changes)
        return figure

    @staticmethod
    def _draw_parts(axes, parts):
        labels = [parts["result_a"].iloc[0], parts["result_b"].iloc[0]]
        jobs = list(dict.fromkeys(name.split(": ")[0] for name in parts["quantity"]))
        size, unit = unit_for(parts[["a", "b"]].sum().max(), TIMES)
        names, drawn = [], set()
        for job in jobs:
            own = parts[parts["quantity"].str.startswith(f"{job}: ")]
            for label, column in zip(labels, "ab"):
                left = 0.0
                for quantity, value in zip(own["quantity"], own[column] / size):
                    part = quantity.split(": ")[1]
                    axes.barh(len(names), value, left=left, height=0.75, color=color_of(part),
                              label=None if part in drawn else part)
                    drawn.add(part)
                    left += value
                names.append(label if len(jobs) == 1 else f"{label}, {job}")
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlabel(f"step, mean of the ranks, {unit}")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=len(drawn), handlelength=1.0)

    @staticmethod
    def _draw_changes(axes, changes):
        if changes.empty:
            axes.axis("off")
            axes.text(0.5, 0.5, f"no quantity differs by {LEAST:.1%} or more", ha="center")
            return
        # Twice and half are equally far from the middle.
        values = numpy.log2(changes["ratio"].to_numpy().clip(2.0**-10, 2.0**10))
        colors = [PALETTE[5] if value > 0 else PALETTE[0] for value in values]
        axes.barh(range(len(changes)), values, color=colors, height=0.75)
        axes.axvline(0, color="black", linewidth=0.6)
        axes.set_yticks(range(len(changes)), changes["quantity"], fontsize=6.5)
        axes.invert_yaxis()
        reach = max(abs(values)) * 1.18
        axes.set_xlim(-reach, reach)
        for y, (value, ratio) in enumerate(zip(values, changes["ratio"])):
            text = f"{ratio - 1:+.1%}" if 0.5 < ratio < 2 else f"x {ratio:.3g}"
            axes.text(value, y, f" {text} ", fontsize=6, va="center",
                      ha="left" if value > 0 else "right")
        ticks = ratio_ticks(reach)
        axes.set_xticks(numpy.log2(ticks), [f"{tick:g}" for tick in ticks])
        axes.set_xlabel(f"{changes['result_b'].iloc[0]} / {changes['result_a'].iloc[0]}")
        axes.grid(True, axis="x")

    def caption(self, data):
        return (f"{data['result_b'].iloc[0]} against {data['result_a'].iloc[0]}: the parts of a "
                f"step, and the up to {MAX_ROWS} quantities that differ most, by their ratio.")
