// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-constants.h"

#include "collectives/collective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

constexpr Algorithm RING = Algorithm::Ring;

NcclConstants
Constants(const char* version, uint32_t computeCapability = 90, HostCpu cpu = HostCpu::Intel)
{
    return {NcclVersion::Parse(version), computeCapability, cpu};
}

TEST(NcclVersion, IsTwoOrThreeNumbersFrom2_4)
{
    EXPECT_TRUE(NcclVersion::Parse("2.30.7").AtLeast(30, 7));
    EXPECT_FALSE(NcclVersion::Parse("2.30.7").AtLeast(31));
    EXPECT_TRUE(NcclVersion::Parse("2.21").AtLeast(21, 0)); // the first release of 2.21
    EXPECT_FALSE(NcclVersion::Parse("2.21").AtLeast(21, 1));
    EXPECT_TRUE(NcclVersion::Parse("2.18.5-1").AtLeast(18, 5));
    EXPECT_TRUE(NcclVersion::Parse("2.27.3+cuda12.9").AtLeast(27, 3));
    EXPECT_THROW(NcclVersion::Parse("2.27.3-"), std::invalid_argument);
    EXPECT_THROW(NcclVersion::Parse("2.27.3.1"), std::invalid_argument);
    EXPECT_THROW(NcclVersion::Parse("2.27.3+cuda"), std::invalid_argument);
    EXPECT_THROW(NcclVersion::Parse("2.27.3+cuda..."), std::invalid_argument);
    for (const char* suffix : {"", "-", "+cuda", "+cuda12."})
    {
        const std::string digits(1 << 20, '1');
        EXPECT_THROW(NcclVersion::Parse("2.27.3" + (suffix + digits)), std::invalid_argument);
    }
    for (const char* wrong : {"", "2", "2.30.7a", "2.3.7", "1.30.7", "3.0.0", "two"})
    {
        EXPECT_THROW(NcclVersion::Parse(wrong), std::invalid_argument) << wrong;
    }
}

