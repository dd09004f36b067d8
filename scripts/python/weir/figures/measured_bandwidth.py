# SPDX-License-Identifier: GPL-2.0-only
"""Measured and predicted bus bandwidth against message size."""
from weir.figure import PALETTE, Figure, new_panels, size_axis
from weir.validation import bandwidths_of


class MeasuredBandwidth(Figure):
    """A panel a run of nccl-tests."""

    name = "measured-bandwidth"
    title = "Measured and predicted bus bandwidth by message size"
    of = "validation"

    def data(self, results, choice):
        return bandwidths_of(results[0])

    def draw(self, data, choice):
        runs = list(data.groupby(["suite", "run"], sort=False))
        figure, panels = new_panels(len(runs), 1.8)
        for axes, ((_, run), own) in zip(panels, runs):
            axes.plot(own["size_bytes"], own["predicted_busbw_GBps"], color=PALETTE[0],
                      label="Weir")
            axes.plot(own["size_bytes"], own["measured_busbw_GBps"], "x", color="black",
                      label="measured")
            axes.set_xscale("log", base=2)
            size_axis(axes.xaxis, own["size_bytes"], 4)
            axes.set_ylim(bottom=0)
            axes.set_xlabel("message size")
            axes.set_ylabel("bus bandwidth, GB/s")
            axes.set_title(run, loc="left", fontsize=6.5)
            axes.grid(True)
        panels[0].legend()
        return figure

    def caption(self, data):
        return (f"{data.groupby(['suite', 'run']).ngroups} runs of nccl-tests. Bus bandwidth as "
                "nccl-tests counts it. Crosses: measured.")
