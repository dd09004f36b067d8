// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-workload.h"

#include "fabric/fluid-transport.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

namespace
{

using namespace weir;

/** Plays a workload on the fluid transport. */
class Player : public TransferClient
{
  public:
    explicit Player(const Workload& workload)
        : finish(workload.flows.size(), -1),
          m_workload(workload),
          m_paths(m_topology)
    {
        // Who is at the ends of a link does not matter here.
        std::vector<DeviceId> devices;
        for (std::size_t i = 0; i <= workload.links.size(); i++)
        {
            devices.push_back(m_topology.AddDevice(DeviceKind::Host, std::to_string(i)));
        }
        for (std::size_t i = 0; i < workload.links.size(); i++)
        {
            m_topology.AddLink(devices[i],
                               devices[i + 1],
                               LinkKind::Network,
                               Rate::BytesPerSecond(workload.links[i].bytesPerSecond),
                               Time::Seconds(workload.links[i].latency));
        }
        m_transport = std::make_unique<FluidTransport>(m_paths);
        m_pathOf.resize(workload.flows.size());
        m_known.resize(workload.ranks);
        for (std::size_t i = 0; i < workload.flows.size(); i++)
        {
            m_pathOf[i] = Path(workload.flows[i].source, workload.flows[i].destination);
        }
    }

    void Run()
    {
        for (uint32_t i = 0; i < m_workload.flows.size(); i++)
        {
            if (m_workload.flows[i].startsAtOnce)
            {
                Start(i, Time());
            }
        }
        for (Time t = m_transport->NextEventTime(); !t.IsInfinite();
             t = m_transport->NextEventTime())
        {
            m_transport->AdvanceTo(t);
            instants++;
        }
    }

    void OnTransferDone(uint64_t flow, Time now) override
    {
        finish[flow] = now.ToSeconds();
        if (m_workload.flows[flow].next != WorkloadFlow::NONE)
        {
            Start(m_workload.flows[flow].next, now);
        }
    }

    std::vector<double> finish; //!< seconds, by flow
    uint64_t instants{0};

  private:
    PathId Path(uint32_t source, uint32_t destination)
    {
        Known& known = m_known[source];
        if (!known.path.IsValid() || known.destination != destination)
        {
            std::vector<LinkId> links;
            for (uint32_t link : m_workload.Route(source, destination))
            {
                links.emplace_back(link);
            }
            known = {destination, m_paths.Intern(links)};
        }
        return known.path;
    }

    void Start(uint32_t flow, Time now)
    {
        TransferRequest request;
        request.path = m_pathOf[flow];
        request.bytes = Bytes(static_cast<int64_t>(m_workload.flows[flow].bytes));
        request.latency = m_paths.Latency(request.path);
        request.client = this;
        request.token = flow;
        m_transport->Start(request, now);
    }

    struct Known
    {
        uint32_t destination{0};
        PathId path;
    };

    const Workload& m_workload;
    Topology m_topology;
    PathTable m_paths;
    std::unique_ptr<FluidTransport> m_transport;
    std::vector<Known> m_known;   //!< by source
    std::vector<PathId> m_pathOf; //!< by flow
};

} // namespace

int
main(int argc, char** argv)
{
    if (argc < 4 || argc > 6)
    {
        std::fprintf(stderr,
                     "usage: %s FABRIC PATTERN RANKS [SEED [FINISH-TIMES-OUT]]\n"
                     "prints: flows,instants,cpu_s,bytes_per_flow,peak_bytes,makespan_s\n",
                     argv[0]);
        return 2;
    }
    try
    {
        const Workload workload = MakeWorkload(argv[1],
                                               argv[2],
                                               std::strtoul(argv[3], nullptr, 10),
                                               argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
        const double bytesBefore = PeakBytes();
        const double before = CpuSeconds();
        Player player(workload);
        player.Run();
        const double cpu = CpuSeconds() - before;
        const double bytes = PeakBytes();
        double last = 0;
        for (double t : player.finish)
        {
            last = t > last ? t : last;
        }
        std::printf("%zu,%llu,%.6f,%.0f,%.0f,%.12g\n",
                    workload.flows.size(),
                    static_cast<unsigned long long>(player.instants),
                    cpu,
                    (bytes - bytesBefore) / static_cast<double>(workload.flows.size()),
                    bytes,
                    last);
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
