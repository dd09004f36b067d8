// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/topology.h"

#include "fabric/topology/link-profile.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

class TopologyTest : public testing::Test
{
  protected:
    Topology m_topology;
    DeviceId m_gpu{m_topology.AddDevice(DeviceKind::Gpu, "node0/gpu1", 0, 1)};
    DeviceId m_switch{m_topology.AddDevice(DeviceKind::NvSwitch, "node0/nvswitch0", 0)};
};

} // namespace

TEST_F(TopologyTest, DevicesAreFoundByNameAndKeepWhatTheyAre)
{
    EXPECT_EQ(m_topology.FindDevice("node0/gpu1"), m_gpu);
    EXPECT_FALSE(m_topology.FindDevice("node0/gpu2").IsValid());
    const Device& gpu = m_topology.GetDevice(m_gpu);
    EXPECT_EQ(gpu.kind, DeviceKind::Gpu);
    EXPECT_EQ(gpu.node, 0u);
    EXPECT_EQ(gpu.index, 1u);
    const DeviceId leaf = m_topology.AddDevice(DeviceKind::LeafSwitch, "leaf0");
    EXPECT_EQ(m_topology.GetDevice(leaf).node, Device::NO_NODE);
}

TEST_F(TopologyTest, ANameNamesOneDevice)
{
    EXPECT_THROW(m_topology.AddDevice(DeviceKind::Host, "node0/gpu1"), std::invalid_argument);
    EXPECT_EQ(m_topology.DeviceCount(), 2u);
}

TEST_F(TopologyTest, TheDirectionsOfADuplexLinkAreOppositeAndEqual)
{
    const LinkId there = m_topology.AddDuplexLink(
        m_gpu, m_switch, LinkKind::NvLink, Rate::GBps(20), Time::Nanoseconds(150));
    const Link& link = m_topology.GetLink(there);
    const Link& back = m_topology.GetLink(link.opposite);
    EXPECT_EQ(link.from, m_gpu);
    EXPECT_EQ(link.to, m_switch);
    EXPECT_EQ(back.from, m_switch);
    EXPECT_EQ(back.to, m_gpu);
    EXPECT_EQ(back.opposite, there);
    EXPECT_EQ(back.rate, link.rate);
    EXPECT_EQ(back.latency, Time::Picoseconds(150000));
    EXPECT_EQ(m_topology.LinksFrom(m_switch), std::vector<LinkId>{link.opposite});
}

TEST_F(TopologyTest, ParallelLinksAreDistinctWithDistinctNames)
{
    const LinkId other = m_topology.AddLink(m_switch, m_gpu, LinkKind::NvLink, Rate(), Time());
    const LinkId first = m_topology.AddLink(m_gpu, m_switch, LinkKind::NvLink, Rate(), Time());
    const LinkId second = m_topology.AddLink(m_gpu, m_switch, LinkKind::NvLink, Rate(), Time());
    EXPECT_EQ(m_topology.GetLink(other).parallel, 0);
    EXPECT_EQ(m_topology.GetLink(first).parallel, 0);
    EXPECT_EQ(m_topology.GetLink(second).parallel, 1);
    EXPECT_EQ(m_topology.LinkName(first), "node0/gpu1->node0/nvswitch0");
    EXPECT_EQ(m_topology.LinkName(second), "node0/gpu1->node0/nvswitch0#2");
    EXPECT_FALSE(m_topology.GetLink(first).opposite.IsValid());
}

TEST_F(TopologyTest, ABundleHasTheRateOfItsWiresAndTheNameOfTheirProfile)
{
    LinkProfile nvLink;
    nvLink.name = "nvlink4";
    nvLink.rawRate = Rate::GBps(25);
    nvLink.measured = 0.8;
    nvLink.latency = Time::Nanoseconds(150);
    const LinkId id = m_topology.AddDuplexLink(m_gpu, m_switch, LinkKind::NvLink, nvLink, 18);
    // 25 GB/s x 0.8 x 18
    EXPECT_DOUBLE_EQ(m_topology.GetLink(id).rate.ToGBps(), 360);
    EXPECT_EQ(m_topology.GetProfileName(m_topology.GetLink(id).profile), "nvlink4");
}

TEST_F(TopologyTest, AProfileNameIsKeptOnce)
{
    const uint16_t first = m_topology.AddProfileName("ndr400");
    EXPECT_NE(m_topology.AddProfileName("hdr200"), first);
    EXPECT_EQ(m_topology.AddProfileName("ndr400"), first);
}

TEST_F(TopologyTest, LinksThatCannotBeAreRefused)
{
    const auto add = [this](DeviceId to, Rate rate, Time latency, uint16_t profile) {
        m_topology.AddLink(m_gpu, to, LinkKind::NvLink, rate, latency, profile);
    };
    const Rate rate = Rate::GBps(1);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(add(DeviceId(), rate, Time(), 0), std::invalid_argument);
    EXPECT_THROW(add(DeviceId(2), rate, Time(), 0), std::invalid_argument);
    EXPECT_THROW(add(m_switch, Rate::GBps(-1), Time(), 0), std::invalid_argument);
    EXPECT_THROW(add(m_switch, Rate::GBps(nan), Time(), 0), std::invalid_argument);
    EXPECT_THROW(add(m_switch, rate, Time::Picoseconds(-1), 0), std::invalid_argument);
    EXPECT_THROW(add(m_switch, rate, Time(), 7), std::invalid_argument);
    EXPECT_EQ(m_topology.LinkCount(), 0u);
}

} // namespace weir
