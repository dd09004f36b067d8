// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/path-table.h"

#include <gtest/gtest.h>

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

TEST_F(PathTableTest, OneMultisetOfLinksHasOneId)
{
    PathTable paths(m_topology);
    const auto& l = m_links;
    const PathId id = paths.Intern({l[0], l[1], l[2]});
    EXPECT_EQ(paths.Intern({l[2], l[0], l[1]}), id);
    EXPECT_NE(paths.Intern({l[0], l[1]}), id);
    EXPECT_NE(paths.Intern({l[0], l[1], l[2], l[2]}), id);
    EXPECT_EQ(paths.Size(), 3U);
}

TEST_F(PathTableTest, LinksComeInAscendingOrderWithTheirMultiplicity)
{
    PathTable paths(m_topology);
    const PathId id = paths.Intern({m_links[2], m_links[0], m_links[2], m_links[2]});
    const auto links = paths.Links(id);
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links.begin()[0].link, m_links[0]);
    EXPECT_EQ(links.begin()[0].multiplicity, 1U);
    EXPECT_EQ(links.begin()[1].link, m_links[2]);
    EXPECT_EQ(links.begin()[1].multiplicity, 3U);
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

} // namespace
} // namespace weir
