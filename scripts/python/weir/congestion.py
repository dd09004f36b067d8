# SPDX-License-Identifier: GPL-2.0-only
"""Saturated links, whose flows share them, and the links by which the flows of one come."""
import numpy
import pandas

from weir.errors import InputError, Missing
from weir.network import ends_of, jobs_of_paths, node_of, tiers_of, with_ends

REMEDY = ("they are in the HDF5 file (-o RESULT.h5) of weir run, collective and flows; in fidelity "
          "analytical links carry nothing")
LINKS = 20  # listed with what each job carries over them


def between_nodes(links):
    """The links between nodes if any of them carries anything, else all."""
    outside = [not (node_of(a) and node_of(a) == node_of(b)) for a, b in map(ends_of,
                                                                            links["name"])]
    between = links[outside]
    return between if len(between) and between["bytes"].max() > 0 else links


def by_saturation(links):
    """Links in the order of the time at their full rate, of equal ones of their utilization."""
    order = [column for column in ("saturated", "utilization") if column in links]
    return links.sort_values(order, ascending=False, kind="stable")


def busiest_link(result):
    """The link that was at its full rate for longest; one between nodes if these carry anything."""
    return by_saturation(between_nodes(result.table("links")))["name"].iloc[0]


def job_column(result, flows):
    """The job of each flow as a text; "" where the file does not say."""
    if "job" in flows:
        return flows["job"].astype(str)
    if result.has("ranks", "gpu", "job"):
        return flows["path"].map(jobs_of_paths(result)).astype(str)
    return ""


def within_window(result, flows):
    """The part of each flow in the window of /links, its bytes spread evenly over its time."""
    end = result.table("links").attrs.get("window_end_s", numpy.inf)
    flows = flows[flows["start"] < end]
    finish = flows["finish"].clip(upper=end)
    part = (finish - flows["start"]) / (flows["finish"] - flows["start"])
    return flows.assign(finish=finish, bytes=flows["bytes"] * part.fillna(1))


def flows_of(result, link):
    """The flows on a link with what they carry over it (`carried`) and their job."""
    flows = within_window(result, result.flows_on(link))
    return flows.assign(carried=flows["bytes"] * flows["share"], job=job_column(result, flows))


