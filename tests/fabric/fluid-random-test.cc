// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "plain-sharing.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/** An action on a fabric, and its time. */
struct Action
{
    enum Kind
    {
        Start,
        Reroute,
        Cancel,
        LinkRate
    } kind;

    Time at;
    std::size_t transfer; //!< index of the transfer that the action concerns
    std::vector<LinkId> links;
    FlowRequest request;
    double rate; //!< bytes/s
};

/** A random fabric and the actions on it. */
struct Play
{
    std::vector<double> capacities;
    std::vector<Action> actions;
};

std::vector<LinkId>
RandomLinks(RandomStream& random, std::size_t links)
{
    std::vector<LinkId> path;
    for (uint64_t hops = random.Below(5); hops > 0; hops--)
    {
        path.push_back(LinkId(random.Below(links))); // a link may occur twice
    }
    return path;
}

Play
RandomPlay(uint64_t seed)
{
    RandomStream random(seed);
    Play play;
    const bool regular = random.OneIn(3); // many ties: equal links, sizes, lock-step starts
    for (uint64_t l = 2 + random.Below(10); l > 0; l--)
    {
        play.capacities.push_back(regular ? 1e9 : random.PowerOfTen(1, 10));
    }
    const std::size_t links = play.capacities.size();
    std::vector<std::vector<LinkId>> paths(1 + random.Below(8));
    for (auto& path : paths)
    {
        path = RandomLinks(random, links);
    }
    Time at;
    std::size_t starts = 0;
    for (uint64_t n = 10 + random.Below(50); n > 0; n--)
    {
        Action action{};
        at += random.OneIn(2) ? Time() : Time::Seconds(regular ? 1e-3 : random.PowerOfTen(-6, -1));
        action.at = at;
        const uint64_t what = starts == 0 ? 9 : random.Below(10);
        action.kind = what == 0   ? Action::LinkRate
                      : what == 1 ? Action::Reroute
                      : what == 2 ? Action::Cancel
                                  : Action::Start;
        action.transfer = action.kind == Action::Start ? starts++ : random.Below(starts);
        action.links =
            random.OneIn(8) ? RandomLinks(random, links) : paths[random.Below(paths.size())];
        FlowRequest& request = action.request;
        request.bytes = Bytes(random.OneIn(8) ? 0
                              : regular       ? 1000000
                                              : int64_t(random.PowerOfTen(3, 9)));
        request.overhead = random.OneIn(2) ? Time() : Time::Seconds(random.PowerOfTen(-6, -2));
        request.weight = regular || random.OneIn(2) ? 1 : random.PowerOfTen(-2, 2);
        request.cap =
            random.OneIn(3) ? Rate::BytesPerSecond(random.PowerOfTen(4, 10)) : Rate::Infinite();
        action.rate = random.OneIn(4) ? 0 : regular ? 2e9 : random.PowerOfTen(1, 10);
        play.actions.push_back(action);
    }
    // Links that are down or slow recover at the end, so that all transfers finish.
    for (std::size_t l = 0; l < links; l++)
    {
        Action action{};
        action.kind = Action::LinkRate;
        action.at = at + Time::Seconds(1);
        action.links = {LinkId(l)};
        action.rate = 1e9;
        play.actions.push_back(action);
    }
    return play;
}

FillingFlow
FlowOf(const FlowRequest& request, const std::vector<LinkId>& links)
{
    FillingFlow flow{{}, request.weight, request.cap.ToBytesPerSecond()};
    for (auto link : links)
    {
        flow.links.emplace_back(link.Index(), 1);
    }
    return flow;
}

/** Reference: completion times by the plain event loop. */
std::vector<PlainTransfer>
PlayPlain(const Play& play)
{
    PlainSharing sharing;
    sharing.capacities = play.capacities;
    for (const auto& action : play.actions)
    {
        for (Time next = sharing.Next(); next <= action.at; next = sharing.Next())
        {
            sharing.AdvanceTo(next);
        }
        sharing.AdvanceTo(action.at);
        switch (action.kind)
        {
        case Action::Start:
            sharing.transfers.push_back({FlowOf(action.request, action.links),
                                         action.request.bytes.ToDouble(),
                                         action.at + action.request.overhead});
            break;
        case Action::Reroute: {
            auto& flow = sharing.transfers[action.transfer].flow;
            FlowRequest same;
            same.weight = flow.weight;
            same.cap = Rate::BytesPerSecond(flow.cap);
            flow = FlowOf(same, action.links);
            break;
        }
        case Action::Cancel: {
            auto& transfer = sharing.transfers[action.transfer];
            transfer.cancelled = transfer.finish.IsInfinite();
            break;
        }
        case Action::LinkRate:
            for (auto link : action.links)
            {
                sharing.capacities[link.Index()] = action.rate;
            }
            break;
        }
    }
    for (Time next = sharing.Next(); !next.IsInfinite(); next = sharing.Next())
    {
        sharing.AdvanceTo(next);
    }
    return sharing.transfers;
}

