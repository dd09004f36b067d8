// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/call-classes.h"

#include "fabric/topology/topology.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** A NIC of 8 GB/s, and a slow link of 2 GB/s behind it. */
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

    /** @p channels of one call that takes @p milliseconds alone beside a microsecond of latency. */
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

// 8 MB at 8 GB/s take 1 ms alone; G groups of one NIC take G times as long, so G - 1 ms more.
TEST_F(ContentionDelaysTest, GroupsOfOneNicTakeAsManyTimesAsLong)
{
    for (const std::size_t groups : {1U, 2U, 5U})
    {
        const std::vector<CollectivePlan> plans(groups, Plan({m_nic}, 1, Bytes(8'000'000), 1));
        for (const double added : Milliseconds(plans))
        {
            EXPECT_NEAR(added, static_cast<double>(groups - 1), 1e-9);
        }
    }
}

// The second group cuts its 8 MB into two channels: three of them have a third of the NIC each. The
// halves end after 4 MB / (8/3 GB/s) = 1.5 ms; the whole one has 4 MB left then, alone, and ends
// after 2 ms: a NIC is as long at work on all bytes however they are cut. Each was 1 ms alone.
TEST_F(ContentionDelaysTest, WhoEndsFirstLeavesItsShare)
{
    CollectivePlan cut = Plan({m_nic}, 2, Bytes(4'000'000), 1);
    cut.latency += Time::Microseconds(1);
    cut.duration += Time::Microseconds(1); // told apart from the other
    const auto added = Milliseconds({Plan({m_nic}, 1, Bytes(8'000'000), 1), cut});
    EXPECT_NEAR(added[0], 1, 1e-9);
    EXPECT_NEAR(added[1], 0.5, 1e-9);
}

// One that passes 2 GB/s behind the NIC takes no more of it than that: 8 MB in 4 ms, as alone. The
// other has the 6 GB/s left, not half: 8 MB in 4/3 ms, a third more than alone.
TEST_F(ContentionDelaysTest, WhoIsHeldElsewhereLeavesTheRest)
{
    const auto added = Milliseconds(
        {Plan({m_nic, m_slow}, 1, Bytes(8'000'000), 4), Plan({m_nic}, 1, Bytes(8'000'000), 1)});
    EXPECT_NEAR(added[0], 0, 1e-9);
    EXPECT_NEAR(added[1], 1.0 / 3, 1e-9);
}

// Two that take as long alone are given the same, the longer: of three on the slow link and one
// that has a link for itself and takes as long alone, all are 2 x 4 ms late.
TEST_F(ContentionDelaysTest, OfThoseThatTakeAsLongAloneEachTakesTheLongest)
{
    const CollectivePlan slow = Plan({m_slow}, 1, Bytes(8'000'000), 4);
    const auto added = Milliseconds({slow, slow, slow, Plan({m_nic}, 1, Bytes(32'000'000), 4)});
    for (const double each : added)
    {
        EXPECT_NEAR(each, 8, 1e-9);
    }
}

} // namespace
} // namespace weir
