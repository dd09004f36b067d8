# SPDX-License-Identifier: GPL-2.0-only
"""Logarithmic axes with ticks that a reader takes in at a glance."""
from matplotlib import ticker

from weir.quantity import size_label

FEW_SIZES = 4  # up to so many are the ticks


def size_axis(axis, sizes, intervals=6):
    """Sizes in KiB, MiB along a logarithmic axis of base 2; few ticks."""
    sizes = sorted(set(sizes))
    low, high = axis.get_view_interval()
    step = 1
    while low * 2 ** (step * intervals) < high:
        step += 1
    axis.set_major_locator(ticker.FixedLocator(sizes) if len(sizes) <= FEW_SIZES else
                           ticker.LogLocator(base=2 ** step, numticks=12))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(lambda size, _: size_label(size))


def value_axis(axis, text, digits=(1, 2, 3, 5, 7), intervals=6):
    """Values along a logarithmic axis of base 10, each as its text; some ticks in any range."""
    low, high = axis.get_view_interval()
    if high / low < 3:
        axis.set_major_locator(ticker.MaxNLocator(intervals))
    elif high / low < 30:
        axis.set_major_locator(ticker.LogLocator(base=10, subs=digits))
    axis.set_major_formatter(lambda value, _: text(value))
    axis.set_minor_formatter(ticker.NullFormatter())
