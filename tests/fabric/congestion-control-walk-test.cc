// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "packet-bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

/**
 * @file
 * The walk of docs/developer/congestion-control.md: a congestion control that is defined and
 * registered only in this file carries flows. The page shows this code verbatim.
 */
namespace weir
{

/** A window that grows by a packet a round trip and is halved by a mark, at most once in one. */
class Aimd : public CongestionControl
{
  public:
    Aimd()
        : CongestionControl("aimd",
                            "Additive increase, multiplicative decrease (Chiu and Jain 1989).")
    {
    }

    double cut{0.5};

    void VisitParameters(ParameterVisitor& visitor) override
    {
        visitor.Number({"cut", "Of the window, by a mark."}, cut, {0.0, 1.0});
    }

    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override
    {
        return std::make_unique<Sender>(facts, cut);
    }

  private:
    class Sender : public SenderControl
    {
      public:
        Sender(const ConnectionFacts& facts, double cut)
            : m_mtu(facts.mtu),
              m_cut(cut)
        {
            m_rate = facts.lineRate;
            m_window = facts.BandwidthDelay();
        }

        void OnAck(const Acknowledgment& ack) override
        {
            if (!ack.isMarked)
            {
                m_window += m_mtu * ack.bytes / m_window;
            }
            else if (ack.next >= m_cutUntil)
            {
                m_window = std::max(m_mtu, m_window * (1 - m_cut));
                m_cutUntil = ack.sent;
            }
        }

      private:
        double m_mtu;
        double m_cut;
        uint64_t m_cutUntil{0};
    };
};

namespace
{

std::string
TextOf(const std::string& path)
{
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(CongestionControlWalk, PageShowsThisCode)
{
    const std::string folder = WEIR_SOURCE_DIR;
    const std::string page = TextOf(folder + "/docs/developer/congestion-control.md");
    const std::string fence = "```cpp\n";
    const std::size_t from = page.find(fence);
    ASSERT_NE(from, std::string::npos);
    const std::size_t begin = from + fence.size();
    const std::string code = page.substr(begin, page.find("```", begin) - begin);
    const std::string self = TextOf(folder + "/tests/fabric/congestion-control-walk-test.cc");
    EXPECT_NE(self.find(code), std::string::npos);
}

TEST(CongestionControlWalk, RegisteredByOneLineItHasKeys)
{
    CongestionControlRegistry controls = CongestionControls();
    controls.Add(Aimd());
    ASSERT_NE(controls.Find("aimd"), nullptr);
    Polymorphic<CongestionControl> control = *controls.Find("aimd");
    EXPECT_EQ(KeysOf(*control), std::vector<std::string>{"cut"});
}

/**
 * Two senders whose packets are marked above a queue of K keep a port busy and the queue below 2 K.
 */
TEST(CongestionControlWalk, CarriesFlows)
{
    PacketBench bench;
    const uint32_t middle = bench.AddSwitch();
    const uint32_t sink = bench.AddHost();
    const uint32_t a = bench.AddHost();
    const uint32_t b = bench.AddHost();
    for (const uint32_t host : {a, b})
    {
        bench.Join(host, middle, Rate::Gbps(100), Time::Microseconds(1));
    }
    const LinkId port = bench.Join(middle, sink, Rate::Gbps(100), Time::Microseconds(1));
    PacketSpec spec;
    spec.switches.markFrom = Bytes(100000);
    spec.switches.markAll = Bytes(100000);
    spec.congestionControl = Aimd();
    bench.Open(spec);
    bench.AddFlow(a, sink, Bytes::GiB(1));
    bench.AddFlow(b, sink, Bytes::GiB(1));
    bench.RunUntil(Time::Milliseconds(5));
    // The port is idle only until the first packets arrive.
    EXPECT_GT(static_cast<double>(bench.Network().Counters(port.Index()).bytes), 0.99 * 12.5e6 * 5);
    EXPECT_GT(bench.Network().Counters(port.Index()).marks, 0u);
    EXPECT_LT(bench.Network().Counters(port.Index()).maxQueued, 2 * 100000);
}

} // namespace
} // namespace weir
