// SPDX-License-Identifier: GPL-2.0-only
#include "packet-bench.h"

#include "fabric/transport/corrected/corrected-transport.h"

#include <gtest/gtest.h>

namespace
{

using namespace weir;

/** Senders behind one switch, a receiver behind another: three links of 10 GB/s and 1 us each. */
struct Chain
{
    explicit Chain(uint32_t senders)
    {
        const uint32_t first = bench.AddSwitch();
        const uint32_t second = bench.AddSwitch();
        receiver = bench.AddHost();
        bench.Join(first, second, Rate::GBps(10), Time::Microseconds(1));
        bench.Join(second, receiver, Rate::GBps(10), Time::Microseconds(1));
        for (uint32_t i = 0; i < senders; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts[i], first, Rate::GBps(10), Time::Microseconds(1));
        }
    }

    /** Of a megabyte from each sender: the last one's end, us. */
    double Run()
    {
        double last = 0;
        std::vector<std::size_t> flows;
        for (const uint32_t host : hosts)
        {
            flows.push_back(bench.AddFlow(host, receiver, Bytes(1000000)));
        }
        bench.Run();
        for (const std::size_t flow : flows)
        {
            last = std::max(last, bench.Duration(flow).ToMicroseconds());
        }
        return last;
    }

    PacketBench bench;
    std::vector<uint32_t> hosts;
    uint32_t receiver{0};
};

/** The last end of @p senders under @p spec, us. */
double
LastEnd(uint32_t senders, const CorrectionSpec& spec)
{
    Chain chain(senders);
    chain.bench.OpenCorrected(spec);
    return chain.Run();
}

TEST(CorrectedTransport, IsTheFluidWhereAllIsOff)
{
    for (const uint32_t senders : {1u, 2u, 5u})
    {
        Chain fluid(senders);
        fluid.bench.OpenFluid();
        EXPECT_EQ(LastEnd(senders, {}), fluid.Run());
    }
}

/** Two switches store 4000 bytes, 0.4 us each, before they forward them. */
TEST(CorrectedTransport, SwitchesStoreBeforeTheyForward)
{
    CorrectionSpec spec;
    spec.forwarding.packet = Bytes(4000);
    EXPECT_NEAR(LastEnd(1, spec), 3 + 100 + 2 * 0.4, 1e-6);
}

/** Latency stays, bytes take as much longer as less of the link is theirs. */
TEST(CorrectedTransport, PartOfALinkStaysUnused)
{
    CorrectionSpec spec;
    spec.utilization.ofLink = 0.8;
    EXPECT_NEAR(LastEnd(1, spec), 3 + 100 / 0.8, 1e-6);
    EXPECT_NEAR(LastEnd(4, spec), 3 + 400 / 0.8, 1e-6);
}

/** A flow that shares no port is never cut; four that overload one come back slowly. */
TEST(CorrectedTransport, RatesComeBackSlowlyAfterACut)
{
    CorrectionSpec spec;
    spec.recovery.period = Time::Microseconds(300);
    EXPECT_NEAR(LastEnd(1, spec), 103, 1e-6);
    const double incast = LastEnd(4, spec);
    EXPECT_GT(incast, 403 * 1.01);
    // Within a period flows get back half of what they lack of their port's rate, as much as their
    // share: later than twice the fluid's end and two periods none is left.
    EXPECT_LT(incast, 2 * 403 + 600);
}

} // namespace
