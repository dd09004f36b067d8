# SPDX-License-Identifier: GPL-2.0-only
"""Single figures."""
from weir.errors import InputError
from weir.figure import Choice
from weir.figures import find_figure
from weir.result import tell_apart


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
    return figure.draw(data, choice)
