# SPDX-License-Identifier: GPL-2.0-only
"""Flow completion times (FCT) and slowdowns by the size of the flow."""
import numpy
import pandas

from weir.errors import Missing

PERCENTILES = [50, 95, 99]
MAX_BINS = 24


def completion_times(result):
    """job, bytes, fct (s) and, where the result has it, slowdown of every flow.

    The job is "" in a file that does not say.
    """
    remedy = ("flows are in the HDF5 file (-o RESULT.h5) of weir run, collective and flows, and in "
              "the CSV of weir flows")
    if not result.has("flows", "bytes"):
        raise Missing("there are no flows (/flows)", remedy)
    flows = result.table("flows")
    frame = pandas.DataFrame({"job": flows["job"].astype(str) if "job" in flows else "",
                              "bytes": flows["bytes"]})
    for column in ("fct", "fct_s"):
        if column in flows:
            frame["fct"] = flows[column]
    if "fct" not in frame:
        if not {"start", "finish"} <= set(flows):
            raise Missing("the flows have no start and finish", remedy)
        frame["fct"] = flows["finish"] - flows["start"]
    if "slowdown" in flows:
        frame["slowdown"] = flows["slowdown"]
    return frame[frame["fct"].notna()]


def size_bins(sizes):
    """Edges of the bins: one a distinct size where there are few, else even in the logarithm."""
    distinct = numpy.unique(sizes)
    if len(distinct) <= MAX_BINS:
        return numpy.append(distinct, distinct[-1] + 1)
    low, high = max(distinct[0], 1), distinct[-1]
    edges = numpy.unique(numpy.geomspace(low, high, MAX_BINS + 1).astype(numpy.int64))
    edges[0], edges[-1] = distinct[0], high + 1
    return edges


def percentiles_by_size(result):
    """By job and bin: from_bytes, to_bytes, flows, mean_bytes, fct_p50, slowdown_p50 ...

    Percentiles are numpy's, interpolated linearly, every row of flows counted once. The bins are
    those of all jobs.
    """
    flows = completion_times(result)
    edges = size_bins(flows["bytes"].to_numpy())
    bins = numpy.searchsorted(edges, flows["bytes"].to_numpy(), side="right") - 1
    rows = []
    for (job, _), own in flows.groupby(["job", bins], sort=True):
        row = {"job": job, "from_bytes": int(own["bytes"].min()),
               "to_bytes": int(own["bytes"].max()), "flows": len(own),
               "mean_bytes": float(own["bytes"].mean())}
        for column in ("fct", "slowdown"):
            if column in own:
                values = numpy.percentile(own[column], PERCENTILES)
                row.update({f"{column}_p{p}": value for p, value in zip(PERCENTILES, values)})
        rows.append(row)
    frame = pandas.DataFrame(rows)
    frame.insert(0, "result", result.label)
    return frame
