# SPDX-License-Identifier: GPL-2.0-only
"""Predictions against measurements."""
from weir.figure import PALETTE, Figure, new_panels, value_axis
from weir.quantity import in_seconds
from weir.validation import pairs_of

BAND = 0.1  # either side of equality
ROOM = 1.2  # beyond the extreme values, as a factor
FEW = 30    # cases of a suite with larger marks


class Parity(Figure):
    """A panel a suite; on the diagonal a prediction is what was measured."""

    name = "parity"
    title = "Predicted against measured"
    of = "validation"

    def data(self, results, choice):
        return pairs_of(results[0])

    def draw(self, data, choice):
        suites = list(data.groupby(["suite", "unit"], sort=False))
        figure, panels = new_panels(len(suites), 2.2)
        for axes, ((suite, unit), own) in zip(panels, suites):
            both = own[["measured", "predicted"]]
            ends = [both.min().min() / ROOM, both.max().max() * ROOM]
            axes.plot(ends, ends, color="black", linewidth=0.8, label="equal")
            for sign, label in ((1, f"{BAND:.0%} off"), (-1, None)):
                axes.plot(ends, [end * (1 + sign * BAND) for end in ends], "--", color="black",
                          linewidth=0.6, label=label)
            axes.plot(own["measured"], own["predicted"], "o", color=PALETTE[0], alpha=0.6,
                      markersize=2.5 if len(own) > FEW else 4.5, markeredgewidth=0)
            axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal")
            for axis in (axes.xaxis, axes.yaxis):
                value_axis(axis, in_seconds if unit == "s" else "{:g}".format, (1, 2, 5), 4)
            measured, predicted = data.attrs["words"][suite]
            axes.set_xlabel(measured)
            axes.set_ylabel(predicted)
            axes.set_title(suite, loc="left")
            axes.grid(True)
        panels[0].legend()
        return figure

    def caption(self, data):
        return (f"{len(data):,} cases of {data['suite'].nunique()} suites. On the line a prediction "
                f"is what was measured, between the dashed ones it is at most {BAND:.0%} off.")
