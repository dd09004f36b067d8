# SPDX-License-Identifier: GPL-2.0-only
"""What the results of a sweep are, by the values that vary."""
import pandas

from weir.errors import Missing
from weir.figure import PALETTE, Figure, new_figure
from weir.quantity import TIMES, size_label, unit_for

#: What is drawn of a result, the first that it has: column, whether it is a time in s, axis.
MEASURES = [("step_time_s", True, "step time"), ("mean_s", True, "mean call"),
            ("busbw_GBps", False, "bus bandwidth, GB/s"), ("fct_s_p99", True, "p99 completion time"),
            ("makespan_s", True, "time until the last flow has ended")]
MIN_LINE = 4     # numbers on the axis of a line; fewer are bars
MAX_BARS = 60    # with names
MAX_LINES = 24   # similarly; where there are more, cases have numbers
MAX_PANELS = 12
MAX_COLORS = len(PALETTE)


def axis_of(data, varied):
    """The column along a panel's axis: sizes, else that with most values, numbers before names."""
    if "size_bytes" in data and data["size_bytes"].nunique() > 1:
        return "size_bytes"
    return max(varied, key=lambda column: (pandas.api.types.is_numeric_dtype(data[column]) and
                                           data[column].nunique() >= MIN_LINE,
                                           data[column].nunique()))


def groups_of(data, columns):
    """The rows by their values of some columns: (values, rows) each, as they come."""
    if not columns:
        return [((), data)]
    keys = columns[0] if len(columns) == 1 else columns
    return [(values if len(columns) > 1 else (values,), own)
            for values, own in data.groupby(keys, sort=False)]


def beside(axes, title, entries):
    """A legend to the right of what is drawn."""
    axes.legend(title=title, loc="upper left", bbox_to_anchor=(1.0, 1.0), title_fontsize=7,
                alignment="left", ncols=1 + entries // 12)


class Sweep(Figure):
    """A panel for each job, collective or class of flows: what varies, and what came of it."""

    name = "sweep"
    title = "Results by what varies"
    of = "sweep"

    def data(self, results, choice):
        result, = results
        if not result.is_sweep:
            raise Missing("there are no cases that vary", "those are in the file of "
                          "weir sweep SWEEP.yaml -o RESULT.h5")
        rows = result.results.copy()
        varied = result.cases.attrs["varied"].split(",")
        known = [measure for measure in MEASURES if measure[0] in rows]
        rows["measure"], rows["value"] = None, float("nan")
        for name, _, label in known:
            own = rows["value"].isna() & rows[name].notna()
            rows.loc[own, "measure"] = label
            rows.loc[own, "value"] = rows.loc[own, name]
        if rows["value"].isna().all():
            raise Missing("no case has a time or bandwidth", "see /cases for how they ended")
        keep = [name for name in ("name", "size_bytes") if name in rows and name not in varied]
        data = rows[["case", *varied, *keep, "measure", "value"]].dropna(subset=["value"])
        data.attrs = {"varied": varied, "cases": len(result.cases),
                      "failed": int((result.cases["ended"] != "done").sum())}
        return data

    def draw(self, data, choice):
        varied = data.attrs["varied"]
        keys = [name for name in ("name", "measure") if name in data]
        panels = groups_of(data, keys)[:MAX_PANELS]
        figure = new_figure(2.2 * len(panels) + 0.4)
        for axes, (values, own) in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels):
            along = axis_of(own, varied)  # each of several jobs may have a size of its own
            is_line = pandas.api.types.is_numeric_dtype(own[along]) and \
                own[along].nunique() >= (2 if along == "size_bytes" else MIN_LINE)
            # What a position on the axis decides needs no color.
            others = [column for column in varied if column != along and
                      own.groupby(along, sort=False)[column].nunique().max() > 1]
            label = values[-1]
            is_time = next(time for _, time, text in MEASURES if text == label)
            size, unit = unit_for(own["value"].max(), TIMES) if is_time else (1.0, "")
            scaled = own.assign(value=own["value"] / size)
            if len(groups_of(own, others)) > MAX_LINES if is_line else len(own) > MAX_BARS:
                self._cases(axes, scaled)
                axes.set_xlabel(f"case ({', '.join(varied)} in the data)")
            elif is_line:
                self._lines(axes, scaled, along, others)
            else:
                self._bars(axes, scaled, along, others)
            axes.set_ylim(bottom=0)
            axes.set_ylabel(f"{label}, {unit}" if unit else label)
            axes.set_title(values[0] if len(values) > 1 else "", loc="left")
            axes.grid(True, axis="y")
        return figure

    @staticmethod
    def _cases(axes, data):
        """A bar for each case; where cases have several sizes a point for each of these."""
        if "size_bytes" not in data or data["size_bytes"].nunique() == 1:
            axes.bar(data["case"], data["value"], 0.8, color=PALETTE[0])
            return
        groups = groups_of(data.sort_values("size_bytes"), ["size_bytes"])
        for position, ((size,), own) in enumerate(groups):
            axes.plot(own["case"], own["value"], linestyle="", marker="o", markersize=3,
                      color=PALETTE[position % MAX_COLORS], label=size_label(size))
        beside(axes, "message size", len(groups))

    @staticmethod
    def _lines(axes, data, along, others):
        groups = groups_of(data, others)
        for position, (values, own) in enumerate(groups):
            own = own.sort_values(along)
            axes.plot(own[along], own["value"], marker="o", color=PALETTE[position % MAX_COLORS],
                      linestyle=["-", "--", ":", "-."][position // MAX_COLORS % 4],
                      label=", ".join(map(str, values)))
        axes.set_xlabel("message size" if along == "size_bytes" else along)
        if along == "size_bytes":
            axes.set_xscale("log", base=2)
            axes.set_xticks(sorted(data[along].unique()))
            axes.xaxis.set_major_formatter(lambda value, _: size_label(value))
            axes.minorticks_off()
        if others:
            beside(axes, ", ".join(others), len(groups))

    @staticmethod
    def _bars(axes, data, along, others):
        """Groups by the other columns, in them a bar of another color for each value of one."""
        if not others:
            axes.bar(range(len(data)), data["value"], 0.6, color=PALETTE[0])
            axes.set_xticks(range(len(data)), map(str, data[along]))
            axes.set_xlabel(along)
            return
        groups = groups_of(data, others)
        colors = list(dict.fromkeys(data[along]))
        width = 0.8 / len(colors)
        for position, value in enumerate(colors):
            xs, ys = [], []
            for x, (_, own) in enumerate(groups):
                for height in own.loc[own[along] == value, "value"]:
                    xs.append(x + (position - (len(colors) - 1) / 2) * width)
                    ys.append(height)
            axes.bar(xs, ys, width * 0.95, color=PALETTE[position % MAX_COLORS], label=str(value))
        axes.set_xticks(range(len(groups)), ["\n".join(map(str, values)) for values, _ in groups])
        axes.set_xlabel(", ".join(others))
        beside(axes, along, len(colors))

    def caption(self, data):
        text = (f"{data.attrs['cases']} cases of a sweep of {', '.join(data.attrs['varied'])}; "
                "each is a run by itself.")
        if data.attrs["failed"]:
            text += f" {data.attrs['failed']} of them failed and are left out."
        panels = len(groups_of(data, [name for name in ("name", "measure") if name in data]))
        if panels > MAX_PANELS:
            text += f" The first {MAX_PANELS} of {panels} results of a case are drawn."
        return text
