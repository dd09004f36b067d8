# SPDX-License-Identifier: GPL-2.0-only
"""Whether error bounds hold on fresh cases, and how wide they are."""
import textwrap

import pandas

from weir.figure import PALETTE, Figure, new_panels, size_axis
from weir.validation import bounds_of, errors_by_size, reliability, widths

MAX_REGIMES = 6    # that have a panel of their own
MIN_CASES = 5      # of such a regime
MIN_COVERAGE = 60  # %, of what is drawn


class Bounds(Figure):
    """Coverage, widths, and the errors of some regimes by size in the band of their bound."""

    name = "bounds"
    title = "Error bounds on fresh cases"
    of = "validation"

    def data(self, results, choice):
        bounds = bounds_of(results[0])
        coverage = bounds.attrs["checked_coverage"]
        parts = {"reliability": reliability(bounds), "widths": widths(bounds, coverage),
                 "errors": errors_by_size(bounds, coverage, MAX_REGIMES, MIN_CASES)}
        for name, part in parts.items():
            part.insert(0, "part", name)
        frame = pandas.concat(parts.values(), ignore_index=True)
        frame.attrs["coverage"] = coverage
        return frame

    def draw(self, data, choice):
        parts = {name: own for name, own in data.groupby("part")}
        regimes = list(parts["errors"].groupby("regime", sort=False)) if "errors" in parts else []
        figure, panels = new_panels(2 + len(regimes), 1.9)
        bound = f"{data.attrs['coverage']:.0%} bound"
        colors = dict(zip(data["of"].dropna().unique(), PALETTE))
        self._draw_reliability(panels[0], parts["reliability"], colors)
        self._draw_widths(panels[1], parts["widths"], colors, bound)
        for axes, (regime, own) in zip(panels[2:], regimes):
            self._draw_errors(axes, own, regime, bound)
        return figure

    @staticmethod
    def _draw_reliability(axes, data, colors):
        """On the diagonal a bound keeps what it says."""
        ends = [MIN_COVERAGE, 100]
        axes.plot(ends, ends, "--", color="black", linewidth=0.8, label="equal")
        for name, own in data.groupby("of", sort=False):
            axes.plot(own["coverage"] * 100, own["observed"] * 100, marker="o",
                      color=colors[name], label=name)
        axes.set(xlim=ends, ylim=ends, xlabel="nominal coverage, %", ylabel="observed coverage, %")
        axes.set_title("reliability", loc="left")
        axes.grid(True)
        axes.legend(loc="lower right")

    @staticmethod
    def _draw_widths(axes, data, colors, bound):
        for name, own in data.groupby("of", sort=False):
            axes.plot(own["width"] * 100, own["share"] * 100, color=colors[name], label=name)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_ylim(0, 105)
        axes.set_xlabel("upper less lower end, % of the estimate")
        axes.set_ylabel("part of the bounds, %")
        axes.set_title(f"width of the {bound}", loc="left")
        axes.grid(True)
        axes.legend()

    @staticmethod
    def _draw_errors(axes, data, regime, bound):
        first = data.iloc[0]
        axes.axhspan(first["lower"] * 100, first["upper"] * 100, color=PALETTE[1], alpha=0.25,
                     linewidth=0, label=bound)
        axes.plot(data["bytes"], data["error"] * 100, "o", color=PALETTE[0], markersize=2.5,
                  alpha=0.75, markeredgewidth=0, label="fresh cases")
        axes.set_xscale("log", base=2)
        size_axis(axes.xaxis, data["bytes"], 4)
        axes.set_xlabel("message size")
        axes.set_ylabel("flow above the estimate, %")
        lines = textwrap.wrap(regime.replace("/", "/ "), 44, break_on_hyphens=False)
        axes.set_title("\n".join(lines).replace("/ ", "/"), loc="left", fontsize=6.5)
        axes.grid(True)
        axes.legend()

    def caption(self, data):
        return ("Reliability: a bound of the coverage on the axis should hold so many of the cases. "
                "Widths: which part of the bounds is no wider. Below: of fidelity stream the "
                f"regimes with the widest bounds ({MIN_CASES} collectives or more), how far the "
                "time of flow is above the estimate, and the bound as a band.")
