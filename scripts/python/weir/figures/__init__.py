# SPDX-License-Identifier: GPL-2.0-only
"""The figures of a report, in its order. A new figure: its own file, and one line here."""
from weir.errors import InputError
from weir.figure import Choice, styled
from weir.figures.bandwidth import Bandwidth
from weir.figures.bounds import Bounds
from weir.figures.breakdown import Breakdown
from weir.figures.comparison import Comparison
from weir.figures.congestion import Congestion
from weir.figures.errors import Errors
from weir.figures.fct import Completion
from weir.figures.gantt import Gantt
from weir.figures.link_series import LinkSeries
from weir.figures.measured_bandwidth import MeasuredBandwidth
from weir.figures.memory import Memory
from weir.figures.parity import Parity
from weir.figures.queues import Queues
from weir.figures.sweep import Sweep
from weir.figures.topology import Topology
from weir.result import tell_apart

FIGURES = [Sweep(), Comparison(), Breakdown(), Gantt(), Memory(), Topology(), LinkSeries(),
           Congestion(), Queues(), Completion(), Bandwidth(), Parity(), Errors(),
           MeasuredBandwidth(), Bounds()]


def find_figure(name):
    """The figure of a name; raises InputError, which lists them, where there is none."""
    for figure in FIGURES:
        if figure.name == name:
            return figure
    raise InputError(f"--figure: found '{name}', expected one of: "
                     f"{', '.join(figure.name for figure in FIGURES)}")


def gather(name, results, choice):
    """The figure of a name and its data.

    Raises InputError for an unknown name or a number of results that it does not take, Missing
    where the results lack the data.
    """
    figure = find_figure(name)
    if not figure.joint and len(results) != 1:
        raise InputError(f"--figure {name}: found {len(results)} results, expected one")
    tell_apart(results)
    return figure, figure.data(results, choice)


def plot(name, *results, **choice):
    """A figure of results as a matplotlib figure, as in `weir report --figure NAME`.

    Further arguments are those of weir.figure.Choice: ranks, window (s), link, measured, title.
    """
    choice = Choice(**choice)
    figure, data = gather(name, list(results), choice)
    return styled(figure, data, choice)
