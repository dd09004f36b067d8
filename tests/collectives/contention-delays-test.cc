// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/call-classes.h"

#include "fabric/topology/topology.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** An 8 GB/s NIC followed by a slow link of 2 GB/s. */
class ContentionDelaysTest : public testing::Test
{
  protected:
    ContentionDelaysTest()
    {
        const DeviceId from = m_topology.AddDevice(DeviceKind::Gpu, "from");
        const DeviceId mid = m_topology.AddDevice(DeviceKind::LeafSwitch, "mid");
        const DeviceId to = m_topology.AddDevice(DeviceKind::Gpu, "to");
        m_nic = m_topology.AddLink(from, mid, LinkKind::Network, Rate::GBps(8), Time());
        m_slow = m_topology.AddLink(mid, to, LinkKind::Network, Rate::GBps(2), Time());
    }

    /**
     * A plan of @p channels legs that takes @p milliseconds in isolation, plus a latency of 1 us.
     */
    CollectivePlan Plan(const std::vector<LinkId>& links,
                        uint32_t channels,
                        Bytes each,
                        double milliseconds)
    {
        CollectivePlan plan;
        plan.latency = Time::Microseconds(1);
        plan.duration = plan.latency + Time::Milliseconds(milliseconds);
        const RouteId route = m_routes.AddFixed(links);
        plan.legs.assign(channels, {route, each, Rate::GBps(100), 1});
        return plan;
    }

    std::vector<double> Milliseconds(const std::vector<CollectivePlan>& plans)
    {
        std::vector<const CollectivePlan*> all;
        for (const CollectivePlan& plan : plans)
        {
            all.push_back(&plan);
        }
        std::vector<double> added;
        for (const Time time : ContentionDelays(all, m_routes))
        {
            added.push_back(time.ToMicroseconds() / 1000);
        }
        return added;
    }

    Topology m_topology;
    LinkId m_nic;
    LinkId m_slow;
    Routing m_routes{m_topology, FabricSpec()};
};

// 8 MB at 8 GB/s take 1 ms uncontended. G groups on one NIC take G times as long, so G - 1 ms more.
TEST_F(ContentionDelaysTest, GroupsOfOneNicTakeAsManyTimesAsLong)
{
    for (const std::size_t groups : {1U, 2U, 5U})
    {
        const std::vector<CollectivePlan> plans(groups, Plan({m_nic}, 1, Bytes(8'000'000), 1));
        const auto added = Milliseconds(plans);
        ASSERT_EQ(added.size(), groups);
        for (const double each : added)
        {
            EXPECT_NEAR(each, static_cast<double>(groups - 1), 1e-9);
        }
    }
}

// The second group splits its 8 MB into two channels, so three flows have a third of the NIC each.
// The two halves end after 4 MB / (8/3 GB/s) = 1.5 ms; the single flow then has 4 MB left for
// itself and ends after 2 ms. The total time on the NIC does not depend on the split. Each group
// takes 1 ms uncontended.
TEST_F(ContentionDelaysTest, WhoEndsFirstLeavesItsShare)
{
    CollectivePlan cut = Plan({m_nic}, 2, Bytes(4'000'000), 1);
    cut.latency += Time::Microseconds(1);
    cut.duration += Time::Microseconds(1); // distinguishes it from the other
    const auto added = Milliseconds({Plan({m_nic}, 1, Bytes(8'000'000), 1), cut});
    EXPECT_NEAR(added[0], 1, 1e-9);
    EXPECT_NEAR(added[1], 0.5, 1e-9);
}

// A plan limited to 2 GB/s behind the NIC takes no more than that of the NIC: 8 MB in 4 ms, as in
// isolation. The other plan gets the remaining 6 GB/s, not half: 8 MB in 4/3 ms, a third more than
// in isolation.
TEST_F(ContentionDelaysTest, WhoIsHeldElsewhereLeavesTheRest)
{
    const auto added = Milliseconds(
        {Plan({m_nic, m_slow}, 1, Bytes(8'000'000), 4), Plan({m_nic}, 1, Bytes(8'000'000), 1)});
    EXPECT_NEAR(added[0], 0, 1e-9);
    EXPECT_NEAR(added[1], 1.0 / 3, 1e-9);
}

// Plans with equal isolated durations get the same delay, the largest among them: three plans share
// the slow link, and a fourth with a link of its own takes as long in isolation; all are 2 x 4 ms
// late.
TEST_F(ContentionDelaysTest, OfThoseThatTakeAsLongAloneEachTakesTheLongest)
{
    const CollectivePlan slow = Plan({m_slow}, 1, Bytes(8'000'000), 4);
    const auto added = Milliseconds({slow, slow, slow, Plan({m_nic}, 1, Bytes(32'000'000), 4)});
    ASSERT_EQ(added.size(), 4U);
    for (const double each : added)
    {
        EXPECT_NEAR(each, 8, 1e-9);
    }
}

} // namespace
} // namespace weir
