# SPDX-License-Identifier: GPL-2.0-only
"""What the names of links tell of the network: devices, nodes, classes, and who crosses them."""
import re

import pandas

from weir.errors import InputError

LINK = re.compile(r"(.+?)->(.+?)(?:#(\d+))?")  # source->target, the second of parallel links #2


def natural(name):
    """A key that sorts leaf2 before leaf10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(name))]


def node_of(device):
    """The node that a device is part of, "node3" of "node3/gpu1"; "" for a switch of the fabric."""
    return device.rpartition("/")[0]


def class_of(device):
    """What a device is: "gpu" of "node3/gpu1", "leaf" of "leaf12", "device" of "12"."""
    return re.sub(r"[\d.,]+", "", device.rpartition("/")[2]) or "device"


def ends_of(link):
    """Source and target of a link's name."""
    match = LINK.fullmatch(link)
    return match.group(1, 2) if match else (link, link)


def with_ends(links):
    """The links with the columns source, target and class ("nic->leaf")."""
    ends = [ends_of(name) for name in links["name"]]
    return links.assign(source=[source for source, _ in ends],
                        target=[target for _, target in ends],
                        **{"class": [f"{class_of(a)}->{class_of(b)}" for a, b in ends]})


def tiers_of(links):
    """Switches between nodes by their distance from the nodes: {"leaf0": 1, "spine0": 2}.

    Where no link leads to a node, distances are from the devices with a single neighbor, the hosts.
    """
    neighbors, tiers = {}, {}
    for source, target in zip(links["source"], links["target"]):
        if node_of(source) and not node_of(target):
            tiers[target] = 1
        elif node_of(target) and not node_of(source):
            tiers[source] = 1
        elif not node_of(source):
            neighbors.setdefault(source, set()).add(target)
            neighbors.setdefault(target, set()).add(source)
    front = list(tiers)
    if not front:
        front = [device for device, others in neighbors.items() if len(others) == 1]
        tiers = dict.fromkeys(front, 0)
    while front:
        reached = {other for device in front for other in neighbors.get(device, ())
                   if other not in tiers}
        tiers.update({device: tiers[front[0]] + 1 for device in reached})
        front = sorted(reached, key=natural)
    return tiers


def crossing(result, link):
    """The flows whose path has a link; see Result.flows_on."""
    if not (result.has("flows", "path") and result.has("flow_paths", "path", "link", "share")):
        raise InputError(f"{result.path}: found no flows with paths, expected the HDF5 file of "
                         "weir run")
    paths = result.table("flow_paths")
    if link not in set(result.table("links")["name"]):
        raise InputError(f"{result.path}: found no link '{link}', expected a name of /links")
    share = paths[paths["link"] == link].set_index("path")["share"]
    flows = result.table("flows")
    on = flows[flows["path"].isin(share.index)]
    on = on.assign(share=on["path"].map(share)).sort_values("start", kind="stable")
    for name in on.select_dtypes("category"):  # else groupby has rows of jobs that are not on it
        on[name] = on[name].cat.remove_unused_categories()
    on.attrs = flows.attrs
    return on


def jobs_of_paths(result):
    """By path, the jobs whose GPUs it touches, joined by "+" ("" where it touches none).

    Files whose flows name their job need this not; in others it is exact where jobs share no GPU.
    """
    ranks = result.table("ranks")
    owner = ranks.groupby("gpu")["job"].agg(lambda jobs: "+".join(sorted(set(map(str, jobs)))))
    links = result.table("flow_paths")["link"]
    ends = {name: [owner[end] for end in ends_of(name) if end in owner.index]
            for name in links.cat.categories[pandas.unique(links.cat.codes)]}
    jobs = {}
    for path, link in zip(result.table("flow_paths")["path"], links):
        jobs.setdefault(path, set()).update(ends[link])
    return pandas.Series({path: "+".join(sorted(found)) for path, found in jobs.items()},
                         dtype=object)
