// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/source-ports.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weir
{
namespace
{

TEST(SourcePorts, EachDirectionOfAPairCountsForItself)
{
    SourcePorts ports;
    EXPECT_EQ(ports.Next(0, 1), 10000);
    EXPECT_EQ(ports.Next(0, 1), 10001);
    EXPECT_EQ(ports.Next(1, 0), 10000);
    EXPECT_EQ(ports.Next(0, 1), 10002);
}

// 10000 + 55536 = 65536 wraps to port zero, and after 65536 flows all ports have occurred.
TEST(SourcePorts, PortsWrapAroundAs16Bits)
{
    SourcePorts ports;
    for (uint32_t flow = 0; flow < 65536; flow++)
    {
        ASSERT_EQ(ports.Next(3, 4), (10000 + flow) % 65536);
    }
    EXPECT_EQ(ports.Next(3, 4), 10000);
    EXPECT_EQ(ports.Next(4, 3), 10000);
}

// All 62500 - 250 ordered pairs of 250 end points in three rounds: the table grows many times.
TEST(SourcePorts, ManyPairsKeepTheirCounts)
{
    SourcePorts ports;
    for (uint16_t round = 0; round < 3; round++)
    {
        for (uint32_t pair = 0; pair < 62500; pair++)
        {
            const uint32_t source = pair * 7919 % 62500 / 250;
            const uint32_t destination = pair * 7919 % 62500 % 250;
            if (source != destination)
            {
                ASSERT_EQ(ports.Next(source, destination), 10000 + round);
            }
        }
    }
}

TEST(SourcePorts, TheLargestEndPointsAreToldApart)
{
    constexpr uint32_t LAST = (1u << 24) - 1;
    SourcePorts ports;
    EXPECT_EQ(ports.Next(LAST, LAST - 1), 10000);
    EXPECT_EQ(ports.Next(LAST - 1, LAST), 10000);
    EXPECT_EQ(ports.Next(LAST, LAST - 1), 10001);
    EXPECT_THROW(ports.Next(LAST + 1, 0), std::invalid_argument);
    EXPECT_THROW(ports.Next(0, LAST + 1), std::invalid_argument);
    EXPECT_THROW(ports.Next(5, 5), std::invalid_argument);
}

} // namespace
} // namespace weir
