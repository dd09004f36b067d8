# SPDX-License-Identifier: GPL-2.0-only
"""Memory of a GPU by what it holds."""
import numpy
import pandas

from weir.errors import Missing
from weir.figure import PALETTE, Figure, new_figure

ORDER = ["weights", "embeddings", "gradients", "optimizer", "activations", "gathered", "buffers"]


class Memory(Figure):
    """What fills a GPU's memory."""

    name = "memory"
    title = "Memory of a GPU"
    joint = True

    def data(self, results, choice):
        pieces = []
        for result in results:
            if not result.has("memory"):
                continue
            memory = result.table("memory")
            units = memory.attrs["units"]
            parts = [part for part in memory if units.get(part) == "B" and part != "total"]
            keys = [key for key in ("job", "stage") if key in memory]
            rows = memory[[*keys, *parts]].astype({key: str for key in keys})
            rows = rows.melt(keys, var_name="part", value_name="bytes")
            rows.insert(0, "result", result.label)
            pieces.append(rows)
        if not pieces:
            raise Missing("there is no memory by part",
                          "it is in the results of training jobs: weir run FILE.yaml -o RESULT.h5")
        return pandas.concat(pieces, ignore_index=True)

    def draw(self, data, choice):
        keys = [key for key in ("result", "job", "stage") if key in data]
        wide = data.pivot_table(index=keys, columns="part", values="bytes", sort=False)
        parts = [part for part in wide if wide[part].sum() > 0]
        parts.sort(key=lambda part: (ORDER.index(part) if part in ORDER else len(ORDER), part))
        shown = [key for key in keys if data[key].nunique() > 1] or keys[-1:]
        names = [" ".join(f"stage {value}" if key == "stage" else str(value)
                          for key, value in zip(keys, as_tuple(index)) if key in shown)
                 for index in wide.index]
        figure = new_figure(0.9 + 0.24 * len(wide))
        axes = figure.subplots()
        left = numpy.zeros(len(wide))
        for position, part in enumerate(parts):
            values = wide[part].to_numpy() / 2**30
            axes.barh(range(len(wide)), values, left=left, height=0.7, label=part,
                      color=PALETTE[position % len(PALETTE)])
            left += values
        axes.set_yticks(range(len(wide)), names)
        axes.invert_yaxis()
        axes.set_xlabel("memory of a GPU, GiB")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=7, handlelength=1.0)
        return figure

    def caption(self, data):
        return "Estimated memory of a GPU by what it holds, of the stages that the result lists."


def as_tuple(index):
    """A row's key as a tuple, also where it is one value."""
    return index if isinstance(index, tuple) else (index,)
