// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "path-oracle.h"

#include "plain-routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <map>
#include <vector>

/**
 * @file
 * How ECMP distributes flows: evenly, independently from switch to switch, and determined by the
 * seed.
 */
namespace weir
{

namespace
{

/** Pearson's chi-square statistic of counts against equal shares. */
double
ChiSquare(const std::vector<uint32_t>& counts)
{
    double total = 0;
    for (const uint32_t count : counts)
    {
        total += count;
    }
    const double expected = total / static_cast<double>(counts.size());
    double sum = 0;
    for (const uint32_t count : counts)
    {
        sum += (count - expected) * (count - expected) / expected;
    }
    return sum;
}

/**
 * Value that Pearson's statistic of @p cells equally likely cells exceeds with probability 1 / 3e6.
 */
double
ChiSquareBound(std::size_t cells)
{
    const boost::math::chi_squared statistic(static_cast<double>(cells - 1));
    return boost::math::quantile(boost::math::complement(statistic, 1 / 3e6));
}

} // namespace

TEST(EcmpSpread, FlowsSpreadEvenlyOverUplinksHoweverTheirTuplesDiffer)
{
    // One leaf with 32 uplinks to 16 spines. The uplinks chosen by 10,000 flows whose tuples follow
    // one pattern must pass the chi-square test of uniformity, for each of six patterns.
    const Cluster cluster(BoxSpec(128, LeafSpine()));
    const Topology& topology = cluster.GetTopology();
    const DeviceId from = cluster.NicDevice(0, 0);
    const DeviceId to = cluster.NicDevice(127, 0);
    const std::vector<FlowTuple (*)(uint32_t)> families = {
        [](uint32_t i) {
            return FlowTuple{1, 2, static_cast<uint16_t>(i), 0};
        },
        [](uint32_t i) {
            return FlowTuple{1, 2, 0, static_cast<uint16_t>(i)};
        },
        [](uint32_t i) {
            return FlowTuple{i, 2, 0, 0};
        },
        [](uint32_t i) {
            return FlowTuple{1, 8 * i, 0, 0};
        },
        [](uint32_t i) {
            return FlowTuple{i, i, 0, 0};
        },
        [](uint32_t i) {
            return FlowTuple{i, 10000 - i, static_cast<uint16_t>(i), 0};
        }};
    for (std::size_t family = 0; family < families.size(); family++)
    {
        PlainRouter plain(topology, EcmpRouting(), 1);
        Router& router = plain;
        std::vector<uint32_t> up(topology.LinkCount(), 0);
        for (uint32_t i = 0; i < 10000; i++)
        {
            up[router.RouteOver(from, to, families[family](i), NETWORK)[1].Index()]++;
        }
        up.erase(std::remove(up.begin(), up.end(), 0u), up.end());
        ASSERT_EQ(up.size(), 32u) << "family " << family;
        EXPECT_LT(ChiSquare(up), ChiSquareBound(32)) << "family " << family;
    }
}

/**
 * Expected load of the fullest bin over the mean load, for @p balls thrown at random into @p bins:
 * the sum over k of P(max >= k), where P(max < k) = balls! / bins^balls times the coefficient of
 * x^balls in (sum over j < k of x^j / j!)^bins.
 */
double
FullestOverMean(unsigned balls, unsigned bins)
{
    double mean = 0;
    for (unsigned k = 1; k <= balls; k++)
    {
        std::vector<double> below(balls + 1, 0); // probabilities, by balls placed so far
        below[0] = 1;
        for (unsigned bin = bins; bin > 0; bin--)
        {
            // Of the remaining balls, a binomial number falls into this bin, one of `bin` remaining
            // bins.
            std::vector<double> next(balls + 1, 0);
            for (unsigned placed = 0; placed <= balls; placed++)
            {
                const unsigned left = balls - placed;
                const double p = 1.0 / bin;
                for (unsigned j = 0; j < k && j <= left && below[placed] > 1e-15; j++)
                {
                    const double logs = std::lgamma(left + 1.0) - std::lgamma(j + 1.0) -
                                        std::lgamma(left - j + 1.0) + j * std::log(p);
                    const double rest = left == j  ? 1
                                        : bin == 1 ? 0
                                                   : std::exp((left - j) * std::log1p(-p));
                    next[placed + j] += below[placed] * std::exp(logs) * rest;
                }
            }
            below = std::move(next);
        }
        if (below[balls] > 1 - 1e-9)
        {
            break;
        }
        mean += 1 - below[balls];
    }
    return mean * bins / balls;
}

/**
 * The load of the fullest of equal uplinks under hashing equals that of uniform random choice: the
 * simulation agrees with the closed form, and the closed form with published values.
 */
TEST(EcmpSpread, FullestUplinkIsThatOfRandomDraws)
{
    struct Case
    {
        unsigned flows;
        unsigned links;
        unsigned draws;
        double published; //!< from 4000 draws
    };

    const Cluster cluster(BoxSpec(128, LeafSpine()));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    std::map<uint32_t, unsigned> numbers; // index of each of the 32 uplinks
    uint32_t next = 0;
    for (const Case& each : {Case{1000, 16, 300, 1.229},
                             Case{128, 16, 1000, 1.67},
                             Case{64, 16, 2000, 1.97},
                             Case{16, 16, 6000, 3.08},
                             Case{8, 4, 6000, 1.78}})
    {
        double sum = 0;
        for (unsigned draw = 0; draw < each.draws; draw++)
        {
            std::vector<unsigned> counts(each.links, 0);
            for (unsigned flow = 0; flow < each.flows; flow++)
            {
                const auto path = router.RouteOver(
                    cluster.NicDevice(0, 0), cluster.NicDevice(127, 0), TupleOf(next++), NETWORK);
                const auto known =
                    numbers.emplace(path[1].Index(), static_cast<unsigned>(numbers.size()));
                counts[known.first->second % each.links]++;
            }
            sum += *std::max_element(counts.begin(), counts.end());
        }
        const double found = sum / each.draws * each.links / each.flows;
        const double expected = FullestOverMean(each.flows, each.links);
        EXPECT_NEAR(expected, each.published, 0.01 * each.published);
        EXPECT_NEAR(found, expected, 0.01 * expected) << each.flows << " over " << each.links;
    }
}

TEST(EcmpSpread, SwitchesChooseIndependently)
{
    // In a fat tree of k = 8 a flow between pods chooses among 4 spines and then among 4 cores. All
    // 16 combinations are equally likely; with the same hash at both levels only 4 would occur.
    const Cluster cluster(PointSpec(128, FatTree(), 8, 3));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    std::vector<uint32_t> cores(topology.DeviceCount(), 0);
    for (uint32_t i = 0; i < 10000; i++)
    {
        const auto route = router.RouteOver(
            cluster.NicDevice(0, 0), cluster.NicDevice(127, 0), TupleOf(i), NETWORK);
        cores[topology.GetLink(route[2]).to.Index()]++;
    }
    cores.erase(std::remove(cores.begin(), cores.end(), 0u), cores.end());
    ASSERT_EQ(cores.size(), 16u);
    EXPECT_LT(ChiSquare(cores), ChiSquareBound(16));
}

TEST(EcmpSpread, TwoLeavesSendTheSameFlowsDifferentWays)
{
    // First hops of the same tuples at two leaves of 32 uplinks: all 32 x 32 pairs are equally
    // likely, so 1 in 32 flows takes the uplink of the same index at both.
    const Cluster cluster(BoxSpec(12, LeafSpine()));
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, EcmpRouting(), 1);
    Router& router = plain;
    const auto uplink = [&](uint32_t node, uint32_t flow) {
        const auto route = router.RouteOver(
            cluster.NicDevice(node, 0), cluster.NicDevice(8, 0), TupleOf(flow), NETWORK);
        const auto& links = topology.LinksFrom(topology.GetLink(route[1]).from);
        return static_cast<std::size_t>(std::find(links.begin(), links.end(), route[1]) -
                                        links.begin()) %
               32;
    };
    uint32_t same = 0;
    for (uint32_t flow = 0; flow < 10000; flow++)
    {
        same += uplink(0, flow) == uplink(4, flow);
    }
    // Binomial: mean 312.5, standard deviation 17.4; the tolerance is five standard deviations.
    EXPECT_NEAR(same, 312.5, 87);
}

TEST(EcmpSpread, TheSeedDecidesAndTheSameSeedDecidesAlike)
{
    const Cluster cluster(BoxSpec(12, LeafSpine()));
    PlainRouter plainOne(cluster.GetTopology(), EcmpRouting(), 1);
    Router& one = plainOne;
    PlainRouter plainAgain(cluster.GetTopology(), EcmpRouting(), 1);
    Router& again = plainAgain;
    PlainRouter plainTwo(cluster.GetTopology(), EcmpRouting(), 2);
    Router& two = plainTwo;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < 100; i++)
    {
        const DeviceId from = cluster.NicDevice(0, 0);
        const DeviceId to = cluster.NicDevice(11, 0);
        const auto route = one.RouteOver(from, to, TupleOf(i), NETWORK);
        EXPECT_EQ(route, again.RouteOver(from, to, TupleOf(i), NETWORK));
        changed += route != two.RouteOver(from, to, TupleOf(i), NETWORK);
    }
    EXPECT_GT(changed, 80u);
}

} // namespace weir
