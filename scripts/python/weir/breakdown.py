# SPDX-License-Identifier: GPL-2.0-only
"""The parts that a step's time is booked as."""
import pandas

from weir.errors import Missing

#: The order in which known parts are drawn, work first; others follow by name.
ORDER = ["compute", "launch", "tensor", "context", "expert", "embedding", "pipeline", "data",
         "copy", "bubble"]
NOT_PARTS = {"step_time", "stage", "job"}


def parts_of(result):
    """The columns of summary and ranks that are parts of the step, in the order of drawing."""
    shared = [set(result.table(name)) for name in ("summary", "ranks") if name in result]
    if not shared:
        return []
    units = result.table("summary" if "summary" in result else "ranks").attrs["units"]
    found = {column for column in set.intersection(*shared)
             if units.get(column) == "s" and column not in NOT_PARTS}
    return sorted(found, key=lambda part: (ORDER.index(
        part) if part in ORDER else len(ORDER), part))


def breakdown(result):
    """Seconds of every part, tidy: level (stage or rank), job, number, part, seconds.

    The parts of a rank sum to its step; those of a stage are means of its ranks.
    """
    parts = parts_of(result)
    pieces = []
    for level, table in (("stage", "summary"), ("rank", "ranks")):
        if parts and result.has(table, "job", level):
            rows = result.table(table)[["job", level, *parts]].astype({"job": str})
            rows = rows.melt(["job", level], var_name="part", value_name="seconds")
            pieces.append(rows.rename(columns={level: "number"}).assign(level=level))
    if not pieces:
        raise Missing("there is no /summary or /ranks with a step's breakdown",
                      "it is in the results of training jobs: weir run FILE.yaml -o RESULT.h5")
    frame = pandas.concat(pieces, ignore_index=True)
    return frame[["level", "job", "number", "part", "seconds"]]
