# SPDX-License-Identifier: GPL-2.0-only
"""Frames and figures of the Python package equal the contents of the files. Argument: WEIR."""
import csv
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from weir_results import (FOLDER, bounds, call, cases, flows, micro_batches, pipeline, ports,
                          run_json, sprayed, sweep, two_jobs, validation)

import h5py
import numpy
import pandas
import weir
from weir import congestion, network
from weir.figure import Choice, bins_within, new_figure, size_axis
from weir.figures import find_figure, topology
from weir.figures.breakdown import ticks_of_jobs
from weir.validation import errors_by_size


def data_of(name, *results, **choice):
    """The data of a figure."""
    return find_figure(name).data(list(results), Choice(**choice))


class Frames(unittest.TestCase):
    """weir.open: tables as data frames."""

    def test_columns_are_those_of_the_file(self):
        result = weir.open(pipeline())
        with h5py.File(pipeline()) as file:
            for name in ("summary", "steps", "ops", "collectives", "flows", "links", "ranks",
                         "flow_paths", "link_series", "memory"):
                frame = getattr(result, name)
                self.assertEqual({*frame.columns, *filter(None, [frame.index.name])},
                                 set(file[name]), name)
                for column in file[name]:
                    self.assertEqual(
    frame.attrs["units"][column],
     file[name][column].attrs["units"])
                    self.assertEqual(frame.attrs["long_name"][column],
                                     file[name][column].attrs["long_name"])
            numpy.testing.assert_array_equal(result.ops["start"], file["ops/start"][:])
            numpy.testing.assert_array_equal(result.links["name"], file["links/name"].asstr()[:])
            labels = file["catalogs/labels/name"].asstr()[:]
            numpy.testing.assert_array_equal(result.ops["label"].astype(str),
                                             labels[file["ops/label"][:]])
            self.assertEqual(result.summary.attrs["step_time_s"],
                             file["summary"].attrs["step_time_s"])
            self.assertEqual(result.provenance["scenario"],
                             file["provenance/scenario"].asstr()[()])
            self.assertEqual(result.provenance["seed"], 1)
            self.assertEqual(result.title, file.attrs["title"])

    def test_labels_of_two_jobs_of_one_name_are_one_category(self):
        result = weir.open(two_jobs())
        with h5py.File(two_jobs()) as file:
            labels = file["catalogs/labels/name"].asstr()[:]
            self.assertLess(len(set(labels)), len(labels))
            numpy.testing.assert_array_equal(result.ops["label"].astype(str),
                                             labels[file["ops/label"][:]])

    def test_new_columns_and_groups_appear(self):
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(two_jobs(), folder)
            with h5py.File(path, "r+") as file:
                count = len(file["steps/duration"])
                file["steps/lower"] = numpy.arange(count, dtype=float)
                file["steps/lower"].attrs["units"] = "s"
                file.create_group("queues")["length"] = numpy.array([1.5, 2.5])
            result = weir.open(path)
            self.assertEqual(list(result.steps["lower"]), list(range(count)))
            self.assertEqual(result.steps.attrs["units"]["lower"], "s")
            self.assertEqual(list(result.queues["length"]), [1.5, 2.5])

    def test_unknown_tables_and_links_are_said(self):
        result = weir.open(two_jobs())
        with self.assertRaisesRegex(AttributeError, "no table 'opps', expected one of: .*ops"):
            result.opps
        with self.assertRaisesRegex(weir.InputError, "no link 'x->y'"):
            result.flows_on("x->y")
        with self.assertRaisesRegex(weir.InputError, "no table 'link_series'"):
            result.series("x->y")

    def test_csv_and_json(self):
        """Their tables have the names of the HDF5 groups."""
        self.assertEqual(weir.open(flows()).tables, ["flows"])
        self.assertEqual(len(weir.open(flows()).flows), 8)
        self.assertEqual(weir.open(sweep("ring")).bandwidth.attrs["units"]["size_bytes"], "B")
        run = weir.open(run_json())
        self.assertEqual(set(run.tables), {"summary", "steps", "memory", "links"})
        self.assertEqual(run.summary.attrs["step_time_s"], run.steps["duration"].iloc[-1])


