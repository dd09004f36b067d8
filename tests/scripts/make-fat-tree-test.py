# SPDX-License-Identifier: GPL-2.0-only
"""Output of scripts/make-fat-tree compared with Al-Fares et al. (2008), section 3."""
import collections
import unittest

from script_module import call


class FatTree:
    """A topology written by the script and read back."""

    def __init__(self, *arguments):
        done = call("make-fat-tree", *arguments)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        self.nodes, self.switches, self.links = map(int, lines[0].split())
        self.switch_ids = list(map(int, lines[1].split()))
        self.rows = [line.split() for line in lines[2:]]
        self.neighbors = collections.defaultdict(list)
        for row in self.rows:
            self.neighbors[int(row[0])].append(int(row[1]))
            self.neighbors[int(row[1])].append(int(row[0]))

    def shortest_paths(self, source):
        """Length in links and number of the shortest paths to every node."""
        found = {source: (0, 1)}
        edge = [source]
        while edge:
            nexts = {}
            for node in edge:
                for peer in self.neighbors[node]:
                    if peer not in found:
                        nexts[peer] = nexts.get(peer, 0) + found[node][1]
            found.update({peer: (found[edge[0]][0] + 1, paths) for peer, paths in nexts.items()})
            edge = list(nexts)
        return found


class Wiring(unittest.TestCase):
    """Every level of a k-ary fat tree."""

    def test_counts_and_ports(self):
        for k in (2, 4, 6, 8):
            tree = FatTree("--k", k)
            self.assertEqual(tree.switches, 5 * k * k // 4)
            self.assertEqual(tree.nodes - tree.switches, k ** 3 // 4)
            self.assertEqual(tree.links, 3 * k ** 3 // 4)
            self.assertEqual(len(tree.rows), tree.links)
            self.assertEqual(tree.switch_ids, list(range(k ** 3 // 4, tree.nodes)))
            for node in range(tree.nodes):
                ports = k if node in tree.switch_ids else 1
                self.assertEqual(len(set(tree.neighbors[node])), ports)

    # From host 0 for k = 4: host 1 over the edge switch, hosts 2 and 3 over the two aggregation
    # switches of the pod, and the 12 hosts of other pods over the four core switches.
    def test_ways_between_hosts(self):
        paths = FatTree("--k", 4).shortest_paths(0)
        self.assertEqual(paths[1], (2, 1))
        self.assertEqual([paths[2], paths[3]], [(4, 2)] * 2)
        self.assertEqual([paths[host] for host in range(4, 16)], [(6, 4)] * 12)

    def test_rates(self):
        tree = FatTree("--k", 4, "--rate", "100Gbps", "--uplink-rate", "50Gbps", "--delay", "1us")
        for row in tree.rows:
            self.assertEqual(row[2:], ["100Gbps" if int(row[0]) < 16 else "50Gbps", "1us", "0"])
        self.assertEqual({row[2] for row in FatTree("--k", 4).rows}, {"100Gbps"})

    def test_an_odd_arity_is_refused(self):
        for k in ("3", "0", "x"):
            done = call("make-fat-tree", "--k", k)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--k", done.stderr)

    def test_what_is_no_rate_or_delay_is_refused(self):
        for option, value in (("--rate", "foo"), ("--rate", "100GHz"), ("--uplink-rate", "100"),
                              ("--delay", "-1ms"), ("--delay", "1Gbps")):
            done = call("make-fat-tree", "--k", "2", f"{option}={value}")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{option}: found '{value}'", done.stderr)


if __name__ == "__main__":
    unittest.main()
