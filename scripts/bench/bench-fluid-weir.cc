// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-fabric.h"
#include "fluid-pattern.h"
#include "process-cost.h"

#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

using namespace weir;

/** Runs a pattern on the fluid transport. */
class Player : public FlowClient
{
  public:
    /** @param keepsTimes whether to store the finish time of each flow, or only the last one */
    Player(const FluidFabric& fabric, const FluidPattern& pattern, uint32_t ranks, bool keepsTimes)
        : m_fabric(fabric),
          m_pattern(pattern),
          m_known(ranks)
    {
        // The end points of links are irrelevant here, except that no links may be parallel.
        DeviceId from = m_topology.AddDevice(DeviceKind::Host, "0");
        for (const FluidLink& link : fabric.Links())
        {
            const DeviceId to =
                m_topology.AddDevice(DeviceKind::Host, std::to_string(m_topology.DeviceCount()));
            m_topology.AddLink(from,
                               to,
                               LinkKind::Network,
                               Rate::BytesPerSecond(link.bytesPerSecond),
                               Time::Seconds(link.latency));
            from = to;
        }
        m_routing = std::make_unique<Routing>(m_topology, FabricSpec());
        m_transport = std::make_unique<FluidTransport>(*m_routing);
        finish.assign(keepsTimes ? pattern.Count() : 0, -1);
    }

    void Run()
    {
        for (Time t = NextTime(); !t.IsInfinite(); t = NextTime())
        {
            if (m_transport->NextEventTime() <= t)
            {
                m_transport->AdvanceTo(t);
            }
            while (FirstToStart() <= t)
            {
                Start(m_next++, t);
            }
            instants++;
        }
    }

    void OnFlowDone(uint64_t flow, Time now) override
    {
        done++;
        last = now;
        if (!finish.empty())
        {
            finish[flow] = now.ToSeconds();
        }
        m_followers.clear();
        m_pattern.AddFollowers(static_cast<uint32_t>(flow), m_followers);
        for (const uint32_t follower : m_followers)
        {
            if (IsLastToWaitFor(follower))
            {
                Start(follower, now);
            }
        }
    }

    std::vector<double> finish; //!< seconds, by flow; empty if not stored
    Time last;                  //!< end of the last flow
    uint64_t instants{0};
    uint64_t done{0};

  private:
    Time NextTime()
    {
        return std::min(FirstToStart(), m_transport->NextEventTime());
    }

    /** The start time of the next flow that waits for no other, which is m_next. */
    Time FirstToStart()
    {
        while (m_next < m_pattern.Count() && m_pattern.Waits(m_next) > 0)
        {
            m_next++;
        }
        return m_next < m_pattern.Count() ? Time::Seconds(m_pattern.Flow(m_next).start)
                                          : Time::Infinite();
    }

    bool IsLastToWaitFor(uint32_t flow)
    {
        const uint32_t waits = m_pattern.Waits(flow);
        if (waits == 1)
        {
            return true;
        }
        const auto ended = m_ended.try_emplace(flow, 0).first;
        if (++ended->second < waits)
        {
            return false;
        }
        m_ended.erase(ended);
        return true;
    }

    RouteId Route(uint32_t source, uint32_t destination)
    {
        Known& known = m_known[source];
        if (!known.route.IsValid() || known.destination != destination)
        {
            m_links.clear();
            for (uint32_t link : m_fabric.Route(source, destination))
            {
                m_links.emplace_back(link);
            }
            known = {destination, m_routing->AddFixed(m_links)};
        }
        return known.route;
    }

    void Start(uint32_t number, Time now)
    {
        const FluidFlow flow = m_pattern.Flow(number);
        FlowRequest request;
        request.route = Route(flow.source, flow.destination);
        request.bytes = Bytes(static_cast<int64_t>(flow.bytes));
        request.client = this;
        request.token = number;
        m_transport->Start(request, now);
    }

    /** The last route that a rank used. */
    struct Known
    {
        uint32_t destination{0};
        RouteId route;
    };

    const FluidFabric& m_fabric;
    const FluidPattern& m_pattern;
    Topology m_topology;
    std::unique_ptr<Routing> m_routing;
    std::unique_ptr<FluidTransport> m_transport;
    std::vector<Known> m_known; //!< by source
    uint32_t m_next{0};         //!< all flows before it have started or wait for others
    std::unordered_map<uint32_t, uint32_t>
        m_ended; //!< by flow that waits for several: number of these that have ended
    std::vector<uint32_t> m_followers; //!< scratch of OnFlowDone
    std::vector<LinkId> m_links;       //!< scratch of Route
};

} // namespace

int
main(int argc, char** argv)
{
    if (argc < 4 || argc > 6)
    {
        std::fprintf(stderr,
                     "usage: %s FABRIC PATTERN RANKS [SEED [FINISH-TIMES-OUT]]\n"
                     "prints: flows,cpu_s,peak_bytes,makespan_s,instants; how many flows there\n"
                     "are, and no more, when FABRIC is 'count'\n",
                     argv[0]);
        return 2;
    }
    try
    {
        const auto ranks = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
        const uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
        const auto pattern = MakePattern(argv[2], ranks, seed);
        if (std::strcmp(argv[1], "count") == 0)
        {
            std::printf("%u\n", pattern->Count());
            return 0;
        }
        const FluidFabric fabric(argv[1], ranks);
        Player player(fabric, *pattern, ranks, argc > 5);
        const double before = CpuSeconds(); // excludes building the fabric; includes finding paths
        player.Run();
        const double cpu = CpuSeconds() - before;
        if (player.done != pattern->Count())
        {
            throw std::runtime_error("not all flows have ended");
        }
        std::printf("%u,%.6f,%.0f,%.12g,%llu\n",
                    pattern->Count(),
                    cpu,
                    PeakBytes(),
                    player.last.ToSeconds(),
                    static_cast<unsigned long long>(player.instants));
        if (argc > 5)
        {
            WriteFinishTimes(argv[5], player.finish);
        }
        return 0;
    }
    catch (const std::exception& e)
    {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 2;
    }
}