class Links(unittest.TestCase):
    """Flows and load of a link over time."""

    def test_series_holds_every_byte_of_the_link(self):
        """Conservation: the bins of a link sum to its bytes, and no bin exceeds its rate."""
        result = weir.open(pipeline())
        links = result.links.set_index("name")
        for name in links["bytes"].nlargest(3).index:
            series = result.series(name)
            self.assertAlmostEqual(series["bytes"].sum() / links.loc[name, "bytes"], 1, places=6)
            self.assertLessEqual(series["utilization"].max(), 1 + 1e-6)

    def test_flows_cross_the_link_and_carry_its_bytes(self):
        """With one step all flows are recorded, so the flows on a link sum to its bytes."""
        result = weir.open(two_jobs())
        self.assertEqual(result.flows.attrs["rows_left_out"], 0)
        paths = result.flow_paths
        links = result.links.set_index("name")
        for name in links["bytes"].nlargest(3).index:
            on = result.flows_on(name)
            crossing = set(paths[paths["link"] == name]["path"])
            self.assertTrue(set(on["path"]) <= crossing)
            self.assertEqual(len(on), result.flows["path"].isin(crossing).sum())
            carried = (on["bytes"] * on["share"]).sum()
            self.assertAlmostEqual(carried / links.loc[name, "bytes"], 1, places=6)
            self.assertTrue(on["start"].is_monotonic_increasing)

    def test_a_divided_flow_puts_its_share_on_each_link(self):
        """Each link carries its share of the flow, and a sprayed flow gives no congestion tree."""
        result = weir.open(sprayed())
        up = [name for name in result.links["name"] if name.startswith("leaf0->spine")]
        self.assertEqual(len(up), 8)
        for name in up:
            on = result.flows_on(name)
            self.assertEqual(list(on["bytes"] * on["share"]), [10e6])
        data = data_of("congestion", result, link=up[4])
        self.assertEqual(data[data["part"] == "time"]["bytes"].sum().round(), 10e6)
        links = data[data["part"] == "links"]
        numpy.testing.assert_allclose(links["carried"], links["bytes"])
        self.assertFalse((data["part"] == "tree").any())


