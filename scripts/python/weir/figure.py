# SPDX-License-Identifier: GPL-2.0-only
"""What a figure is: the data of a result as one frame, and how that frame is drawn."""
import dataclasses
import io

import matplotlib
import numpy
from matplotlib import cm, colors
from matplotlib import figure as canvas
from matplotlib import ticker

from weir.errors import InputError
from weir.quantity import size_label

WIDTH = 7.16  # inches: both columns of a page of an IEEE or ACM paper
FORMATS = ["svg", "pdf", "png", "csv"]
FEW_SIZES = 4  # up to so many sizes are the ticks of their axis

# Okabe and Ito's palette and three more: told apart by readers who cannot see all colors.
PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#332288", "#882255",
           "#999999", "#f0e442"]
STYLE = {
    "font.size": 8, "font.family": "DejaVu Sans", "axes.titlesize": 8, "axes.labelsize": 8,
    "legend.fontsize": 7, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6,
    "lines.linewidth": 1.2, "lines.markersize": 3.5, "grid.color": "#e0e0e0", "grid.linewidth": 0.5,
    "axes.axisbelow": True, "pdf.fonttype": 42, "figure.dpi": 200, "savefig.dpi": 300,
}


@dataclasses.dataclass
class Choice:
    """What of a result is drawn, where a figure leaves a choice."""

    ranks: list = None     #: ranks of the Gantt chart; by default the first of each stage
    window: tuple = None   #: (start, end) in s of figures over time; by default all of it
    link: str = None       #: whose flows congestion follows; by default the busiest's
    measured: str = None   #: CSV of measured points beside bus bandwidths
    title: str = ""        #: above a single figure


class Figure:
    """A figure by its data and its drawing. Figures keep no state."""

    name = ""      #: as --figure takes it
    title = ""     #: its heading in a report
    joint = False  #: one figure of all results, not one of each
    of = "run"     #: the kind of results that it is drawn of
    choices = ()   #: what of Choice it follows, beside its title

    def data(self, results, choice):
        """What is drawn of the results (one, unless joint), as the frame that becomes the CSV.

        Raises Missing where they lack it.
        """
        raise NotImplementedError

    def draw(self, data, choice):
        """The matplotlib figure of such a frame."""
        raise NotImplementedError

    def caption(self, data):
        """What a reader must know to read it; plain text."""
        return ""


def bins_within(window, width):
    """The first and the last bin of a width (s) that a window (start and end, s) touches.

    An end within a millionth of a bin of an edge is at the edge: decimal fractions are rounded.
    """
    start, end = (edge / width for edge in window)
    first = int(numpy.floor(start + 1e-6))
    return first, max(first, int(numpy.ceil(end - 1e-6)) - 1)


def heat(largest):
    """The colors of utilizations up to the largest: by their square root, so that low ones show.

    Even in lightness, for every kind of color vision.
    """
    return cm.ScalarMappable(colors.PowerNorm(0.5, 0, max(largest, 1e-9)), "cividis")


def heat_image(axes, values, shades, **arguments):
    """A matrix as an image; what is 0 is light gray, what is not a number white."""
    axes.set_facecolor("white")
    pixels = shades.to_rgba(numpy.nan_to_num(values))
    pixels[values == 0] = colors.to_rgba("#e4e4e4")
    pixels[numpy.isnan(values)] = (1, 1, 1, 1)
    axes.imshow(pixels, aspect="auto", interpolation="nearest", **arguments)


def heat_bar(figure, axes, shades):
    """The color bar of utilizations, in percent."""
    bar = figure.colorbar(shades, ax=axes, label="utilization", pad=0.01, fraction=0.03, aspect=30)
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value * 100:.3g} %")


def new_figure(height, width=WIDTH):
    """An empty figure, sizes in inches."""
    return canvas.Figure(figsize=(width, height), layout="constrained")


def new_panels(count, height, columns=3):
    """A figure of so many panels of a height in inches, in rows: the figure and its axes."""
    columns = min(count, columns)
    rows = -(-count // columns)
    figure = new_figure(height * rows, WIDTH if columns > 1 else WIDTH / 2)
    panels = figure.subplots(rows, columns, squeeze=False).flatten()
    for unused in panels[count:]:
        unused.remove()
    return figure, panels[:count]


def titled(figure, data, choice):
    """The matplotlib figure with the title of the choice."""
    drawn = figure.draw(data, choice)
    if choice.title:
        drawn.suptitle(choice.title, fontsize=9)
    return drawn


def styled(figure, data, choice):
    """The matplotlib figure in the style of a report, which it keeps when it is saved later."""
    with matplotlib.rc_context(STYLE):
        drawn = titled(figure, data, choice)
        drawn.draw_without_rendering()  # makes the ticks, in this style
    return drawn


def render(figure, data, choice, kind, inline=False):
    """The figure in a format, as bytes; the same ones for the same data.

    Texts of an inline SVG stay texts, to be searched; elsewhere they are outlines.
    """
    if kind == "csv":
        return data.to_csv(index=False, float_format="%.9g").encode()
    style = {**STYLE, "svg.fonttype": "none" if inline else "path",
             "svg.hashsalt": f"{figure.name} {choice.title}"}
    with matplotlib.rc_context(style):
        drawn = titled(figure, data, choice)
        target = io.BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
        drawn.savefig(target, format=kind, metadata=metadata)
    return target.getvalue()


def format_of(path):
    """The format that the ending of a file name asks for."""
    kind = str(path).rpartition(".")[2].lower()
    if kind not in FORMATS:
        raise InputError(f"-o: found '{path}', expected a name that ends in one of: "
                         f"{', '.join('.' + name for name in FORMATS)}")
    return kind


def size_axis(axis, sizes, intervals=6):
    """Sizes in KiB, MiB along a logarithmic axis of base 2; few ticks, with room for their labels."""
    sizes = sorted(set(sizes))
    low, high = axis.get_view_interval()
    step = 1
    while low * 2 ** (step * intervals) < high:
        step += 1
    ticks = []
    for size in sizes:
        if not ticks or size > ticks[-1] * (high / low) ** (1 / intervals):
            ticks.append(size)
    axis.set_major_locator(ticker.FixedLocator(ticks) if len(sizes) <= FEW_SIZES else
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
    elif high / low < 300:
        axis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 3)))
    axis.set_major_formatter(lambda value, _: text(value))
    axis.set_minor_formatter(ticker.NullFormatter())