// A table without a row that applies would answer infinity, a short row its last value.
TEST(NcclTables, LatenciesHaveAllProtocolsInEveryRelease)
{
    for (const NcclTableRow& row : NcclTableRows())
    {
        if (row.table >= NcclTable::BaseRing && row.table <= NcclTable::NetworkPostOfAmd)
        {
            EXPECT_EQ(row.values.size(), 3U) << static_cast<int>(row.table);
        }
    }
    for (uint32_t minor = 4; minor <= 30; minor++)
    {
        const NcclConstants c(NcclVersion{2, minor, 0}, 60, HostCpu::Amd);
        for (const Protocol protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
        {
            for (std::size_t i = 0; i <= static_cast<std::size_t>(LAST_ALGORITHM); i++)
            {
                const auto algorithm = static_cast<Algorithm>(i);
                EXPECT_LT(c.BaseLatency(algorithm, protocol), Time::Microseconds(100));
                for (const ConnectionKind kind :
                     {ConnectionKind::NvLink, ConnectionKind::Pcie, ConnectionKind::Network})
                {
                    EXPECT_LT(c.HardwareLatency(algorithm, kind, protocol),
                              Time::Microseconds(100));
                    EXPECT_LT(c.StepLatency(algorithm, kind, protocol, 2, 8),
                              Time::Microseconds(100));
                }
            }
        }
    }
}

// tuning.cc: hwLat[PCI][TREE][SIMPLE] = hwLat[PCI][RING][SIMPLE] on POWER, 5.7 us in all releases;
// no other entry differs. Posting takes 1 us and LL 39 GB/s as on Intel, which only AMD differs
// from.
TEST(NcclTables, TreesOverPcieHaveTheRingsLatencyOnPower)
{
    for (const char* version : {"2.7.8", "2.18.5", "2.30.7"})
    {
        const auto power = Constants(version, 70, HostCpu::Power);
        const auto intel = Constants(version, 70);
        EXPECT_EQ(power.HardwareLatency(Algorithm::Tree, ConnectionKind::Pcie, Protocol::Simple),
                  Time::Microseconds(5.7));
        EXPECT_NE(intel.HardwareLatency(Algorithm::Tree, ConnectionKind::Pcie, Protocol::Simple),
                  Time::Microseconds(5.7));
        for (const Protocol protocol : {Protocol::Ll, Protocol::Ll128})
        {
            EXPECT_EQ(power.HardwareLatency(Algorithm::Tree, ConnectionKind::Pcie, protocol),
                      intel.HardwareLatency(Algorithm::Tree, ConnectionKind::Pcie, protocol));
        }
        EXPECT_EQ(power.StepLatency(RING, ConnectionKind::NvLink, Protocol::Simple, 2, 6),
                  intel.StepLatency(RING, ConnectionKind::NvLink, Protocol::Simple, 2, 6));
        EXPECT_EQ(power.LlMaxBandwidth(2), intel.LlMaxBandwidth(2));
    }
}

// Ampere's 235 GB/s ended with 2.18, and never held for other generations.
TEST(NcclTables, AmpereHasABusBandwidthUpTo2_17)
{
    EXPECT_EQ(Constants("2.17.1", 80).ValueOf(NcclTable::BusBandwidth), 235);
    EXPECT_EQ(Constants("2.17.1", 86).ValueOf(NcclTable::BusBandwidth), 235);
    for (const auto& [version, computeCapability] :
         {std::pair{"2.17.1", 70}, std::pair{"2.17.1", 90}, std::pair{"2.18.5", 80}})
    {
        EXPECT_TRUE(
            std::isinf(Constants(version, computeCapability).ValueOf(NcclTable::BusBandwidth)));
    }
}

// tuning.cc: base latencies 3.6 / 10.0 / 8.4 us until 2.16, 6.6 / 14 / 8.4 us from 2.18 on.
TEST(NcclConstants, RingBaseLatencyByRelease)
{
    EXPECT_EQ(Constants("2.16.2").BaseLatency(RING, Protocol::Ll), Time::Microseconds(3.6));
    EXPECT_EQ(Constants("2.18.5").BaseLatency(RING, Protocol::Ll), Time::Microseconds(6.6));
    EXPECT_EQ(Constants("2.30.7").BaseLatency(RING, Protocol::Ll128), Time::Microseconds(14));
    EXPECT_EQ(Constants("2.30.7").BaseLatency(RING, Protocol::Simple), Time::Microseconds(8.4));
}

TEST(NcclConstants, InsideOneNodeAStepIsTheHardwareLatency)
{
    const auto c = Constants("2.30.7");
    EXPECT_EQ(c.StepLatency(RING, ConnectionKind::NvLink, Protocol::Ll, 1, 8),
              Time::Microseconds(0.6));
    EXPECT_EQ(c.StepLatency(RING, ConnectionKind::NvLink, Protocol::Ll128, 1, 8),
              Time::Microseconds(1.9));
    EXPECT_EQ(c.StepLatency(RING, ConnectionKind::Pcie, Protocol::Simple, 1, 8),
              Time::Microseconds(5.7));
}

// Over several nodes a step takes at least the time to post to the network: 1 us (2 us for AMD),
// three times that for Simple.
TEST(NcclConstants, PostingToTheNetworkBoundsInnerStepsOfALargeRing)
{
    const auto intel = Constants("2.30.7");
    const auto amd = Constants("2.30.7", 90, HostCpu::Amd);
    const auto kind = ConnectionKind::NvLink;
    EXPECT_EQ(intel.StepLatency(RING, kind, Protocol::Ll, 2, 8), Time::Microseconds(1));
    EXPECT_EQ(intel.StepLatency(RING, kind, Protocol::Simple, 2, 8), Time::Microseconds(3.4));
    EXPECT_EQ(amd.StepLatency(RING, kind, Protocol::Ll, 2, 8), Time::Microseconds(2));
    EXPECT_EQ(amd.StepLatency(RING, kind, Protocol::Simple, 2, 8), Time::Microseconds(6));
}

TEST(NcclConstants, OneGpuPerNodeUsesTheTreesNetworkLatencyFrom2_23)
{
    const auto kind = ConnectionKind::Network;
    EXPECT_EQ(Constants("2.30.7").StepLatency(RING, kind, Protocol::Ll, 2, 1),
              Time::Microseconds(5));
    EXPECT_EQ(Constants("2.22.3").StepLatency(RING, kind, Protocol::Ll, 2, 1),
              Time::Microseconds(2.7));
    EXPECT_EQ(Constants("2.30.7").StepLatency(RING, kind, Protocol::Ll, 2, 8),
              Time::Microseconds(2.7));
    EXPECT_EQ(Constants("2.12.12").StepLatency(RING, kind, Protocol::Simple, 2, 8),
              Time::Microseconds(28));
    EXPECT_EQ(Constants("2.14.3").StepLatency(RING, kind, Protocol::Simple, 2, 8),
              Time::Microseconds(9.6));
}

// llMaxBws: by GPU generation within a node, by CPU vendor over several nodes.
TEST(NcclConstants, LlBandwidthByGenerationAndHost)
{
    EXPECT_DOUBLE_EQ(Constants("2.30.7", 90).LlMaxBandwidth(1), 141.0);
    EXPECT_DOUBLE_EQ(Constants("2.20.5", 90).LlMaxBandwidth(1), 87.7);
    EXPECT_DOUBLE_EQ(Constants("2.30.7", 100).LlMaxBandwidth(1), 282.0);
    EXPECT_DOUBLE_EQ(Constants("2.30.7", 90).LlMaxBandwidth(2), 39.0);
    EXPECT_DOUBLE_EQ(Constants("2.30.7", 90, HostCpu::Amd).LlMaxBandwidth(16), 19.0);
}

TEST(NcclConstants, Ll128BandwidthPerChannelByGeneration)
{
    EXPECT_DOUBLE_EQ(Constants("2.30.7", 80).Ll128ChannelBandwidth(CollectiveOp::AllReduce), 20.0);
    EXPECT_DOUBLE_EQ(Constants("2.30.7", 90).Ll128ChannelBandwidth(CollectiveOp::AllReduce), 36.7);
    EXPECT_DOUBLE_EQ(Constants("2.28.3", 100).Ll128ChannelBandwidth(CollectiveOp::AllReduce), 73.4);
    EXPECT_DOUBLE_EQ(Constants("2.30.7", 100).Ll128ChannelBandwidth(CollectiveOp::AllReduce), 40.0);
}

// Factors of nccl-tests' PERFORMANCE.md.
TEST(Collective, BusBandwidthFactors)
{
    EXPECT_DOUBLE_EQ(BusBandwidthFactor(CollectiveOp::AllReduce, 8), 1.75);
    EXPECT_DOUBLE_EQ(BusBandwidthFactor(CollectiveOp::AllGather, 8), 0.875);
    EXPECT_DOUBLE_EQ(BusBandwidthFactor(CollectiveOp::ReduceScatter, 4), 0.75);
    EXPECT_DOUBLE_EQ(BusBandwidthFactor(CollectiveOp::Broadcast, 8), 1);
}

} // namespace
} // namespace weir
