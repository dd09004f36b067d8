# SPDX-License-Identifier: GPL-2.0-only
"""Link utilization over time as a heat map."""
import numpy
import pandas

from weir.errors import InputError, Missing
from weir.figure import Figure, bins_within, heat, heat_bar, heat_image, new_figure
from weir.network import with_ends
from weir.quantity import TIMES, in_seconds, unit_for

ROWS = 48      # links drawn, all classes in total
COLUMNS = 300  # bins drawn; more are joined
REMEDY = ("write it with output: {linkSeries: 100us} in the scenario, --set "
          "output.linkSeries=100us, or --link-series 100us of weir collective and weir flows; in "
          "fidelity analytical links carry nothing")


def shown_links(links, series):
    """The busiest links of each class with traffic, classes in order of their busiest link."""
    carried = series.groupby("link", observed=True)["bytes"].sum()
    links = with_ends(links)
    links = links.assign(carried=links["name"].map(carried.rename(index=str)).astype(float))
    links = links[links["carried"] > 0]
    links = links.assign(load=links["carried"] / links["rate"])
    classes = links.groupby("class")["load"].max().sort_values(ascending=False, kind="stable").index
    each = max(2, ROWS // max(len(classes), 1))
    shown = [links[links["class"] == name].nlargest(each, "load") for name in classes]
    return pandas.concat(shown) if shown else links


class LinkSeries(Figure):
    """How busy links are when."""

    name = "link-series"
    title = "Link utilization over time"
    choices = ("window",)

    def data(self, results, choice):
        result = results[0]
        if not result.has("link_series", "link", "bin", "bytes"):
            raise Missing("there is no series of link loads (/link_series)", REMEDY)
        series = result.table("link_series")
        width = series.attrs["bin_width_s"]
        first, last = 0, int(series["bin"].max())
        if choice.window:
            first, last = bins_within(choice.window, width)
            series = series[(series["bin"] >= first) & (series["bin"] <= last)]
            if series.empty:
                raise InputError(f"--window: found no traffic of {result.path} in it, expected a "
                                 "part of the run")
        join = -(-(last - first + 1) // COLUMNS)
        links = shown_links(result.table("links"), series)
        series = series[series["link"].isin(links["name"])]
        column = (series["bin"].to_numpy(dtype=numpy.int64) - first) // join
        summed = series["bytes"].astype(float).groupby(
            [series["link"].astype(str), pandas.Series(column, series.index, name="column")]).sum()
        count = (last - first) // join + 1
        full = summed.unstack(fill_value=0.0).reindex(index=links["name"], columns=range(count),
                                                      fill_value=0.0)
        tidy = full.stack().rename("bytes").reset_index()
        by_name = links.set_index("name")
        bins = numpy.minimum(join, last + 1 - first - tidy["column"] * join)
        tidy["start"] = (first + tidy["column"] * join) * width
        tidy["duration"] = bins * width
        tidy["class"] = tidy["name"].map(by_name["class"])
        tidy["utilization"] = tidy["bytes"] / (tidy["name"].map(by_name["rate"]) * tidy["duration"])
        tidy = tidy.rename(columns={"name": "link"})
        return tidy[["class", "link", "start", "duration", "bytes", "utilization"]]

    def draw(self, data, choice):
        links = list(dict.fromkeys(data["link"]))
        values = data["utilization"].to_numpy().reshape(len(links), -1)
        size, unit = unit_for((data["start"] + data["duration"]).max(), TIMES)
        start, width = data["start"].iloc[0], data["duration"].iloc[0]
        figure = new_figure(0.9 + 0.115 * len(links))
        axes = figure.subplots()
        shades = heat(values.max())
        heat_image(axes, values, shades, extent=(
            start / size, (start + width * values.shape[1]) / size, len(links) - 0.5, -0.5))
        axes.set_yticks(range(len(links)), links, fontsize=5.5)
        axes.tick_params(axis="y", length=0)
        classes = data.drop_duplicates("link")["class"].to_numpy()
        for border in numpy.flatnonzero(classes[1:] != classes[:-1]):
            axes.axhline(border + 0.5, color="white", linewidth=2)
        axes.set_xlabel(f"time, {unit}")
        heat_bar(figure, axes, shades)
        return figure

    def caption(self, data):
        return ("Bytes carried in a bin over what the link could carry in it, for the busiest "
                f"links of each class; bins of {in_seconds(data['duration'].iloc[0])}. Gray: idle.")
