# SPDX-License-Identifier: GPL-2.0-only
"""Gantt chart of chosen ranks: their CUDA streams over time."""
import numpy
import pandas
from matplotlib import collections, patches

from weir.errors import InputError, Missing
from weir.figure import PALETTE, Figure, new_figure
from weir.quantity import TIMES, unit_for

MAX_ROWS = 16      # ranks that fit on a page
RESOLUTION = 3000   # intervals closer than the window over this are drawn as one
RASTER_FROM = 1500  # so many boxes are an image within the picture
FEW_BOXES = 400     # up to so many get their names, where these fit


def chosen_ranks(result, ops, choice):
    """Pairs (job, rank): those of the choice, else the first recorded rank of each stage."""
    recorded = ops[["job", "rank"]].drop_duplicates().astype({"job": str}).sort_values(
        ["job", "rank"])
    if choice.ranks is not None:
        lacking = sorted(set(choice.ranks) - set(recorded["rank"]))
        if lacking:
            raise InputError(f"--ranks: found {lacking[0]}, expected ranks that {result.path} "
                             f"records: {', '.join(map(str, recorded['rank'].unique()))}")
        recorded = recorded[recorded["rank"].isin(choice.ranks)]
    elif result.has("ranks", "job", "rank", "stage"):
        stages = result.table("ranks")[["job", "rank", "stage"]].astype({"job": str})
        recorded = recorded.merge(stages, how="left").drop_duplicates(["job", "stage"])
    if choice.ranks is None and len(recorded) > MAX_ROWS:
        keep = numpy.linspace(0, len(recorded) - 1, MAX_ROWS).round().astype(int)
        recorded = recorded.iloc[keep]
    return list(zip(recorded["job"], recorded["rank"]))


def merged(row, gap):
    """Intervals of one stream in order of start, those closer than a gap joined."""
    row = row.sort_values("start", kind="stable")
    reach = row["finish"].cummax()
    first = (row["start"] > reach.shift() + gap).fillna(True)
    groups = row.groupby(first.cumsum())
    joined = groups.agg(start=("start", "first"), finish=("finish", "max"),
                        label=("label", "first"), ops=("label", "size"))
    joined.loc[joined["ops"] > 1, "label"] = ""
    return joined


class Gantt(Figure):
    """What ranks do when."""

    name = "gantt"
    title = "Gantt chart"
    choices = ("ranks", "window")

    def data(self, results, choice):
        result = results[0]
        if not result.has("ops", "job", "rank", "stream", "label", "start", "finish"):
            raise Missing("there are no operations (/ops)",
                          "they are in the HDF5 file of training jobs: weir run FILE.yaml -o "
                          "RESULT.h5")
        ops = result.table("ops")
        first, last = ops["start"].min(), ops["finish"].max()
        start, end = choice.window or (first, last)
        ranks = chosen_ranks(result, ops, choice)
        ops = ops[(ops["finish"] > start) & (ops["start"] < end)]
        ops = ops.assign(job=ops["job"].astype(str), stream=ops["stream"].astype(str),
                         label=ops["label"].astype(str))
        pieces = []
        for job, rank in ranks:
            own = ops[(ops["job"] == job) & (ops["rank"] == rank)]
            for stream, row in own.groupby("stream", sort=False):
                row = merged(row, (end - start) / RESOLUTION)
                pieces.append(row.assign(job=job, rank=rank, stream=stream))
        if not pieces:
            raise InputError(f"--window: found no operation of {result.path} in it, expected a "
                             f"part of {first:g} s to {last:g} s")
        frame = pandas.concat(pieces, ignore_index=True)
        return frame[["job", "rank", "stream", "start", "finish", "label", "ops"]]

    def draw(self, data, choice):
        rows = list(dict.fromkeys(zip(data["job"], data["rank"])))
        several = data["job"].nunique() > 1
        streams = list(dict.fromkeys(data["stream"]))
        streams.sort(key=lambda name: name != "compute")
        start, end = choice.window or (data["start"].min(), data["finish"].max())
        size, unit = unit_for(min(end, 20 * (end - start)), TIMES)
        figure = new_figure(0.8 + 0.36 * len(rows) + 0.2)
        axes = figure.subplots()
        boxes, colors = [], []
        least = (end - start) / size * 2 / RESOLUTION  # what is shorter would not be seen
        for y, (job, rank) in enumerate(rows):
            own = data[(data["job"] == job) & (data["rank"] == rank)]
            top = y - 0.44
            others = max(len(streams) - ("compute" in streams), 1)
            for stream in streams:
                height = 0.44 if stream == "compute" else 0.44 / others
                row = own[own["stream"] == stream]
                for left, right in zip(row["start"], row["finish"]):
                    left = max(left, start) / size
                    right = max(min(right, end) / size, left + least)
                    boxes.append([(left, top), (right, top), (right, top + height),
                                  (left, top + height)])
                    colors.append(PALETTE[streams.index(stream) % len(PALETTE)])
                if stream == "compute" and len(data) <= FEW_BOXES:
                    self._name_boxes(axes, row, top + height / 2, start, end, size)
                top += height
        axes.add_collection(collections.PolyCollection(
            boxes, facecolors=colors, linewidths=0, rasterized=len(boxes) > RASTER_FROM))
        axes.set_xlim(start / size, end / size)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), [f"{job} {rank}" if several else str(rank)
                                           for job, rank in rows])
        axes.set_ylabel("rank")
        axes.set_xlabel(f"time, {unit}")
        axes.legend(handles=[patches.Patch(color=PALETTE[position % len(PALETTE)], label=name)
                             for position, name in enumerate(streams)],
                    loc="lower center", bbox_to_anchor=(0.5, 1), ncol=min(len(streams), 4),
                    handlelength=1.0)
        return figure

    @staticmethod
    def _name_boxes(axes, row, y, start, end, size):
        """Writes what an operation is where a box has room for it."""
        for left, right, label in zip(row["start"], row["finish"], row["label"]):
            room = (min(right, end) - max(left, start)) / (end - start)
            if label and room * 110 > len(label):  # some 110 letters are as wide as the axes
                axes.text((max(left, start) + min(right, end)) / 2 / size, y, label, fontsize=5,
                          ha="center", va="center", color="white")

    def caption(self, data):
        return ("What the CUDA streams of a rank do: computation in the upper half of its row, "
                "communication below, for the steps and the ranks (one of each role) that the file "
                "records. Operations closer than "
                f"1/{RESOLUTION} of the window are joined; --ranks and --window choose others.")
