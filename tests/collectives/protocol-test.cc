// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/protocol.h"

#include "collectives/schedule/message-split.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

// NCCL 2.30 device.h: buffers of 8 steps. LL has 512 KiB, half of it data; LL128 4,915,200 bytes,
// 15/16 of it data; Simple 4 MiB.
TEST(Protocol, StepsHoldAnEighthOfTheBuffersData)
{
    EXPECT_EQ(ShapeOf(Protocol::Ll).step * 8, Bytes(524288 / 2));
    EXPECT_EQ(ShapeOf(Protocol::Ll128).step * 8, Bytes(4915200 / 16 * 15));
    EXPECT_EQ(ShapeOf(Protocol::Simple).step * 8, Bytes::MiB(4));
}

TEST(Protocol, WireBytesArePayloadOverEfficiency)
{
    EXPECT_EQ(WireBytes(Protocol::Ll, Bytes(100)), Bytes(200));
    EXPECT_EQ(WireBytes(Protocol::Ll128, Bytes(120)), Bytes(128));
    EXPECT_EQ(WireBytes(Protocol::Ll128, Bytes(121)), Bytes(130)); // 129.07 rounded up
    EXPECT_EQ(WireBytes(Protocol::Simple, Bytes(100)), Bytes(100));
}

// Ring Simple: chunk 4 steps = 2 MiB as 2 slices of 1 MiB; 8 steps hold 4 such slices.
TEST(Protocol, RingSimpleSendsTwoMebibytesInTwoSlices)
{
    const Chunking simple = RingChunking(Protocol::Simple);
    EXPECT_EQ(simple.chunk, Bytes::MiB(2));
    EXPECT_EQ(simple.slices, 2U);
    EXPECT_EQ(simple.slots, 4U);
    EXPECT_EQ(RingChunking(Protocol::Ll).slots, 8U);
    EXPECT_EQ(PipelineChunking(Protocol::Simple).chunk, Bytes::KiB(512));
}

// 1000 bytes over 3 channels: shares of ceil(1000 / 3 / 16) x 16 = 336, 336 and the rest.
TEST(MessageSplit, ChannelSharesAreAlignedAndTheLastIsRagged)
{
    const auto shares = SplitOverChannels(Bytes(1000), 3);
    ASSERT_EQ(shares.size(), 2U);
    EXPECT_EQ(shares[0].channels, 2U);
    EXPECT_EQ(shares[0].bytes, Bytes(336));
    EXPECT_EQ(shares[1].firstChannel, 2U);
    EXPECT_EQ(shares[1].bytes, Bytes(328));
}

TEST(MessageSplit, ChannelsThatWouldGetNothingAreLeftOut)
{
    const auto shares = SplitOverChannels(Bytes(20), 24);
    ASSERT_EQ(shares.size(), 2U);
    EXPECT_EQ(shares[0].bytes, Bytes(16));
    EXPECT_EQ(shares[1].bytes, Bytes(4));
}

// 100 bytes in passes of 4 chunks of 16: one full pass of 64, then 36 over 4 chunks of at most 16:
// 16, 16, 4, 0.
TEST(MessageSplit, TheLastPassShrinksItsChunks)
{
    const auto loops = SplitIntoLoops(Bytes(100), Bytes(16), 4, 1);
    ASSERT_EQ(loops.size(), 2U);
    EXPECT_EQ(loops[0].repeat, 1U);
    EXPECT_EQ(loops[0].chunks, std::vector<Bytes>(4, Bytes(16)));
    EXPECT_EQ(loops[1].chunks, (std::vector<Bytes>{Bytes(16), Bytes(16), Bytes(4), Bytes()}));
}

// Property: shares and loops sum to the message, for any size.
TEST(MessageSplit, NothingIsLost)
{
    for (int64_t size = 1; size < 5'000'000; size = size * 7 / 3 + 1)
    {
        for (uint32_t channels : {1U, 2U, 7U, 24U})
        {
            Bytes total;
            for (const auto& share : SplitOverChannels(Bytes(size), channels))
            {
                for (const auto& loop : SplitIntoLoops(share.bytes, Bytes::KiB(32), 5, 2))
                {
                    for (Bytes chunk : loop.chunks)
                    {
                        total += chunk * loop.repeat * share.channels;
                    }
                }
            }
            EXPECT_EQ(total, Bytes(size));
        }
    }
}

} // namespace
} // namespace weir
