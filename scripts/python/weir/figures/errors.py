# SPDX-License-Identifier: GPL-2.0-only
"""How the errors of predictions are distributed."""
from weir.figure import PALETTE, Figure, new_panels
from weir.validation import errors_of


class Errors(Figure):
    """A panel a suite: which part of its cases has an error of at most so many percent."""

    name = "errors"
    title = "Distribution of the errors"
    of = "validation"

    def data(self, results, choice):
        return errors_of(results[0])

    def draw(self, data, choice):
        suites = list(data.groupby("suite", sort=False))
        figure, panels = new_panels(len(suites), 1.8)
        for axes, (suite, own) in zip(panels, suites):
            axes.plot([0, *own["error"] * 100], [0, *own["share"] * 100], color=PALETTE[0],
                      drawstyle="steps-post")
            axes.set_xlim(left=0)
            axes.set_ylim(0, 100)
            axes.set_xlabel("absolute error, %")
            axes.set_ylabel("share of cases, %")
            axes.set_title(suite, loc="left")
            axes.grid(True)
        return figure

    def caption(self, data):
        return ("Which part of the cases has an absolute error, relative to what was measured, of "
                "at most so much.")