def busy_links(result, link):
    """The links longest at their full rate, of each class, in the order in which packets pass them.

    One row a link and job: link, rank (order of the links), job, carried, bytes, rate, utilization,
    saturated and paused (s, where the file has them), window (s). `link` is among them.
    """
    every = with_ends(result.table("links"))
    tiers = tiers_of(every)
    links = between_nodes(every)
    links = links[(links["bytes"] > 0) | (links["name"] == link)]
    classes = links["class"].nunique()
    shown = pandas.concat([by_saturation(own).head(max(2, LINKS // classes))
                           for _, own in links.groupby("class", sort=False)])
    if link not in set(shown["name"]):
        shown = pandas.concat([shown, every[every["name"] == link]])
    heights = [(tiers.get(a, 0), tiers.get(b, 0)) for a, b in zip(shown["source"], shown["target"])]
    # Upward hops by height, then those within a tier, then downward ones from the top.
    shown = shown.assign(hop=[a - 100 if a < b else 0 if a == b else 100 - a for a, b in heights])
    shown = by_saturation(shown).sort_values(["hop", "class"], kind="stable")
    flows = within_window(result, result.table("flows"))
    flows = flows.assign(job=job_column(result, flows))
    by_path = flows.groupby(["path", "job"], as_index=False, observed=True)["bytes"].sum()
    paths = result.table("flow_paths")
    paths = paths[paths["link"].isin(shown["name"])].astype({"link": str})
    carried = by_path.rename(columns={"bytes": "own"}).merge(paths, on="path")
    carried = carried.assign(carried=carried["own"] * carried["share"]).groupby(
        ["link", "job"], as_index=False)["carried"].sum()
    columns = [name for name in ("bytes", "rate", "utilization", "saturated", "paused")
               if name in shown]
    shown = shown.assign(rank=range(len(shown)), link=shown["name"]).reset_index(drop=True)
    frame = shown[["link", "rank", *columns]].merge(carried, on="link", how="left")
    return frame.assign(window=result.table("links").attrs.get("window_end_s", numpy.nan))


def hops_of(names):
    """The links of a path in its order, None where they are no chain.

    The links of a collective's flow in fidelity stream are such a set: all ranks send at once, and
    none of its links comes before another.
    """
    ends = [ends_of(name) for name in names]
    chained = all(a[1] == b[0] for a, b in zip(ends, ends[1:]))
    return names if chained and len(set(names)) == len(names) else None


def upstream(result, link, levels):
    """By which links flows come to a link: level, parent, link, flows, carried.

    Of the flows whose path is a chain of hops: `link` is `level` hops before the root, and `parent`
    is the next hop of those flows, which carry `carried` bytes over both. Empty where no flow of
    the root has a chain, so that nothing is upstream of anything.
    """
    flows = flows_of(result, link)
    carried = flows.groupby("path")["carried"].sum()
    count = flows.groupby("path").size()
    paths = result.table("flow_paths")
    paths = paths[paths["path"].isin(carried.index)]
    sums = {}
    for path, own in paths.groupby("path"):
        hops = hops_of(own["link"].astype(str).tolist())
        if hops is None:
            continue
        root = hops.index(link)
        for level in range(min(root, levels) + 1):
            parent = hops[root - level + 1] if level else ""
            row = sums.setdefault((level, parent, hops[root - level]), [0, 0])
            row[0] += count[path]
            row[1] += carried[path]
    rows = [(*key, *row) for key, row in sorted(sums.items(), key=lambda one: (
        one[0][0], -one[1][1], one[0]))]
    tree = pandas.DataFrame(rows, columns=["level", "parent", "link", "flows", "carried"])
    known = result.table("links").set_index("name")
    for column in ("rate", "bytes", "utilization", "saturated"):
        if column in known:
            tree[column] = known.loc[tree["link"], column].to_numpy()
    return tree


def load_by_job(flows, bins):
    """What the flows of each job carry over the link by time: job, start, duration, bytes.

    A flow's bytes are spread evenly over the time from its start to its finish. `bins` is the
    number of bins of equal width, or their edges in s, which contain all flows.
    """
    edges = numpy.linspace(flows["start"].min(), flows["finish"].max(), bins + 1) \
        if numpy.isscalar(bins) else numpy.asarray(bins)
    rows = []
    for job, own in flows.groupby("job", sort=True):
        rate = (own["carried"] / (own["finish"] - own["start"]).clip(lower=1e-15)).to_numpy()
        # The integral of the flows' rates up to each edge: exact, in O(flows log flows).
        passed = numpy.zeros(len(edges))
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


def edges_of(series, finish):
    """The edges of the bins of `measured_load`, and `finish` where flows end after the last."""
    edges = numpy.append(series["start"], series["start"].iloc[-1] + series["duration"].iloc[-1])
    return numpy.append(edges, finish) if finish > edges[-1] else edges


def congestion(result, link=None, levels=3, bins=200):
    """Saturated links, tree, load by job and time, series and flows of a link, tidy by `part`.

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
    try:
        flows = flows_of(result, link)
    except InputError as error:
        raise InputError(f"--link: {error}") from None
    if flows.empty:
        if named:
            raise InputError(f"--link: found '{link}', which no recorded flow of {result.path} "
                             "crosses, expected a link with traffic")
        raise Missing(f"no recorded flow crosses the busiest link, {link}", REMEDY)
    links = busy_links(result, link).assign(part="links")
    tree = upstream(result, link, levels).assign(part="tree")
    series = measured_load(result, link, flows["start"].min(), flows["finish"].max(), bins)
    # Bins of other edges would show bursts in one of the two only.
    times = load_by_job(flows, bins if series.empty else edges_of(series, flows["finish"].max())
                        ).assign(part="time", link=link)
    sizes = [column for column in ("job", "collective", "label", "source", "destination", "src",
                                   "dst") if column in flows]
    groups = flows.assign(**{column: flows[column].astype(str) for column in sizes}).groupby(
        sizes + ["path"]).agg(flows=("bytes", "size"), carried=("carried", "sum"),
                              start=("start", "min"), finish=("finish", "max")).reset_index()
    groups = groups.sort_values("carried", ascending=False, kind="stable").assign(
        part="flows", link=link)
    frame = pandas.concat([links, tree, times, series, groups], ignore_index=True)
    frame.attrs = {"root": link, "left_out": int(result.flows.attrs.get("rows_left_out", 0))}
    return frame[["part", *(column for column in frame if column != "part")]]
