// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace weir
{
namespace
{

/** Links in a chain: rates 1, 2, 3 GB/s and latencies 1, 2, 3 us. */
class PathTableTest : public testing::Test
{
  protected:
    PathTableTest()
    {
        DeviceId from = m_topology.AddDevice(DeviceKind::Host, "d0");
        for (int i = 1; i <= 3; i++)
        {
            const DeviceId to = m_topology.AddDevice(DeviceKind::Host, "d" + std::to_string(i));
            m_links.push_back(m_topology.AddLink(
                from, to, LinkKind::Network, Rate::GBps(i), Time::Microseconds(i)));
            from = to;
        }
    }

    Topology m_topology;
    std::vector<LinkId> m_links;
};

TEST_F(PathTableTest, OneSequenceOfLinksHasOneIdAndKeepsItsOrder)
{
    PathTable paths(m_topology);
    const auto& l = m_links;
    const PathId id = paths.Intern({l[2], l[0], l[1]});
    EXPECT_EQ(paths.Intern({l[2], l[0], l[1]}), id);
    EXPECT_NE(paths.Intern({l[0], l[1], l[2]}), id);
    EXPECT_NE(paths.Intern({l[2], l[0]}), id);
    EXPECT_NE(paths.Intern({l[2], l[0], l[1], l[1]}), id);
    EXPECT_EQ(paths.Size(), 4U);
    ASSERT_EQ(paths.Links(id).size(), 3U);
    EXPECT_EQ(paths.Links(id)[0].link, l[2]);
    EXPECT_EQ(paths.Links(id)[1].link, l[0]);
    EXPECT_EQ(paths.Links(id)[2].link, l[1]);
}

/** A flow split into three parts, two of them on one path. */
TEST_F(PathTableTest, DividedFlowCountsItsPartsOnLinks)
{
    PathTable paths(m_topology);
    const PathId first = paths.Intern({m_links[0], m_links[2]});
    const PathId second = paths.Intern({m_links[1], m_links[2]});
    EXPECT_EQ(paths.InternDivided({first, first}), FlowPath{first});
    const FlowPath divided = paths.InternDivided({first, second, first});
    EXPECT_EQ(divided.unit, 3U);
    const auto links = paths.Links(divided.path);
    ASSERT_EQ(links.size(), 3U);
    EXPECT_EQ(links[0].multiplicity, 2U);
    EXPECT_EQ(links[1].multiplicity, 1U);
    EXPECT_EQ(links[2].multiplicity, 3U);
}

TEST_F(PathTableTest, LinksThatRepeatAreCountedInAscendingOrder)
{
    PathTable paths(m_topology);
    const PathId id = paths.Intern({m_links[2], m_links[0], m_links[2], m_links[2]});
    const auto links = paths.Links(id);
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[0].link, m_links[0]);
    EXPECT_EQ(links[0].multiplicity, 1U);
    EXPECT_EQ(links[1].link, m_links[2]);
    EXPECT_EQ(links[1].multiplicity, 3U);
}

TEST_F(PathTableTest, LatencyAddsAndTheBottleneckIsTheLeastRateOverMultiplicity)
{
    PathTable paths(m_topology);
    const PathId id = paths.Intern({m_links[1], m_links[2], m_links[2], m_links[2], m_links[2]});
    EXPECT_EQ(paths.Latency(id), Time::Microseconds(2 + 4 * 3));
    EXPECT_DOUBLE_EQ(paths.BottleneckRate(id).ToGBps(), 3.0 / 4);
}

TEST_F(PathTableTest, TheEmptyPathIsUnconstrained)
{
    PathTable paths(m_topology);
    const PathId id = paths.Intern({});
    EXPECT_EQ(paths.Latency(id), Time());
    EXPECT_TRUE(paths.BottleneckRate(id).IsInfinite());
    EXPECT_EQ(paths.Intern({}), id);
}

TEST_F(PathTableTest, ALinkThatDoesNotExistIsRefused)
{
    PathTable paths(m_topology);
    EXPECT_THROW(paths.Intern({LinkId(3)}), std::invalid_argument);
    EXPECT_THROW(paths.Intern({LinkId()}), std::invalid_argument);
}

TEST_F(PathTableTest, CountedLinksAreTheSameAsRepeatedOnes)
{
    PathTable paths(m_topology);
    const PathId id = paths.Intern({m_links[2], m_links[0], m_links[2]});
    EXPECT_EQ(paths.InternCounted({{m_links[2], 2}, {m_links[1], 0}, {m_links[0], 1}}), id);
    EXPECT_NE(paths.InternCounted({{m_links[2], 1}, {m_links[0], 1}}), id);
    EXPECT_THROW(paths.InternCounted({{m_links[0], 1}, {m_links[0], 1}}), std::invalid_argument);
    EXPECT_THROW(paths.InternCounted({{LinkId(3), 1}}), std::invalid_argument);
}

// Every multiset of up to two crossings of each of eight links: 3^8 paths. When interned again in
// reverse order, each path has the same id and values, although the table has grown in between.
TEST(PathTable, ThousandsOfPathsKeepTheirIdsLinksAndValues)
{
    Topology topology;
    const DeviceId from = topology.AddDevice(DeviceKind::Host, "from");
    const DeviceId to = topology.AddDevice(DeviceKind::Host, "to");
    for (int i = 0; i < 8; i++)
    {
        topology.AddLink(from, to, LinkKind::Network, Rate::GBps(8 - i), Time::Microseconds(1 + i));
    }
    constexpr std::size_t PATHS = 6561;
    const auto crossings = [](std::size_t number, std::size_t link) {
        for (; link > 0; link--)
        {
            number /= 3;
        }
        return number % 3;
    };
    PathTable paths(topology);
    for (const bool backwards : {false, true})
    {
        for (std::size_t number = 0; number < PATHS; number++)
        {
            std::vector<PathLink> links;
            for (std::size_t i = 0; i < 8; i++)
            {
                const std::size_t link = backwards ? 7 - i : i;
                links.push_back({LinkId(link), static_cast<uint32_t>(crossings(number, link))});
            }
            ASSERT_EQ(paths.InternCounted(links), PathId(number));
        }
    }
    EXPECT_EQ(paths.Size(), PATHS);
    for (std::size_t number = 0; number < PATHS; number++)
    {
        Time latency;
        Rate bottleneck = Rate::Infinite();
        auto at = paths.Links(PathId(number)).begin();
        for (std::size_t link = 0; link < 8; link++)
        {
            const std::size_t count = crossings(number, link);
            if (count > 0)
            {
                latency += Time::Microseconds(1 + link) * static_cast<int64_t>(count);
                bottleneck = std::min(bottleneck, Rate::GBps(8.0 - link) / count);
                ASSERT_EQ((*at).link, LinkId(link));
                ASSERT_EQ((*at).multiplicity, count);
                ++at;
            }
        }
        ASSERT_EQ(at, paths.Links(PathId(number)).end());
        ASSERT_EQ(paths.Latency(PathId(number)), latency);
        ASSERT_EQ(paths.BottleneckRate(PathId(number)), bottleneck);
    }
}

} // namespace
} // namespace weir
