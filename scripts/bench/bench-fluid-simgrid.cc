// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-fabric.h"
#include "fluid-pattern.h"
#include "process-cost.h"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace
{

using namespace weir;
namespace sg = simgrid::s4u;

/** Builds links and routes: shared links, no loopback, and routes only for the pairs in use. */
std::vector<sg::Host*>
BuildPlatform(const FluidFabric& fabric, const FluidPattern& pattern, uint32_t ranks)
{
    auto* zone = sg::create_full_zone("fabric");
    std::vector<sg::Host*> hosts;
    for (uint32_t i = 0; i < ranks; i++)
    {
        hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9)->seal());
    }
    std::vector<sg::Link*> links;
    for (const FluidLink& link : fabric.Links())
    {
        links.push_back(zone->create_link("l" + std::to_string(links.size()), link.bytesPerSecond)
                            ->set_latency(link.latency)
                            ->seal());
    }
    std::set<std::pair<uint32_t, uint32_t>> known;
    for (uint32_t i = 0; i < pattern.Count(); i++)
    {
        const FluidFlow flow = pattern.Flow(i);
        if (known.insert({flow.source, flow.destination}).second)
        {
            std::vector<sg::LinkInRoute> route;
            for (uint32_t link : fabric.Route(flow.source, flow.destination))
            {
                route.emplace_back(links[link]);
            }
            zone->add_route(hosts[flow.source]->get_netpoint(),
                            hosts[flow.destination]->get_netpoint(),
                            nullptr,
                            nullptr,
                            route,
                            false);
        }
    }
    zone->seal();
    return hosts;
}

/**
 * Creates a flow's activity when the flow starts, at its start time or when the last flow that it
 * waits for ends, and releases it at its end, as SimGrid walks lists of all existing activities.
 */
class Replay
{
  public:
    Replay(const FluidPattern& pattern, const std::vector<sg::Host*>& hosts)
        : m_pattern(pattern),
          m_hosts(hosts),
          m_waits(pattern.Count()),
          m_active(pattern.Count()),
          m_finish(pattern.Count())
    {
        for (uint32_t i = 0; i < pattern.Count(); i++)
        {
            m_waits[i] = pattern.Waits(i);
        }
        sg::Activity::on_completion_cb([this](const sg::Activity& activity) {
            OnEnd(static_cast<const sg::Comm&>(activity));
        });
    }

    void StartAll()
    {
        std::vector<uint32_t> later;
        for (uint32_t i = 0; i < m_pattern.Count(); i++)
        {
            if (m_waits[i] == 0 && m_pattern.Flow(i).start > 0)
            {
                later.push_back(i);
            }
            else if (m_waits[i] == 0)
            {
                Start(i);
            }
        }
        if (!later.empty())
        {
            sg::Actor::create("starter", m_hosts[0], [this, later] {
                for (const uint32_t flow : later)
                {
                    sg::this_actor::sleep_until(m_pattern.Flow(flow).start);
                    Start(flow);
                }
            });
        }
    }

    /** The finish times in seconds, by flow. */
    const std::vector<double>& FinishTimes() const
    {
        return m_finish;
    }

  private:
    void Start(uint32_t flow)
    {
        const FluidFlow what = m_pattern.Flow(flow);
        m_active[flow] = sg::Comm::sendto_init(m_hosts[what.source], m_hosts[what.destination])
                             ->set_payload_size(static_cast<uint64_t>(what.bytes));
        m_active[flow]->set_data(reinterpret_cast<void*>(static_cast<uintptr_t>(flow)));
        m_active[flow]->vetoable_start();
    }

    void OnEnd(const sg::Comm& comm)
    {
        const auto flow = static_cast<uint32_t>(
            reinterpret_cast<uintptr_t>(const_cast<sg::Comm&>(comm).get_data<void>()));
        m_finish[flow] = sg::Engine::get_clock();
        m_ended = std::move(m_active[flow]); // SimGrid still uses it; releases the previous one
        std::vector<uint32_t> followers;
        m_pattern.AddFollowers(flow, followers);
        for (const uint32_t follower : followers)
        {
            if (--m_waits[follower] == 0)
            {
                Start(follower);
            }
        }
    }

    const FluidPattern& m_pattern;
    const std::vector<sg::Host*>& m_hosts;
    std::vector<uint32_t> m_waits; //!< by flow: number of flows that it still waits for
    std::vector<sg::CommPtr> m_active;
    std::vector<double> m_finish;
    sg::CommPtr m_ended;
};

} // namespace

int
main(int argc, char** argv)
{
    sg::Engine engine(&argc, argv);
    if (argc < 4 || argc > 8)
    {
        std::fprintf(stderr,
                     "usage: %s FABRIC PATTERN RANKS [SEED [FINISH-TIMES-OUT [Lazy|Full\n"
                     "       [PRECISION]]]]\n"
                     "Lazy (SimGrid's default) re-solves what changed, Full everything;\n"
                     "PRECISION is of SimGrid's solver and times (default: as SimGrid has them).\n"
                     "prints: flows,cpu_s,peak_bytes,makespan_s\n",
                     argv[0]);
        return 2;
    }
    try
    {
        // CM02: latency plus max-min shares, without corrections for TCP.
        sg::Engine::set_config("network/model:CM02");
        sg::Engine::set_config("network/latency-factor:1");
        sg::Engine::set_config("network/bandwidth-factor:1");
        sg::Engine::set_config("network/weight-S:0");
        sg::Engine::set_config("network/TCP-gamma:0");
        sg::Engine::set_config("network/crosstraffic:0");
        sg::Engine::set_config(std::string("network/optim:") + (argc > 6 ? argv[6] : "Lazy"));
        if (argc > 7)
        {
            sg::Engine::set_config(std::string("surf/precision:") + argv[7]);
            sg::Engine::set_config(std::string("maxmin/precision:") + argv[7]);
        }
        const auto ranks = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
        const auto pattern =
            MakePattern(argv[2], ranks, argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
        const FluidFabric fabric(argv[1], ranks);
        const auto hosts = BuildPlatform(fabric, *pattern, ranks);
        const double before = CpuSeconds(); // excludes building routes; Weir's includes paths
        Replay replay(*pattern, hosts);
        replay.StartAll();
        engine.run();
        const double cpu = CpuSeconds() - before;
        const std::vector<double>& finish = replay.FinishTimes();
        const double last = *std::max_element(finish.begin(), finish.end());
        std::printf("%u,%.6f,%.0f,%.12g\n", pattern->Count(), cpu, PeakBytes(), last);
        if (argc > 5)
        {
            WriteFinishTimes(argv[5], finish);
        }
        std::fflush(stdout);
        std::_Exit(0); // the destruction of millions of activities is not measured
    }
    catch (const std::exception& e)
    {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 2;
    }
}
