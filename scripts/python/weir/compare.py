# SPDX-License-Identifier: GPL-2.0-only
"""Two results quantity by quantity."""
import pandas

from weir.bandwidth import sweep_of
from weir.breakdown import parts_of
from weir.completion import PERCENTILES, completion_times
from weir.errors import Missing
from weir.network import with_ends
from weir.quantity import size_label


def steps_of(result):
    """Durations of the steps, by job."""
    rows = {}
    if result.has("steps", "job", "duration"):
        for job, own in result.table("steps").astype({"job": str}).groupby("job", sort=False):
            rows["steps", f"{job}: mean step", "s"] = own["duration"].mean()
            rows["steps", f"{job}: last step", "s"] = own["duration"].iloc[-1]
    return rows


def calls_of(result):
    """Mean times of the calls of jobs that are collectives."""
    if not result.has("collectives", "job", "start", "finish"):
        return {}
    training = set(result.table("steps")["job"].astype(str)) if "steps" in result else set()
    calls = result.table("collectives").astype({"job": str})
    times = (calls["finish"] - calls["start"]).groupby(calls["job"], sort=False).mean()
    return {("collectives", f"{job}: mean call", "s"): time
            for job, time in times.items() if job not in training}


def parts_by_job(result):
    """The parts of the step, means over the ranks of a job, over its stages without ranks."""
    table = next((name for name in ("ranks", "summary") if result.has(name, "job")), None)
    if table is None:
        return {}
    means = result.table(table).astype({"job": str}).groupby("job", sort=False)[
        parts_of(result)].mean()
    return {(table, f"{job}: {part}", "s"): means.loc[job, part]
            for job in means.index for part in means}


def links_by_class(result):
    """Bytes and utilization of the links of a class."""
    if not result.has("links", "name", "utilization", "rate"):
        return {}
    classes = with_ends(result.table("links")).groupby("class", sort=True)
    rows = {}
    for name, own in classes:
        if own["bytes"].sum() > 0:
            rows["links", f"{name}: bytes", "B"] = own["bytes"].sum()
            rows["links", f"{name}: mean utilization", "1"] = own["utilization"].mean()
            rows["links", f"{name}: highest utilization", "1"] = own["utilization"].max()
    return rows


def flows_of(result):
    """Percentiles over the flows of each job."""
    try:
        flows = completion_times(result)
    except Missing:
        return {}
    rows = {}
    for job, own in flows.groupby("job", sort=False):
        name = f"{job}: " if job else ""
        rows["flows", f"{name}flows", "1"] = len(own)
        for column, units in (("fct", "s"), ("slowdown", "1")):
            if column in own:
                for p in PERCENTILES:
                    rows["flows", f"{name}{column} p{p}", units] = own[column].quantile(p / 100)
    return rows


def bandwidths_of(result):
    """Bus bandwidth by collective and size."""
    sweep = sweep_of(result)
    if sweep is None:
        return {}
    names = sweep["collective"].astype(str) if "collective" in sweep else [""] * len(sweep)
    return {("bandwidth", f"{name} {size_label(size)}".strip(), "GB s-1"): value
            for name, size, value in zip(names, sweep["size_bytes"], sweep["busbw_GBps"])}


def quantities(result):
    """What results are compared by: a number by (table, quantity, units)."""
    return {**steps_of(result), **calls_of(result), **parts_by_job(result),
            **links_by_class(result), **flows_of(result), **bandwidths_of(result)}


def compare(a, b):
    """Two results, quantity by quantity.

    A frame indexed by table and quantity with the columns units, a, b, difference (b - a) and ratio
    (b / a; NaN where a is 0). What only one of them has is NaN in the other.
    """
    first, second = quantities(a), quantities(b)
    keys = list(dict.fromkeys([*first, *second]))
    frame = pandas.DataFrame({"units": [units for _, _, units in keys],
                              "a": [first.get(key) for key in keys],
                              "b": [second.get(key) for key in keys]},
                             index=pandas.MultiIndex.from_tuples(
                                 [key[:2] for key in keys], names=["table", "quantity"]))
    frame[["a", "b"]] = frame[["a", "b"]].astype(float)
    frame["difference"] = frame["b"] - frame["a"]
    frame["ratio"] = (frame["b"] / frame["a"]).where(frame["a"] != 0)
    frame.attrs = {"a": a.path, "b": b.path}
    return frame
