# SPDX-License-Identifier: GPL-2.0-only
"""Flows of scripts/make-flows compared with closed forms and published values."""
import collections
import math
import pathlib
import tempfile
import unittest

from script_module import call, load

make_flows = load("make-flows")


def distribution(name):
    return make_flows.SizeDistribution(make_flows.DISTRIBUTIONS[name])


def flows(*arguments):
    """Rows (source, destination, bytes, start) that the script writes in HPCC's format."""
    done = call("make-flows", *arguments)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    rows = [line.split() for line in lines[1:]]
    assert int(lines[0]) == len(rows)
    return [(int(r[0]), int(r[1]), int(r[4]), float(r[5])) for r in rows]


class Distributions(unittest.TestCase):
    """The built-in size distributions."""

    def test_deciles_are_the_ticks_of_the_figures_of_hpcc(self):
        ticks = {"websearch": [6.7e3, 20e3, 30e3, 50e3, 73e3, 200e3, 1e6, 2e6, 5e6, 30e6],
                 "fb-hadoop": [324, 400, 500, 600, 700, 1e3, 7e3, 46e3, 120e3, 10e6]}
        for name, expected in ticks.items():
            sizes = distribution(name)
            for tenth, tick in enumerate(expected, 1):
                # Tick labels have two or three digits.
                self.assertAlmostEqual(sizes.draw(tenth / 10 - 1e-12) / tick, 1, delta=0.006)

    # Midpoint times probability of each segment: 5 kB x 0.15 + 15 kB x 0.05 + 25 kB x 0.1 + ...
    def test_websearch_has_its_mean_by_hand_and_about_the_published_one(self):
        by_hand = (750 + 750 + 2500 + 4000 + 8450 + 9800 + 60e3 + 150e3 + 350e3 + 525e3 + 600e3)
        self.assertAlmostEqual(distribution("websearch").mean(), by_hand, delta=1e-6)
        self.assertAlmostEqual(by_hand, 1.65e6, delta=0.07e6)

    def test_websearch_has_95_per_cent_of_its_bytes_in_the_30_per_cent_of_flows_above_1_mb(self):
        sizes = distribution("websearch")
        count = 50000
        drawn = [sizes.draw((i + 0.5) / count) for i in range(count)]
        large = [size for size in drawn if size > 1e6]
        self.assertAlmostEqual(len(large) / count, 0.30, delta=1e-4)
        self.assertAlmostEqual(sum(large) / sum(drawn), 0.95, delta=0.005)

    # One draw at the midpoint of each of many equal intervals: exact for linear segments, except
    # for the intervals that contain a point of the table and for the rounding to bytes.
    def test_draws_have_the_mean(self):
        count = 50000
        for name in make_flows.DISTRIBUTIONS:
            sizes = distribution(name)
            mean = sum(sizes.draw((i + 0.5) / count) for i in range(count)) / count
            self.assertAlmostEqual(mean / sizes.mean(), 1, delta=1e-4)

    def test_a_jump_at_zero_is_drawn_and_counted(self):
        sizes = make_flows.SizeDistribution([(1000, 50), (3000, 100)])
        self.assertEqual(sizes.mean(), 500 + 0.5 * 2000)
        self.assertEqual(sizes.draw(0.2), 1000)
        self.assertEqual(sizes.draw(0.75), 2000)


