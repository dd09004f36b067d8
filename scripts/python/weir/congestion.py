# SPDX-License-Identifier: GPL-2.0-only
"""The congestion tree of a link: its flows, and the links that bring them to it."""
import numpy
import pandas

from weir.errors import InputError, Missing
from weir.network import ends_of, jobs_of_paths, node_of

REMEDY = "flows with paths are in the HDF5 file of weir run in fidelity stream or flow"


def busiest_link(result):
    """The link that was at its full rate for longest, of equal ones the most utilized.

    It is one between nodes if any of them carries anything.
    """
    links = result.table("links")
    outside = [not (node_of(a) and node_of(a) == node_of(b))
                    for a, b in map(ends_of, links["name"])]
    between = links[outside]
    pool = between if len(between) and between["bytes"].max() > 0 else links
    order = [column for column in ("saturated", "utilization") if column in pool]
    return pool.sort_values(order, ascending=False, kind="stable")["name"].iloc[0]


def flows_of(result, link):
    """The flows on a link with what they carry over it (`carried`) and their job."""
    flows = result.flows_on(link)
    flows = flows.assign(carried=flows["bytes"] * flows["times"])
    if "job" in flows:
        flows["job"] = flows["job"].astype(str)
    elif result.has("ranks", "gpu", "job"):
        flows["job"] = flows["path"].map(jobs_of_paths(result)).astype(str)
    else:
        flows["job"] = ""
    return flows


def upstream(result, link, levels):
    """The tree: level, parent, link; of the root's flows `flows` and `carried`; load of the link.

    A link is upstream of another where a flow of the root's passes both and the first ends at the
    device where the second begins. Each link appears once, at the least distance from the root.
    """
    flows = flows_of(result, link)
    carried = flows.groupby("path")["bytes"].sum()
    count = flows.groupby("path").size()
    paths = result.table("flow_paths")
    paths = paths[paths["path"].isin(carried.index)]
    sums = pandas.DataFrame({"link": paths["link"].astype(str), "flows": paths["path"].map(count),
                             "carried": paths["path"].map(carried) * paths["times"]})
    sums = sums.groupby("link").sum()
    into = {}
    for path, own in paths.groupby("path"):
        names = own["link"].astype(str).tolist()
        ending = {}
        for name in names:
            ending.setdefault(ends_of(name)[1], []).append(name)
        for name in names:
            source, target = ends_of(name)
            into.setdefault(name, set()).update(
                other for other in ending.get(source, ()) if ends_of(other)[0] != target)
    rows, seen, front = [(0, "", link)], {link}, [link]
    for level in range(1, levels + 1):
        reached = []
        for parent in front:
            for name in sorted(into.get(parent, ())):
                if name not in seen:
                    seen.add(name)
                    reached.append(name)
                    rows.append((level, parent, name))
        front = reached
    tree = pandas.DataFrame(rows, columns=["level", "parent", "link"])
    tree[["flows", "carried"]] = sums.loc[tree["link"], ["flows", "carried"]].to_numpy()
    known = result.table("links").set_index("name")
    tree["rate"] = known.loc[tree["link"], "rate"].to_numpy()
    tree["bytes"] = known.loc[tree["link"], "bytes"].to_numpy()
    tree["utilization"] = known.loc[tree["link"], "utilization"].to_numpy()
    if "saturated" in known:
        tree["saturated"] = known.loc[tree["link"], "saturated"].to_numpy()
    return tree


def load_by_job(flows, bins):
    """What the flows of each job carry over the link by time: job, start, duration, bytes.

    A flow's bytes are spread evenly over the time from its start to its finish.
    """
    edges = numpy.linspace(flows["start"].min(), flows["finish"].max(), bins + 1)
    rows = []
    for job, own in flows.groupby("job", sort=True):
        rate = (own["carried"] / (own["finish"] - own["start"]).clip(lower=1e-15)).to_numpy()
        # The integral of the flows' rates up to each edge: exact, in O(flows log flows).
        passed = numpy.zeros(bins + 1)
        for times, sign in ((own["start"].to_numpy(), 1.0), (own["finish"].to_numpy(), -1.0)):
            order = numpy.argsort(times, kind="stable")
            at, rates = times[order], rate[order] * sign
            before = numpy.searchsorted(at, edges, side="right")
            total = numpy.append(0.0, numpy.cumsum(rates))[before]
            moment = numpy.append(0.0, numpy.cumsum(rates * at))[before]
            passed += total * edges - moment
        rows.append(pandas.DataFrame({"job": job, "start": edges[:-1],
                                      "duration": numpy.diff(edges),
                                      "bytes": numpy.diff(passed).clip(min=0.0)}))
    return pandas.concat(rows, ignore_index=True)


def measured_load(result, link, start, end, bins):
    """What the link carried by the link series, if there is one: start, duration, bytes."""
    if "link_series" not in result:
        return pandas.DataFrame()
    width = result.table("link_series").attrs["bin_width_s"]
    series = result.series(link)
    series = series[(series.index + width > start) & (series.index < end)].reset_index()
    join = -(-len(series) // bins)
    groups = series.groupby(numpy.arange(len(series)) // join)
    return groups.agg(start=("start", "first"), bytes=("bytes", "sum"),
                      duration=("bytes", lambda own: len(own) * width)).assign(
                          part="series", link=link)


def congestion(result, link=None, levels=3, bins=200):
    """Tree, load by job and time, link series and groups of flows of a link, tidy by `part`.

    The link is the busiest one where none is named. Raises Missing where the result has no flows
    with paths, InputError for an unknown link.
    """
    if not (result.has("flows", "path", "bytes", "start", "finish") and result.has("flow_paths")):
        raise Missing("there are no flows with their paths (/flows, /flow_paths)", REMEDY)
    if not (result.has("links", "name", "rate", "bytes", "utilization") and
            result.links["utilization"].max() > 0):
        raise Missing("no link carries anything (/links)", REMEDY)
    named = link is not None
    link = link or busiest_link(result)
    flows = flows_of(result, link)
    if flows.empty:
        if named:
            raise InputError(f"--link: found '{link}', which no recorded flow of {result.path} "
                             "crosses, expected a link with traffic")
        raise Missing(f"no recorded flow crosses the busiest link, {link}", REMEDY)
    tree = upstream(result, link, levels).assign(part="tree")
    times = load_by_job(flows, bins).assign(part="time", link=link)
    sizes = [column for column in ("job", "collective", "label", "source", "destination", "src",
                                   "dst") if column in flows]
    groups = flows.assign(**{column: flows[column].astype(str) for column in sizes}).groupby(
        sizes + ["path"]).agg(flows=("bytes", "size"), carried=("carried", "sum"),
                              start=("start", "min"), finish=("finish", "max")).reset_index()
    groups = groups.sort_values("carried", ascending=False, kind="stable").assign(
        part="flows", link=link)
    series = measured_load(result, link, flows["start"].min(), flows["finish"].max(), bins)
    frame = pandas.concat([tree, times, series, groups], ignore_index=True)
    frame.attrs = {"left_out": int(result.flows.attrs.get("rows_left_out", 0))}
    return frame[["part", *(column for column in frame if column != "part")]]