/** Records the last reported rate of each link. */
struct ToldRates : TransportObserver
{
    void OnLinkRate(LinkId link, Rate rate, Time now) override
    {
        rates[link.Index()] = rate.ToBytesPerSecond();
    }

    std::vector<double> rates;
};

/** Plays the actions on the transport and compares every rate with the oracle at every event. */
class FluidPlayer : public FlowClient
{
  public:
    /** @param isWatched whether link rates are observed and compared, too */
    FluidPlayer(const Play& play, bool isWatched)
        : m_play(play),
          m_isWatched(isWatched)
    {
        DeviceId last = m_topology.AddDevice(DeviceKind::Host, "d0");
        for (std::size_t l = 0; l < play.capacities.size(); l++)
        {
            const DeviceId next =
                m_topology.AddDevice(DeviceKind::Host, "d" + std::to_string(l + 1));
            m_topology.AddLink(
                last, next, LinkKind::Network, Rate::BytesPerSecond(play.capacities[l]), Time());
            last = next;
        }
        m_capacities = play.capacities;
        m_routing = std::make_unique<Routing>(m_topology, FabricSpec());
        m_transport = std::make_unique<FluidTransport>(*m_routing);
        m_told.rates.resize(m_capacities.size(), 0);
        if (m_isWatched)
        {
            m_transport->AddObserver(m_told, true);
        }
    }

    void OnFlowDone(uint64_t token, Time now) override
    {
        transfers[token].finish = now;
    }

    void Run()
    {
        for (const auto& action : m_play.actions)
        {
            for (Time next = m_transport->NextEventTime(); next <= action.at;
                 next = m_transport->NextEventTime())
            {
                Advance(next);
            }
            Do(action);
        }
        for (Time next = m_transport->NextEventTime(); !next.IsInfinite();
             next = m_transport->NextEventTime())
        {
            Advance(next);
        }
    }

    /** Bytes carried by each link, as counted by the transport. */
    std::vector<double> Carried()
    {
        std::vector<double> carried;
        for (std::size_t l = 0; l < m_capacities.size(); l++)
        {
            carried.push_back(m_transport->GetLinkUsage(LinkId(l)).bytes);
        }
        return carried;
    }

    std::vector<PlainTransfer> transfers; //!< rate: the last one observed
    std::vector<double> bytes;            //!< of each transfer
    std::size_t comparisons{0};

  private:
    void Advance(Time now)
    {
        ExpectRatesOfOracle(); // after the actions since the last event
        m_now = now;
        m_transport->AdvanceTo(now);
        ExpectRatesOfOracle();
    }

    void Do(const Action& action)
    {
        const RouteId route = m_routing->AddPinned(action.links);
        m_now = action.at;
        switch (action.kind)
        {
        case Action::Start: {
            FlowRequest request = action.request;
            request.route = route;
            request.addsLatency = false;
            request.client = this;
            request.token = transfers.size();
            transfers.push_back({FlowOf(request, action.links),
                                 request.bytes.ToDouble(),
                                 action.at + request.overhead});
            bytes.push_back(request.bytes.ToDouble());
            m_ids.push_back(m_transport->Start(request, action.at));
            break;
        }
        case Action::Reroute:
            if (m_transport->SetRoute(m_ids[action.transfer], route, action.at))
            {
                FlowRequest same;
                auto& flow = transfers[action.transfer].flow;
                same.weight = flow.weight;
                same.cap = Rate::BytesPerSecond(flow.cap);
                flow = FlowOf(same, action.links);
            }
            break;
        case Action::Cancel:
            transfers[action.transfer].cancelled |=
                m_transport->Cancel(m_ids[action.transfer], action.at);
            break;
        case Action::LinkRate:
            for (auto link : action.links)
            {
                m_transport->SetLinkRate(link, Rate::BytesPerSecond(action.rate), action.at);
                m_capacities[link.Index()] = action.rate;
            }
            break;
        }
    }

