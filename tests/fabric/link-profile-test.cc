// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/link-profile.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace weir
{

TEST(LinkProfileTest, NvLinkPacketsOf256BytesCarryTwoHeaderFlits)
{
    // 256 / (256 + 2 * 16) = 8 / 9; with one header flit 256 / 272 = 16 / 17.
    EXPECT_DOUBLE_EQ(NvLinkFraming(), 8.0 / 9);
    EXPECT_DOUBLE_EQ(NvLinkFraming(1), 16.0 / 17);
}

TEST(LinkProfileTest, PcieWritesCost40BytesEach)
{
    // 16 header + 4 LCRC + 4 start token + 2 DLLPs of 8 = 40.
    EXPECT_DOUBLE_EQ(PcieFraming(128), 128.0 / 168);
    EXPECT_DOUBLE_EQ(PcieFraming(256), 256.0 / 296);
    EXPECT_DOUBLE_EQ(PcieFraming(512), 512.0 / 552);
}

TEST(LinkProfileTest, RocePacketsCost82Bytes)
{
    // 14 + 4 Ethernet, 20 preamble and gap, 20 IPv4, 8 UDP, 12 BTH, 4 ICRC = 82.
    EXPECT_DOUBLE_EQ(RoceFraming(4096), 4096.0 / 4178);
    EXPECT_DOUBLE_EQ(RoceFraming(1024), 1024.0 / 1106);
}

TEST(LinkProfileTest, InfinibandPacketsCost26Bytes)
{
    // 8 LRH + 12 BTH + 4 ICRC + 2 VCRC = 26.
    EXPECT_DOUBLE_EQ(InfinibandFraming(4096), 4096.0 / 4122);
    EXPECT_DOUBLE_EQ(InfinibandFraming(2048), 2048.0 / 2074);
}

TEST(LinkProfileTest, SlingshotAndEfaPacketsCostWhatTheirSourcesSay)
{
    // 14 + 4 Ethernet and 32 of transport; EFA adds 20 preamble and gap, 20 IPv4, 8 UDP.
    EXPECT_DOUBLE_EQ(SlingshotFraming(4096), 4096.0 / 4146);
    EXPECT_DOUBLE_EQ(SlingshotFraming(2048), 2048.0 / 2098);
    EXPECT_DOUBLE_EQ(EfaFraming(4096), 4096.0 / 4194);
    EXPECT_DOUBLE_EQ(EfaFraming(8192), 8192.0 / 8290);
}

TEST(LinkProfileTest, ATcpPacketHoldsItsHeaders)
{
    // The MTU is that of IP: of 1500 bytes 20 IPv4, 20 TCP and 12 of timestamps are not payload.
    // The wire adds 14 + 4 Ethernet and 20 of preamble and gap.
    EXPECT_DOUBLE_EQ(TcpFraming(1500), 1448.0 / 1538);
    EXPECT_DOUBLE_EQ(TcpFraming(9000), 8948.0 / 9038);
}

TEST(LinkProfileTest, PcieRatesFollowTheGenerations)
{
    // x16, GB/s before line code: 16 lanes x GT/s / 8.
    const double expected[] = {5, 10, 16, 32, 64, 128};
    for (uint32_t generation = 1; generation <= 6; generation++)
    {
        EXPECT_DOUBLE_EQ(PcieRawRate(generation, 16).ToGBps(), expected[generation - 1]);
    }
    EXPECT_DOUBLE_EQ(PcieRawRate(4, 8).ToGBps(), 16);
    EXPECT_DOUBLE_EQ(PcieEncoding(2), 0.8);
    EXPECT_DOUBLE_EQ(PcieEncoding(5), 128.0 / 130);
    EXPECT_DOUBLE_EQ(PcieEncoding(6), 236.0 / 256);
}

TEST(LinkProfileTest, ThePayloadRateIsTheProductOfAllShares)
{
    // PCIe 5 x16 with 256-byte payloads: 64 x 128/130 x 256/296 = 54.4998 GB/s.
    LinkProfile profile;
    profile.rawRate = PcieRawRate(5, 16);
    profile.encoding = PcieEncoding(5);
    profile.framing = PcieFraming(256);
    EXPECT_NEAR(profile.PayloadRate().ToGBps(), 54.4998, 1e-4);
    profile.measured = 0.5;
    EXPECT_NEAR(profile.PayloadRate().ToGBps(), 27.2499, 1e-4);
}

TEST(LinkProfileTest, EverySharePartsPayloadFromOverhead)
{
    // Property: a larger packet never lowers the payload fraction, and no packet is all payload.
    double last = 0;
    for (const uint32_t payload : {128u, 256u, 512u, 1024u, 2048u, 4096u})
    {
        EXPECT_GT(PcieFraming(payload), last);
        last = PcieFraming(payload);
    }
    last = 0;
    for (const uint32_t mtu : {256u, 512u, 1024u, 2048u, 4096u})
    {
        EXPECT_GT(RoceFraming(mtu), last);
        EXPECT_LT(RoceFraming(mtu), InfinibandFraming(mtu));
        EXPECT_LT(InfinibandFraming(mtu), 1);
        last = RoceFraming(mtu);
    }
}

TEST(LinkProfileTest, FormatsThatDoNotExistAreRefused)
{
    EXPECT_THROW(PcieFraming(64), std::invalid_argument);
    EXPECT_THROW(PcieFraming(300), std::invalid_argument);
    EXPECT_THROW(PcieFraming(8192), std::invalid_argument);
    EXPECT_THROW(RoceFraming(1500), std::invalid_argument);
    EXPECT_THROW(InfinibandFraming(0), std::invalid_argument);
    EXPECT_THROW(PcieRawRate(0, 16), std::invalid_argument);
    EXPECT_THROW(PcieRawRate(7, 16), std::invalid_argument);
    EXPECT_THROW(PcieRawRate(4, 0), std::invalid_argument);
    EXPECT_THROW(PcieEncoding(7), std::invalid_argument);
}

TEST(LinkProfileTest, AProfileThatNoLinkCanHaveIsRefusedByField)
{
    const auto refusal = [](auto change) {
        LinkProfile profile;
        profile.rawRate = Rate::GBps(25);
        change(profile);
        try
        {
            CheckProfile(profile, "node.nic");
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what()).substr(0, std::string(error.what()).find(':'));
        }
        return std::string("accepted");
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(refusal([](LinkProfile&) {}), "accepted");
    EXPECT_EQ(refusal([](LinkProfile& p) { p.rawRate = Rate(); }), "node.nic.rawRate");
    EXPECT_EQ(refusal([](LinkProfile& p) { p.rawRate = Rate::Infinite(); }), "node.nic.rawRate");
    EXPECT_EQ(refusal([](LinkProfile& p) { p.encoding = 1.01; }), "node.nic.encoding");
    EXPECT_EQ(refusal([](LinkProfile& p) { p.framing = 0; }), "node.nic.framing");
    EXPECT_EQ(refusal([nan](LinkProfile& p) { p.measured = nan; }), "node.nic.measured");
    EXPECT_EQ(refusal([](LinkProfile& p) { p.latency = Time::Infinite(); }), "node.nic.latency");
}

// The table lists every transport once, in the order of the enumerators, with MTUs that its framing
// accepts. A larger payload behind the same headers is a larger fraction of the packet.
TEST(NetTransportTest, TableHoldsEveryTransport)
{
    uint8_t value = 0;
    for (const NetTransportTraits& traits : NetTransports())
    {
        EXPECT_EQ(static_cast<uint8_t>(traits.transport), value++);
        EXPECT_EQ(&TraitsOf(traits.transport), &traits);
        EXPECT_LT(traits.framing(traits.minMtu), traits.framing(traits.maxMtu)) << traits.name;
        EXPECT_LT(traits.framing(traits.maxMtu), 1) << traits.name;
    }
    EXPECT_EQ(value, static_cast<uint8_t>(NetTransport::Tcp) + 1);
}

} // namespace weir