class Arrivals(unittest.TestCase):
    """Load, sizes, times and pairs of the drawn flows."""

    # n flows of S bytes within T are a load of n S / (T hosts rate). T is the sum of n exponentials
    # with a relative standard deviation of 1/sqrt(n) = 1 %; the tolerance is five of them.
    def test_hosts_send_the_load_on_average(self):
        with tempfile.TemporaryDirectory() as folder:
            one_size = pathlib.Path(folder) / "one-size.txt"
            one_size.write_text("1000000 0\n1000000 100\n", encoding="ascii")
            for share in (0.3, 0.6, 1.2):
                rows = flows("--flows", 10000, "--hosts", 16, "--rate", "25Gbps", "--load", share,
                             "--sizes", one_size)
                self.assertEqual({row[2] for row in rows}, {1000000})
                offered = sum(row[2] for row in rows) / rows[-1][3] / (16 * 25e9 / 8)
                self.assertAlmostEqual(offered / share, 1, delta=5 / math.sqrt(10000))

    # The standard error of the mean is the deviation of the sizes over sqrt(n); five of them.
    def test_sizes_have_the_mean_of_their_distribution(self):
        rows = flows("--flows", 10000, "--hosts", 64)
        sizes = [row[2] for row in rows]
        mean = sum(sizes) / len(sizes)
        deviation = math.sqrt(sum((s - mean) ** 2 for s in sizes) / len(sizes))
        self.assertAlmostEqual(mean, distribution("websearch").mean(),
                               delta=5 * deviation / math.sqrt(len(sizes)))

    # Gaps of a Poisson process have equal mean and standard deviation, within 5/sqrt(n).
    def test_arrivals_are_poisson_and_in_order(self):
        rows = flows("--flows", 10000, "--hosts", 64, "--start", 2)
        starts = [row[3] for row in rows]
        self.assertEqual(starts, sorted(starts))
        self.assertGreater(starts[0], 2)
        waits = [b - a for a, b in zip(starts, starts[1:])]
        mean = sum(waits) / len(waits)
        deviation = math.sqrt(sum((w - mean) ** 2 for w in waits) / len(waits))
        self.assertAlmostEqual(deviation / mean, 1, delta=5 / math.sqrt(len(waits)))

    # Each of 8 x 7 pairs has 1/56 of 28000 flows: 500 +- five binomial standard deviations.
    def test_all_pairs_are_equally_likely_and_none_is_of_one_host(self):
        pairs = collections.Counter((row[0], row[1]) for row in flows("--flows", 28000,
                                                                      "--hosts", 8))
        self.assertEqual(set(pairs), {(a, b) for a in range(8) for b in range(8) if a != b})
        for count in pairs.values():
            self.assertAlmostEqual(count, 500, delta=5 * math.sqrt(500))

    def test_a_seed_gives_one_file(self):
        one = call("make-flows", "--flows", 100, "--hosts", 8, "--seed", 7).stdout
        self.assertEqual(call("make-flows", "--flows", 100, "--hosts", 8, "--seed", 7).stdout, one)
        self.assertNotEqual(call("make-flows", "--flows", 100, "--hosts", 8).stdout, one)

    def test_csv_has_the_same_flows(self):
        lines = call("make-flows", "--flows", 50, "--hosts", 8, "--format", "csv").stdout.split()
        self.assertEqual(lines[0], "src,dst,bytes,start_s")
        self.assertEqual([tuple(float(field) for field in line.split(",")) for line in lines[1:]],
                         flows("--flows", 50, "--hosts", 8))


class Refusals(unittest.TestCase):
    """Invalid input is refused with one line and exit code 2."""

    def refusal(self, *arguments):
        done = call("make-flows", *arguments)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        return done.stderr.splitlines()[-1]

    def of_sizes(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "sizes.txt"
            file.write_text(text, encoding="ascii")
            return self.refusal("--flows", 1, "--hosts", 2, "--sizes", file).replace(
                str(file), "FILE")

    def test_wrong_arguments(self):
        self.assertIn("found '1', expected a number from 2 on",
                      self.refusal("--flows", 1, "--hosts", 1))
        self.assertIn("found '-1'", self.refusal("--flows=-1", "--hosts", 2))
        self.assertIn("found 0, expected more than zero",
                      self.refusal("--flows", 1, "--hosts", 2, "--load", 0))
        self.assertIn("found '5parsec', expected a rate such as 100Gbps",
                      self.refusal("--flows", 1, "--hosts", 2, "--rate", "5parsec"))

    def test_wrong_size_files(self):
        self.assertIn("FILE: found 50.0 per cent in the last row, expected 100",
                      self.of_sizes("0 0\n10 50\n"))
        self.assertIn("FILE:2: found '5 100', expected no less than the row before",
                      self.of_sizes("10 50\n5 100\n"))
        self.assertIn("FILE:1: found 'ten 100', expected: bytes percent",
                      self.of_sizes("ten 100\n"))
        self.assertIn("found a mean of zero bytes", self.of_sizes("0 100\n"))
        self.assertIn("cannot read", self.refusal("--flows", 1, "--hosts", 2, "--sizes", "/no"))


if __name__ == "__main__":
    unittest.main()