class RecordedRanks(unittest.TestCase):
    """If ranks differ, a result contains the slowest, the median and the selected ranks."""

    def test_slowest_median_and_chosen_ranks_are_in_ops_and_timeline(self):
        """A run that records all ranks determines which these are."""
        folder = pathlib.Path(FOLDER.name)
        slow = "[{kind: slow-gpu, gpu: node0/gpu5, factor: 1.5}]"
        for name, change, chosen in (
                ("jitter", "jobs.0.jitter={coefficientOfVariation: 0.1, per: run}", [3]),
                ("slow", f"events={slow}", [2, 11])):
            results, shown = [], []
            for ranks in ("all", str(chosen)):
                file = folder / f"{name}-{len(results)}.h5"
                done = call("run", "llama-3-8b-16-h100", "--quiet", "-o", file, "--timeline",
                            file.with_suffix(".json"), "--set", change, "--set",
                            "jobs.0.parallel.globalBatch=16", "--set", f"output.ranks={ranks}")
                self.assertEqual(done.returncode, 0, done.stderr)
                results.append(weir.open(file).ops)
                events = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
                shown.append({event["pid"] for event in events["traceEvents"]})
            every, recorded = results
            self.assertEqual(set(every["rank"]), set(range(16)))
            own = every[(every["step"] == every["step"].max()) & (every["stream"] == "compute")]
            times = (own["finish"] - own["start"]).groupby(own["rank"]).sum().sort_values()
            expected = {0, times.index[-1], *chosen}
            if name == "jitter":  # with one slow GPU all others are equal
                expected.add(times.index[(len(times) - 1) // 2])
            self.assertEqual(set(recorded["rank"]), expected)
            self.assertEqual(shown, [set(every["rank"]), expected])


class Slowdowns(unittest.TestCase):
    """No flow is faster than uncontended."""

    def test_none_is_below_one_under_any_routing(self):
        failure = "[{kind: link-down, at: 0ms, from: leaf0, to: spine0}]"
        for routing in ("ecmp", "adaptive", "spray"):
            for events in ("[]", failure):
                file = pathlib.Path(FOLDER.name) / f"{routing}.h5"
                done = call("run", "congestion-512-h100", "--quiet", "-o", file, "--set",
                            "system.nodes=24", "--set", "jobs.0.gpus=96", "--set",
                            "jobs.1.gpus=96", "--set", "system.fabric.oversubscription=2", "--set",
                            f"system.fabric.routing={routing}", "--set", f"events={events}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater(weir.open(file).flows["slowdown"].min(), 1 - 1e-6,
                                   routing + events)


class FigureData(unittest.TestCase):
    """The data of figures equal the contents of the files."""

    def test_percentiles_say_how_many_flows_have_no_rows(self):
        result = weir.open(two_jobs())
        completion = find_figure("fct")
        for left_out, says in ((0, False), (3028940, True)):
            result.table("flows").attrs["rows_left_out"] = left_out
            text = completion.caption(completion.data([result], None))
            self.assertEqual("no rows for 3,028,940 further flows" in text, says)

    def test_breakdown_of_a_rank_sums_to_its_step(self):
        result = weir.open(two_jobs())
        data = data_of("breakdown", result)
        ranks = data[data["level"] == "rank"].groupby(["job", "number"])["seconds"].sum()
        self.assertEqual(len(ranks), 48)
        last = result.steps.astype({"job": str}).groupby("job")["duration"].last()
        for (job, _), seconds in ranks.items():
            self.assertAlmostEqual(seconds / last[job], 1, places=9)

    def test_gantt_joins_but_loses_no_operation(self):
        result = weir.open(pipeline())
        data = data_of("gantt", result)
        drawn = result.ops[result.ops["rank"].isin(data["rank"].unique())]
        self.assertEqual(data["ops"].sum(), len(drawn))
        self.assertEqual(data["start"].min(), drawn["start"].min())
        self.assertEqual(data["finish"].max(), drawn["finish"].max())
        for _, lane in data.groupby(["rank", "stream"]):
            ends = lane["finish"].to_numpy()[:-1]
            self.assertTrue((lane["start"].to_numpy()[1:] > ends).all())

    def test_gantt_takes_ranks_and_a_window(self):
        result = weir.open(pipeline())
        rank = int(result.ops["rank"].max())
        start = result.ops[result.ops["rank"] == rank]["start"].min()
        data = data_of("gantt", result, ranks=[rank], window=(start, start + 0.01))
        self.assertEqual(set(data["rank"]), {rank})
        self.assertTrue((data["start"] < start + 0.01).all())
        with self.assertRaisesRegex(weir.InputError, "--ranks: found 99, expected"):
            data_of("gantt", result, ranks=[99])
        with self.assertRaisesRegex(weir.InputError, "--window: found no operation"):
            data_of("gantt", result, window=(1e6, 2e6))

    def test_link_series_sums_to_the_bytes_of_its_links(self):
        result = weir.open(pipeline())
        data = data_of("link-series", result)
        links = result.links.set_index("name")
        for link, own in data.groupby("link"):
            self.assertAlmostEqual(own["bytes"].sum() / links.loc[link, "bytes"], 1, places=6)
            load = (own["utilization"] * own["duration"]).sum() * links.loc[link, "rate"]
            self.assertAlmostEqual(load / own["bytes"].sum(), 1, places=9)

    def test_queues_say_what_the_links_counted(self):
        result = weir.open(ports())
        data = data_of("queues", result)
        links = result.links.set_index("name")
        for link, own in data.groupby("link"):
            self.assertAlmostEqual(own["paused"].sum(), links.loc[link, "paused"], places=12)
            self.assertEqual(own["max_queued"].max() > 0, links.loc[link, "max_queued"] > 0)
        self.assertEqual(set(links.index[links["paused"] > 0]) - set(data["link"]), set())

    def test_a_window_between_edges_of_bins_has_the_bins_between_them(self):
        for width in (1e-6, 2e-5, 3e-6, 1e-3):
            for edge in range(200):  # 400 * 1e-6 / 2e-5 is just below 20
                start = edge * round(width * 1e6) * 1e-6
                self.assertEqual(bins_within((start, start + 2 * width), width), (edge, edge + 1))
        self.assertEqual(bins_within((1.2, 1.3), 1.0), (1, 1))
        result = weir.open(ports())
        data = data_of("queues", result, window=(0.07 * 1e-3, 0.08 * 1e-3))
        self.assertAlmostEqual(data["start"].min(), 7e-5)

    def test_queues_are_trees_from_where_congestion_begins(self):
        """Three senders share a cable; two more senders join at the switch where it ends."""
        data = data_of("queues", weir.open(ports())).drop_duplicates("link").set_index("link")
        roots = data.index[data["level"] == 0].tolist()
        self.assertEqual(roots, ["switch6->switch7", "switch7->host5"])
        under = {root: sorted(data.index[(data["root"] == root) & (data["level"] == 1)])
                 for root in roots}
        self.assertEqual(under["switch6->switch7"], [f"host{host}->switch6" for host in range(3)])
        self.assertEqual(under["switch7->host5"], [f"host{host}->switch7" for host in (3, 4)])

    def test_queues_take_a_window(self):
        result = weir.open(ports())
        data = data_of("queues", result, window=(1e-5, 2e-5))
        self.assertAlmostEqual(data["start"].min(), 1e-5)
        self.assertLess(data["start"].max(), 2e-5)
        with self.assertRaisesRegex(weir.InputError, "--window: found no queue"):
            data_of("queues", result, window=(1, 2))

    def test_topology_has_every_link_once(self):
        result = weir.open(two_jobs())
        data = data_of("topology", result)
        self.assertEqual(sorted(data["link"]), sorted(result.links["name"]))
        loads = result.links.set_index("name")["utilization"]
        numpy.testing.assert_array_equal(data["utilization"], loads[data["link"]])
        leaf = data[data["link"] == "leaf0->spine0"].iloc[0]
        self.assertEqual((leaf["panel"], leaf["row"], leaf["column"]),
                         ("leaf to spine", "leaf0", "spine0"))

    def test_tiers_are_distances_from_nodes_or_hosts(self):
        """For a fat tree with nodes, and for numbered hosts: 0 to 3 under 4 and 5 under 6."""
        def tiers(*names):
            return network.tiers_of(network.with_ends(pandas.DataFrame({"name": names})))
        self.assertEqual(tiers("node0/nic0->leaf0", "leaf0->spine0#2", "spine0->core0"),
                         {"leaf0": 1, "spine0": 2, "core0": 3})
        self.assertEqual(tiers("0->4", "4->1", "2->5", "5->3", "4->6", "6->5"),
                         {"0": 0, "1": 0, "2": 0, "3": 0, "4": 1, "5": 1, "6": 2})

    def test_congestion_is_of_the_link_at_its_full_rate_for_longest(self):
        result = weir.open(two_jobs())
        data = data_of("congestion", result)
        times, groups = (data[data["part"] == part] for part in ("time", "flows"))
        root = groups["link"].iloc[0]
        links = result.links.set_index("name")
        between = [name for name in links.index if "leaf" in name]
        self.assertEqual(links.loc[root, "saturated"], links.loc[between, "saturated"].max())
        # Both the times and the flows sum to the bytes of the link.
        for carried in (times["bytes"].sum(), groups["carried"].sum()):
            self.assertAlmostEqual(carried / links.loc[root, "bytes"], 1, places=6)

    def test_links_are_shared_by_jobs_to_the_byte_in_the_order_of_paths(self):
        result = weir.open(two_jobs())
        shared = data_of("congestion", result).query("part == 'links'")
        links = result.links.set_index("name")
        for link, own in shared.groupby("link"):
            self.assertAlmostEqual(own["carried"].sum() / links.loc[link, "bytes"], 1, places=6)
        classes = [" ".join(re.sub(r"node\d+/|\d|#", "", name).split("->"))
                   for name in shared.sort_values("rank")["link"].unique()]
        self.assertEqual(list(dict.fromkeys(classes)),
                         ["nic leaf", "leaf spine", "spine leaf", "leaf nic"])

    def test_bars_of_links_reach_their_utilization_where_flows_are_left_out(self):
        result = weir.open(two_jobs())
        data = data_of("congestion", result)
        links = data[data["part"] == "links"].drop_duplicates("link").sort_values("rank")
        for left_out, part in ((0, 0.5), (7, 1)):
            half = data.assign(carried=data["carried"] / 2)
            half.attrs = {**data.attrs, "left_out": left_out}
            axes = find_figure("congestion").draw(half, Choice()).axes[0]
            ends = {}
            for bar in axes.patches:
                y = round(bar.get_y() + bar.get_height() / 2)
                ends[y] = max(ends.get(y, 0), bar.get_x() + bar.get_width())
            for row, utilization in enumerate(links["utilization"]):
                self.assertAlmostEqual(ends[row], utilization * part, places=5)

    def test_sets_of_links_are_no_paths(self):
        """A collective in fidelity stream loads all its links concurrently, which gives no tree."""
        result = weir.open(two_jobs())
        self.assertEqual(set(data_of("congestion", result)["part"]), {"links", "time", "flows"})
        self.assertIsNone(congestion.hops_of(["a->b", "b->a", "b->c", "c->b"]))
        self.assertIsNone(congestion.hops_of(["a->b", "b->a", "a->b"]))
        self.assertEqual(congestion.hops_of(["a->b", "b->c#2", "c->d"]), ["a->b", "b->c#2", "c->d"])

    def test_upstream_is_along_the_hops_of_flows(self):
        """Hosts 0 to 2 reach host 5 over the cable between the switches, hosts 3 and 4 do not."""
        result = weir.open(ports())
        tree = congestion.upstream(result, "switch7->host5", 3)
        self.assertEqual(
            [(row.level, row.parent, row.link, row.carried) for row in tree.itertuples()],
            [(0, "", "switch7->host5", 5e6), (1, "switch7->host5", "switch6->switch7", 3e6),
             (1, "switch7->host5", "host3->switch7", 1e6),
             (1, "switch7->host5", "host4->switch7", 1e6),
             *((2, "switch6->switch7", f"host{host}->switch6", 1e6) for host in range(3))])

    def test_congestion_tells_jobs_apart_by_their_gpus(self):
        """Leaf 1 has a node of each job, so its uplinks carry both; leaf 0 has one job only."""
        result = weir.open(two_jobs())
        both = set(congestion.flows_of(result, "spine0->leaf1")["job"]) | set(
            congestion.flows_of(result, "spine0->leaf1#2")["job"])
        self.assertEqual(both, {"llama", "other"})
        up = [name for name in result.links["name"] if name.startswith("leaf0->spine")]
        self.assertEqual({job for name in up for job in congestion.flows_of(result, name)["job"]},
                         {"llama"})

    def test_load_by_job_is_the_integral_of_the_rates(self):
        """8 B from 0 to 4 s (2 B/s) and 6 B from 1 to 3 s (3 B/s): 2, 5, 5, 2 B in bins of 1 s."""
        flows_ = pandas.DataFrame({"job": "a", "start": [0.0, 1.0], "finish": [4.0, 3.0],
                                   "carried": [8.0, 6.0]})
        loads = congestion.load_by_job(flows_, 4)
        numpy.testing.assert_allclose(loads["bytes"], [2, 5, 5, 2])
        unequal = congestion.load_by_job(flows_, [0.0, 3.0, 4.0])
        numpy.testing.assert_allclose(unequal["bytes"], [2 + 5 + 5, 2])
        numpy.testing.assert_allclose(unequal["duration"], [3, 1])

    def test_only_the_window_counts(self):
        """In 3 s, 6 of 8 B that take 4 s pass, all of 6 B that end, none of a flow that starts."""
        flows_ = pandas.DataFrame({"start": [0.0, 1.0, 3.0], "finish": [4.0, 3.0, 5.0],
                                   "bytes": [8.0, 6.0, 1.0]})

        class Result:
            """A result whose links cover 3 s."""

            @staticmethod
            def table(_):
                links = pandas.DataFrame()
                links.attrs["window_end_s"] = 3.0
                return links

        within = congestion.within_window(Result, flows_)
        self.assertEqual(within["bytes"].tolist(), [6, 6])
        self.assertEqual(within["finish"].tolist(), [3, 3])

    def test_loads_of_flows_and_the_link_series_have_the_same_bins(self):
        """With other bins, a burst between two bins would be in one bin of the one, not the other."""
        data = data_of("congestion", weir.open(pipeline()))
        series = data[data["part"] == "series"]
        self.assertGreater(len(series), 10)
        for _, own in data[data["part"] == "time"].groupby("job"):
            self.assertLessEqual(len(own) - len(series), 1)  # one for flows that end later
            numpy.testing.assert_allclose(own["start"].to_numpy()[:len(series)], series["start"])

    def test_percentiles_are_numpys(self):
        table = pandas.read_csv(flows())
        data = data_of("fct", weir.open(flows()))
        self.assertEqual(list(data["from_bytes"]), [1000000, 4000000])
        self.assertEqual(list(data["flows"]), [4, 4])
        for _, row in data.iterrows():
            own = table[table["bytes"] == row["from_bytes"]]
            for p in (50, 95, 99):
                self.assertEqual(row[f"fct_p{p}"], numpy.percentile(own["fct_s"], p))
                self.assertEqual(row[f"slowdown_p{p}"], numpy.percentile(own["slowdown"], p))

    def test_percentiles_of_many_sizes_count_every_flow(self):
        result = weir.open(two_jobs())
        data = data_of("fct", result)
        self.assertEqual(data["flows"].sum(), len(result.flows))
        for job, own in data.groupby("job"):
            self.assertEqual(own["flows"].sum(), (result.flows["job"].astype(str) == job).sum())
            self.assertTrue((own["to_bytes"].to_numpy()[:-1] <
                             own["from_bytes"].to_numpy()[1:]).all())

    def test_groups_of_a_large_fabric_are_what_lower_tiers_join(self):
        """Two nodes per leaf, two leaves per spine and two spines under a core."""
        hops = pandas.DataFrame(
            [(f"node{node}", f"leaf{node // 2}", 0, 1) for node in range(8)] +
            [(f"leaf{leaf}", f"spine{leaf // 2}", 1, 2) for leaf in range(4)] +
            [("spine0", "core0", 2, 3), ("spine1", "core0", 2, 3)],
            columns=["a", "b", "low", "high"])
        boxes, _ = topology.boxes_of(hops, {
            0: [f"node{node}" for node in range(8)], 1: [f"leaf{leaf}" for leaf in range(4)],
            2: ["spine0", "spine1"], 3: ["core0"]})
        own = {band: [devices for (at, _), (_, _, devices) in boxes.items() if at == band]
               for band in range(4)}
        self.assertEqual(own[0], [[f"node{leaf * 2}", f"node{leaf * 2 + 1}"] for leaf in range(4)])
        self.assertEqual(own[1], [[f"leaf{leaf}"] for leaf in range(4)])
        self.assertEqual(own[2], [["spine0"], ["spine1"]])
        self.assertEqual(own[3], [["core0"]])

    def test_bandwidth_bounds_follow_from_those_of_the_time(self):
        """Bus bandwidth is inversely proportional to time."""
        with tempfile.TemporaryDirectory() as folder:
            table = pandas.read_csv(sweep("ring"))
            table["lower_us"], table["upper_us"] = table["time_us"] / 2, table["time_us"] * 4
            table.to_csv(folder + "/bounds.csv", index=False)
            data = data_of("bandwidth", weir.open(folder + "/bounds.csv"), measured=sweep("tree"))
        simulated = data[data["kind"] == "simulated"]
        numpy.testing.assert_allclose(simulated["busbw_upper_GBps"], 2 * simulated["busbw_GBps"])
        numpy.testing.assert_allclose(simulated["busbw_lower_GBps"], simulated["busbw_GBps"] / 4)
        self.assertEqual(list(data[data["kind"] == "measured"]["busbw_GBps"]),
                         list(pandas.read_csv(sweep("tree"))["busbw_GBps"]))

    def test_memory_parts_sum_to_the_total(self):
        result = weir.open(run_json())
        data = data_of("memory", result)
        self.assertEqual(data["bytes"].sum(), result.memory["total"].sum())

    def test_a_result_against_itself_does_not_differ(self):
        result = weir.open(two_jobs())
        frame = weir.compare(result, result)
        self.assertTrue((frame["difference"] == 0).all())
        self.assertTrue((frame["ratio"].dropna() == 1).all())
        self.assertEqual(frame.loc[("steps", "llama: last step"), "a"],
                         result.steps["duration"].iloc[0])

    def test_comparison_is_of_what_both_have(self):
        def bandwidth(path):
            with open(path, encoding="utf-8", newline="") as file:
                return next(float(row["busbw_GBps"]) for row in csv.DictReader(file)
                            if row["size_bytes"] == str(1 << 20))

        frame = weir.compare(weir.open(sweep("ring")), weir.open(sweep("tree")))
        row = frame.loc[("bandwidth", "all-reduce 1 MiB")]
        ring, tree = bandwidth(sweep("ring")), bandwidth(sweep("tree"))
        self.assertNotEqual(ring, tree)
        self.assertEqual((row["a"], row["b"]), (ring, tree))
        self.assertEqual((row["difference"], row["ratio"]), (tree - ring, tree / ring))
        with self.assertRaisesRegex(weir.Missing, "share no quantity"):
            data_of("comparison", weir.open(sweep("ring")), weir.open(flows()))

    def test_missing_data_comes_with_its_remedy(self):
        with self.assertRaisesRegex(weir.Missing, r"output: \{linkSeries: 100us\}"):
            data_of("link-series", weir.open(two_jobs()))
        with self.assertRaisesRegex(weir.Missing, r"output: \{portSeries: 10us\}"):
            data_of("queues", weir.open(two_jobs()))
        for name in ("breakdown", "gantt", "topology", "congestion", "memory", "link-series",
                     "queues"):
            with self.assertRaises(weir.Missing):
                data_of(name, weir.open(sweep("ring")))

    def test_ranks_of_jobs_are_named_below_their_middle(self):
        """Of 80 characters over 32 ranks, 24 of one job and 8 of another, 60 and 20 are theirs."""
        labels = [f"one {rank}" for rank in range(24)] + [f"{'b' * 30} {rank}" for rank in range(8)]
        self.assertEqual(ticks_of_jobs(labels), (
            [*range(0, 24, 2), *range(24, 32, 2)],
            ["0", "2", "4", "6", "8", "10", "12\none", "14", "16", "18", "20", "22",
             "0", "2", f"4\n{'b' * 19}…", "6"]))

    def test_labels_of_sizes_have_a_part_of_the_axis_each(self):
        """A fourth of an axis from 1 to 16 MiB is an octave, more than is between 12 and 16 MiB."""
        axes, = new_figure(2).subplots(1, 1, squeeze=False).flat
        sizes = [2**20, 4 * 2**20, 12 * 2**20, 16 * 2**20]
        axes.semilogx(sizes, sizes, base=2)
        axes.set_xlim(sizes[0], sizes[-1])
        size_axis(axes.xaxis, sizes, 4)
        self.assertEqual(list(axes.get_xticks()), sizes[:3])

    def test_plot_gives_a_figure_to_work_on(self):
        figure = weir.plot("breakdown", weir.open(two_jobs()))
        self.assertEqual([axes.get_xlabel() for axes in figure.axes],
                         ["time of the step by stage, s", "rank"])
        # It keeps the style and takes the title of `weir report --figure`.
        self.assertEqual(figure.axes[0].get_xticklabels()[0].get_size(), 7)
        self.assertFalse(figure.axes[0].spines["top"].get_visible())
        titled = weir.plot("breakdown", weir.open(two_jobs()), title="a step")
        self.assertIn("a step", [text.get_text() for text in titled.texts])

    def test_lines_and_bars_of_a_sweep_are_its_results(self):
        """Several sizes give one line per case; a single size gives bars."""
        result = weir.open(cases())
        self.assertEqual(result.cases.attrs["varied"], "nodes,algorithm")
        self.assertEqual(len(result.results), 8)
        axes, = weir.plot("sweep", result).axes
        drawn = sorted(tuple(line.get_ydata()) for line in axes.lines)
        expected = sorted(tuple(own["busbw_GBps"])
                          for _, own in result.results.groupby("case"))
        self.assertEqual(drawn, expected)
        one = result.results[result.results["size_bytes"] == 2**20].drop(columns="size_bytes")
        data = one.assign(measure="bus bandwidth, GB/s", value=one["busbw_GBps"])
        data.attrs = {"varied": ["nodes", "algorithm"]}
        axes, = find_figure("sweep").draw(data, Choice()).axes
        self.assertEqual(sorted(bar.get_height() for bar in axes.patches),
                         sorted(one["busbw_GBps"]))
        self.assertEqual([label.get_text() for label in axes.get_xticklabels()], ["ring", "tree"])

    def test_results_of_a_sweep_have_the_units_of_the_runs(self):
        """Times are in s and memory in bytes; the stage with the most memory is a number."""
        results = weir.open(micro_batches()).results
        units = results.attrs["units"]
        self.assertEqual([units[name] for name in (
            "step_time_s", "breakdown_s_compute", "tokens_per_s", "gpu_memory_bytes_total",
            "gpu_memory_bytes_stage", "gpus")], ["s", "s", "s-1", "B", "1", "1"])
        self.assertEqual(list(results["microBatch"]), [1, 2])
        self.assertTrue((results["step_time_s"] > results["breakdown_s_compute"]).all())


class Validation(unittest.TestCase):
    """Figures of a validation equal its tables."""

    def test_pairs_are_measured_and_predicted(self):
        """Labels and units are those of the suite: times in s, slowdowns dimensionless."""
        result = weir.open(validation())
        self.assertEqual(result.kind, "validation")
        data = data_of("parity", result)
        for suite, unit, words in (
                ("korthikanti-2022", "s", ["measured time", "predicted time"]),
                ("nccl-v100-2019", "s", ["measured time", "predicted time"]),
                ("m3-2024", "1", ["measured slowdown", "predicted slowdown"])):
            own, table = data[data["suite"] == suite], result.table(f"validation/{suite}")
            self.assertEqual(set(own["unit"]), {unit})
            self.assertEqual(data.attrs["words"][suite], words)
            for column in ("case", "measured", "predicted"):
                self.assertEqual(list(own[column]), list(table[column]))
        panels = weir.plot("parity", result).axes
        self.assertEqual([axes.get_title("left") for axes in panels],
                         list(data["suite"].unique()))
        for axes, (_, own) in zip(panels, data.groupby("suite", sort=False)):
            points = axes.lines[-1]
            numpy.testing.assert_array_equal(points.get_xdata(), own["measured"])
            numpy.testing.assert_array_equal(points.get_ydata(), own["predicted"])
            equal, above, below = axes.lines[:3]
            numpy.testing.assert_allclose(equal.get_ydata(), equal.get_xdata())
            numpy.testing.assert_allclose(above.get_ydata(), 1.1 * equal.get_xdata())
            numpy.testing.assert_allclose(below.get_ydata(), 0.9 * equal.get_xdata())

    def test_distributions_rise_in_steps(self):
        """The distribution steps at the error of each case and reaches 1 at the largest error."""
        result = weir.open(validation())
        data = data_of("errors", result)
        for (suite, own), axes in zip(data.groupby("suite", sort=False),
                                      weir.plot("errors", result).axes):
            errors = result.table(f"validation/{suite}")["error"].abs().sort_values()
            numpy.testing.assert_allclose(own["error"], errors, rtol=1e-9, atol=1e-12)
            numpy.testing.assert_allclose(own["share"], numpy.arange(1, len(own) + 1) / len(own))
            line, = axes.lines
            self.assertEqual(line.get_drawstyle(), "steps-post")
            numpy.testing.assert_allclose(line.get_xdata(), [0, *own["error"] * 100])
            numpy.testing.assert_allclose(line.get_ydata(), [0, *own["share"] * 100])

    def test_bus_bandwidths_of_a_run_follow_from_its_times(self):
        """For an all-reduce over eight GPUs: 2 x 7/8 = 7/4 of the size over the time."""
        result = weir.open(validation())
        table = result.table("validation/nccl-v100-2019")
        data = data_of("measured-bandwidth", result)
        self.assertEqual(len(data), len(table))
        for column in ("measured", "predicted"):
            numpy.testing.assert_allclose(data[f"{column}_busbw_GBps"],
                                          7 / 4 * table["size_bytes"] / table[column] * 1e-9,
                                          rtol=1e-6)
        axes, = weir.plot("measured-bandwidth", result).axes
        self.assertEqual(axes.get_title("left"), "v100-hybridcube-n1x8-allreduce")
        for line, column in zip(axes.lines, ("predicted", "measured")):
            numpy.testing.assert_array_equal(line.get_xdata(), table["size_bytes"])
            numpy.testing.assert_array_equal(line.get_ydata(), table[f"{column}_busbw_GBps"])

    def test_groups_repeat_no_case(self):
        """The table of a group repeats the cases of other suites."""
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(validation(), folder)
            with h5py.File(path, "r+") as file:
                file["validation"].copy("korthikanti-2022", "steps")
                file["validation/steps"].attrs["kind"] = "group"
            self.assertEqual(set(data_of("parity", weir.open(path))["suite"]),
                             {"korthikanti-2022", "m3-2024", "nccl-v100-2019"})

    def test_reliability_counts_what_bounds_hold(self):
        """Of errors 0, 1, ... 9 %, 8 are below 8 %, 9 below 9 %, and 10 below 9.5 % and 9.9 %."""
        data = data_of("bounds", weir.open(bounds()))
        own = data[data["part"] == "reliability"]
        self.assertEqual(list(own["of"].unique()), ["collectives"])
        self.assertEqual(list(own["coverage"]), [0.8, 0.9, 0.95, 0.99])
        numpy.testing.assert_allclose(own["observed"], [0.8, 0.9, 1, 1])

    def test_widths_and_errors_are_of_the_coverage_that_is_checked(self):
        """At 90 % coverage: ten bounds of 9 %, and the errors of their regime by size."""
        result = weir.open(bounds())
        data = data_of("bounds", result)
        widths = data[data["part"] == "widths"]
        numpy.testing.assert_allclose(widths["width"], [0.09] * 10, rtol=1e-4)
        self.assertEqual(widths["share"].iloc[-1], 1)
        errors = data[data["part"] == "errors"]
        self.assertEqual(set(errors["regime"]), {"stream/ring"})
        numpy.testing.assert_array_equal(errors["bytes"], 8 * 2.0**numpy.arange(10))
        numpy.testing.assert_allclose(errors["error"], 0.01 * numpy.arange(10), atol=1e-12)
        panels = weir.plot("bounds", result).axes
        self.assertEqual([axes.get_title("left") for axes in panels],
                         ["reliability", "width of the 90% bound", "stream/ring"])
        numpy.testing.assert_allclose(panels[0].lines[1].get_ydata(), [80, 90, 100, 100])
        band = panels[2].patches[0].get_extents().transformed(panels[2].transData.inverted())
        numpy.testing.assert_allclose([band.y0, band.y1], [0, 9], atol=1e-3)

    def test_only_wide_regimes_of_stream_with_enough_cases_have_a_panel(self):
        table = weir.open(bounds()).table("validation/bound/bounds")
        for regime, cases, is_drawn in (("stream/ring", 10, True), ("stream/ring", 4, False),
                                        ("analytical/ring", 10, False)):
            rows = table[table["coverage"] == 0.9].head(cases).assign(regime=regime)
            drawn = errors_by_size(rows, 0.9, 6, 5)
            self.assertEqual(list(drawn["regime"].unique()), [regime] * is_drawn)

    def test_figures_of_runs_are_not_drawn(self):
        for name in ("bandwidth", "gantt", "sweep", "comparison"):
            with self.assertRaises(weir.Missing):
                data_of(name, weir.open(validation()))
        for name in ("parity", "errors", "measured-bandwidth", "bounds"):
            with self.assertRaisesRegex(weir.Missing, "weir validate .*-o RESULT.h5"):
                data_of(name, weir.open(two_jobs()))


if __name__ == "__main__":
    unittest.main()
