# SPDX-License-Identifier: GPL-2.0-only
"""Congestion trees of ports: which port was paused for the sake of which queue."""
import pandas

from weir.network import ends_of

HELD = 0.1     # of a bin's time with a queue
LEAST = 0.001  # of the longest queue (bytes times time): roots with less are left out


def port_totals(series):
    """By port, over all bins: queued, paused, credit_wait, queued_held (s), marks, drops,
    max_queued (B)."""
    grouped = series.groupby("link")
    totals = grouped[["queued", "paused", "credit_wait", "queued_held", "marks", "drops"]].sum()
    totals["max_queued"] = grouped["max_queued"].max()
    if "byte_s" in series:
        totals["byte_s"] = grouped["byte_s"].sum()
    return totals


def next_links(result):
    """By link, those that some recorded flow takes right behind it."""
    behind = {}
    if not (result.has("flow_paths", "path", "link") and result.has("flows", "path")):
        return behind
    paths = result.table("flow_paths")
    for _, own in paths.groupby("path"):
        names = own["link"].astype(str).tolist()
        leaving = {}
        for name in names:
            leaving.setdefault(ends_of(name)[0], set()).add(name)
        for name in names:
            behind.setdefault(name, set()).update(leaving.get(ends_of(name)[1], ()))
    return behind


def cause_of(link, series, behind):
    """The port whose queue the port waits for: the most bytes times the time that it was held.

    Candidates are the links that flows take next; None where none of them has a queue meanwhile.
    """
    own = series[series["link"] == link].set_index("bin")
    own = (own["paused"] + own["credit_wait"])
    own = own[own > 0]
    best, most = None, 0.0
    for name in sorted(behind.get(link, ())):
        queue = series[series["link"] == name].set_index("bin")["queue"].astype(float)
        blame = float((queue.reindex(own.index, fill_value=0.0) * own).sum())
        if blame > most:
            best, most = name, blame
    return best


def port_trees(result, series):
    """Ports in the order of their trees: root, level, parent, link.

    A port is held in a bin where it was paused, or a packet waited for credits, in a tenth of the
    time with a queue. A root is a port that had a queue in bins in which it was not held for longer
    than in such bins. Others belong to the port on which they wait (cause_of); where none is known
    they are roots as well. Roots with hardly a queue (LEAST) that held nobody are left out. Trees
    come by what waited at their roots (bytes times time), ports under another by how long they were
    held.
    """
    totals = port_totals(series)
    totals["held"] = totals["paused"] + totals["credit_wait"]
    is_held = series["queued_held"] >= HELD * series["queued"]
    held = series["queued"].where(is_held, 0).groupby(series["link"]).sum()
    behind = next_links(result)
    parents = {}
    for link, row in totals.iterrows():
        waits = row["held"] > 0 and 2 * held[link] >= row["queued"]
        parents[link] = cause_of(link, series, behind) if waits else None
    for link in sorted(parents, key=lambda name: -totals.loc[name, "byte_s"]):
        seen, at = {link}, parents[link]
        while at is not None and at not in seen:
            seen.add(at)
            at = parents[at]
        if at == link:  # ports that wait for each other: the longest queue is the root
            parents[link] = None
    children = {}
    for link, parent in parents.items():
        children.setdefault(parent, []).append(link)
    least = LEAST * totals["byte_s"].max()
    rows = []

    def add(link, root, level):
        rows.append((root, level, parents[link] or "", link))
        for child in sorted(children.get(link, ()), key=lambda c: (-totals.loc[c, "held"], c)):
            add(child, root, level + 1)

    for link in sorted(children.get(None, ()), key=lambda c: (-totals.loc[c, "byte_s"], c)):
        if totals.loc[link, "byte_s"] >= least or totals.loc[link, "held"] > 0 or link in children:
            add(link, link, 0)
    return pandas.DataFrame(rows, columns=["root", "level", "parent", "link"])