    void ExpectRatesOfOracle()
    {
        std::vector<FillingFlow> flows;
        std::vector<std::size_t> moving;
        for (std::size_t i = 0; i < transfers.size(); i++)
        {
            if (transfers[i].IsMoving(m_now) && transfers[i].left > 0)
            {
                flows.push_back(transfers[i].flow);
                moving.push_back(i);
            }
        }
        const auto rates = ProgressiveFilling(m_capacities, flows);
        std::vector<double> loads(m_capacities.size(), 0);
        for (std::size_t i = 0; i < moving.size(); i++)
        {
            const double found = m_transport->CurrentRate(m_ids[moving[i]]).ToBytesPerSecond();
            ASSERT_TRUE(found == rates[i] || std::abs(found - rates[i]) <= 1e-9 * rates[i])
                << "transfer " << moving[i] << " at " << m_now.ToPicoseconds() << " ps has "
                << found << ", oracle " << rates[i];
            transfers[moving[i]].rate = found;
            for (const auto& [link, times] : flows[i].links)
            {
                loads[link] += times * rates[i];
            }
            comparisons++;
        }
        for (std::size_t l = 0; l < loads.size(); l++)
        {
            ASSERT_NEAR(m_transport->CurrentLinkRate(LinkId(l)).ToBytesPerSecond(),
                        loads[l],
                        1e-9 * m_capacities[l]);
            if (m_isWatched)
            {
                ASSERT_NEAR(m_told.rates[l], loads[l], 1e-9 * m_capacities[l]) << "link " << l;
            }
        }
    }

    const Play& m_play;
    bool m_isWatched;
    ToldRates m_told;
    Topology m_topology;
    std::unique_ptr<Routing> m_routing;
    std::unique_ptr<FluidTransport> m_transport;
    std::vector<double> m_capacities;
    std::vector<FlowId> m_ids;
    Time m_now;
};

/** Bytes that each link must have carried at the end, if no transfer was rerouted or cancelled. */
std::vector<double>
BytesOverLinks(const Play& play)
{
    std::vector<double> bytes(play.capacities.size(), 0);
    for (const auto& action : play.actions)
    {
        for (auto link : action.links)
        {
            bytes[link.Index()] +=
                action.kind == Action::Start ? action.request.bytes.ToDouble() : 0;
        }
    }
    return bytes;
}

TEST(FluidRandom, RatesAndFinishTimesEqualThePlainEventLoop)
{
    std::size_t comparisons = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Play play = RandomPlay(seed);
        const auto expected = PlayPlain(play);
        FluidPlayer player(play, seed % 2 == 0);
        ASSERT_NO_FATAL_FAILURE(player.Run());
        ASSERT_EQ(player.transfers.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); i++)
        {
            ASSERT_EQ(player.transfers[i].finish.IsInfinite(), expected[i].finish.IsInfinite());
            if (!expected[i].finish.IsInfinite())
            {
                // Both simulations round event times to picoseconds, worth 0.01 bytes on the
                // fastest link; at a low last rate these bytes take long.
                const double exact = static_cast<double>(expected[i].finish.ToPicoseconds());
                const double bytes = 0.02 + 1e-9 * player.bytes[i];
                const double rate = player.transfers[i].rate;
                ASSERT_NEAR(static_cast<double>(player.transfers[i].finish.ToPicoseconds()),
                            exact,
                            2 + 1e-9 * exact + (rate > 0 ? bytes / rate * 1e12 : 0))
                    << "transfer " << i;
            }
        }
        comparisons += player.comparisons;
    }
    EXPECT_GT(comparisons, 100000U);
}

TEST(FluidRandom, EveryByteIsOnTheLinksItWentOver)
{
    for (uint64_t seed = 1; seed <= 200; seed++)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Play play = RandomPlay(seed);
        for (auto& action : play.actions)
        {
            const bool start = action.kind == Action::Start || action.kind == Action::LinkRate;
            action.kind = start ? action.kind : Action::LinkRate;
        }
        FluidPlayer player(play, false);
        ASSERT_NO_FATAL_FAILURE(player.Run());
        EXPECT_EQ(player.Carried(), BytesOverLinks(play));
    }
}

} // namespace
} // namespace weir
