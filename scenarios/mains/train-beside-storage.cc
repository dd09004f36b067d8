// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//      leaf 0      leaf 1   ...  leaf 7         one leaf per rail, 400 Gb/s links: flows
//      | |  \      | |  \        | |  \.
//     nic0 of     nic1 of       nic7 of
//     0 1 .. 4    0 1 .. 4      0 1 .. 4
//
//     server 0 .. 3: 32 H100 that train      server 4: storage
//          |    |    |    |                     |
//     =====+====+====+====+=====================+====   1 Gb/s, 50 us: packets
//
// A training job, background traffic and ns-3's own packets in one simulation. Llama 3 8B trains on
// servers 0 to 3; the gradients and weights of a step cross the rails. Server 4 continuously sends
// them samples, in flows of random sizes at random times (FlowSource, an application of its node).
// Besides the fabric, hosts have a management network of stock ns-3 devices and applications: every
// training server sends heartbeats to server 4, and after the third step server 0 sends a packet
// that asks for a checkpoint. When it arrives, every GPU sends its part of weights and optimizer
// states to the GPU of its rail on server 4. The program prints, from trace sources, the duration
// of steps with the load of three link directions, flow completion times before, during and after
// the checkpoint, and the number of heartbeats received.
//
// Try: train-beside-storage --samples=0, or --checkpoint=0

#include "ns3/boolean.h"
#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/flow-source-helper.h"
#include "ns3/packet-socket-client.h"
#include "ns3/packet-socket-helper.h"
#include "ns3/packet-socket-server.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"

#include "scenarios/catalog.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t TRAINING_SERVERS = 4;
constexpr uint32_t STORAGE = TRAINING_SERVERS; // the server after them
constexpr uint32_t ASKING_STEP = 2;            // the third step
constexpr uint16_t HEARTBEATS = 1;             // protocol numbers of the management network
constexpr uint16_t CHECKPOINTS = 2;

/** The experiment: the state that its parts share, and its measurements. */
class Experiment
{
  public:
    /**
     * Sets up the experiment on a cluster.
     * @param cluster TRAINING_SERVERS servers and the storage
     * @param job the training job, installed
     */
    Experiment(const ClusterContainer& cluster, Ptr<TrainingJob> job)
        : m_cluster(cluster),
          m_job(job)
    {
        Ptr<FluidFabric> fabric = cluster.GetFabric();
        m_meters = {{"server 0 sends", fabric->FindLink("node0/nic0", "leaf0"), 0},
                    {"storage receives", fabric->FindLink("leaf0", "node4/nic0"), 0},
                    {"storage sends", fabric->FindLink("node4/nic0", "leaf0"), 0}};
        job->TraceConnectWithoutContext("StepFinished", MakeCallback(&Experiment::NoteStep, this));
    }

    /**
     * Starts the traffic of samples: Poisson arrivals on each rail, exponential sizes.
     * @param load mean load of a NIC of the storage, 0 to 1
     */
    void SendSamples(double load)
    {
        // One source per rail, to the GPUs of that rail on all training servers.
        const double bytes = 64e6;
        Ptr<FluidFabric> fabric = m_cluster.GetFabric();
        const uint32_t nic = fabric->FindLink("node4/nic0", "leaf0");
        const double interval = bytes / (load * fabric->GetLinkCapacity(nic).ToBytesPerSecond());
        int64_t stream = 1;
        for (uint32_t rail = 0; rail < m_cluster.GetNGpusPerServer(); rail++)
        {
            std::vector<uint32_t> receivers;
            for (uint32_t server = 0; server < TRAINING_SERVERS; server++)
            {
                receivers.push_back(m_cluster.GetGpu(server, rail));
            }
            FlowSourceHelper helper(receivers);
            helper.SetAttribute(
                "Size",
                StringValue("ns3::ExponentialRandomVariable[Mean=" + std::to_string(bytes) + "]"));
            helper.SetAttribute("Interval",
                                StringValue("ns3::ExponentialRandomVariable[Mean=" +
                                            std::to_string(interval) + "]"));
            ApplicationContainer source =
                helper.Install(m_cluster, {m_cluster.GetGpu(STORAGE, rail)});
            stream += helper.AssignStreams(source, stream);
            source.Get(0)->TraceConnectWithoutContext("FlowFinished",
                                                      MakeCallback(&Experiment::NoteSample, this));
        }
    }

    /**
     * Builds the management network with its heartbeats.
     * @param checkpoint bytes that every GPU sends when asked to
     */
    void Manage(uint64_t checkpoint)
    {
        m_checkpoint = checkpoint;
        const NodeContainer& servers = m_cluster.GetServers();
        PacketSocketHelper().Install(servers);
        SimpleNetDeviceHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        wire.SetChannelAttribute("Delay", StringValue("50us"));
        const NetDeviceContainer devices = wire.Install(servers);
        const auto address = [&devices](uint32_t from, uint16_t protocol) {
            PacketSocketAddress to;
            to.SetSingleDevice(devices.Get(from)->GetIfIndex());
            to.SetPhysicalAddress(devices.Get(STORAGE)->GetAddress());
            to.SetProtocol(protocol);
            return to;
        };

        // Stock applications: a heartbeat every 100 ms from every training server.
        for (uint32_t server = 0; server < TRAINING_SERVERS; server++)
        {
            Ptr<PacketSocketClient> heart = CreateObject<PacketSocketClient>();
            heart->SetAttribute("Interval", StringValue("100ms"));
            heart->SetAttribute("PacketSize", UintegerValue(64));
            heart->SetAttribute("MaxPackets", UintegerValue(0)); // no limit
            heart->SetRemote(address(server, HEARTBEATS));
            servers.Get(server)->AddApplication(heart);
        }
        Ptr<PacketSocketServer> monitor = CreateObject<PacketSocketServer>();
        monitor->SetLocal(address(STORAGE, HEARTBEATS));
        monitor->TraceConnectWithoutContext("Rx", MakeCallback(&Experiment::NoteHeartbeat, this));
        servers.Get(STORAGE)->AddApplication(monitor);

        // Own sockets: one that asks for a checkpoint, and one that starts it.
        const auto factory = TypeId::LookupByName("ns3::PacketSocketFactory");
        m_asking = Socket::CreateSocket(servers.Get(0), factory);
        m_asking->Bind();
        m_asking->Connect(address(0, CHECKPOINTS));
        m_asked = Socket::CreateSocket(servers.Get(STORAGE), factory);
        m_asked->Bind(address(STORAGE, CHECKPOINTS));
        m_asked->SetRecvCallback(MakeCallback(&Experiment::StartCheckpoint, this));
        m_parts = FlowSourceHelper().Install(m_cluster, m_cluster.GetGpus(0, TRAINING_SERVERS));
        for (uint32_t i = 0; i < m_parts.GetN(); i++)
        {
            m_parts.Get(i)->TraceConnectWithoutContext("FlowFinished",
                                                       MakeCallback(&Experiment::NotePart, this));
        }
    }

    /** Prints the measurements of flows and packets. */
    void Print() const
    {
        if (!m_samples.empty())
        {
            std::printf("flow completion times of samples, ms\n");
            std::printf("  %-12s %6s %8s %8s %8s\n", "started", "flows", "median", "99 %", "max");
        }
        for (const int when : {0, 1, 2})
        {
            std::vector<double> times;
            for (const auto& [started, microseconds] : m_samples)
            {
                if ((started >= m_began) + (started >= m_ended) == when)
                {
                    times.push_back(microseconds * 1e-3);
                }
            }
            if (times.empty())
            {
                continue;
            }
            std::sort(times.begin(), times.end());
            static const char* const NAMES[] = {"before", "during", "after"};
            std::printf("  %-12s %6zu %8.3f %8.3f %8.3f\n",
                        NAMES[when],
                        times.size(),
                        times[times.size() / 2],
                        times[times.size() * 99 / 100],
                        times.back());
        }
        std::printf("heartbeats received: %u\n", m_heartbeats);
    }

  private:
    /** A link and the bytes that it had carried at the end of the last step. */
    struct Meter
    {
        const char* what; //!< label
        uint32_t link;    //!< link number
        double bytes;     //!< carried before the current step
    };

    /** Trace sink of StepFinished. */
    void NoteStep(uint32_t step, weir::Time started, weir::Time finished)
    {
        // Trace sources fire in the middle of an instant; links are read after it.
        Simulator::ScheduleNow(&Experiment::PrintStep, this, step, started, finished);
        if (step == ASKING_STEP && m_checkpoint > 0)
        {
            Simulator::ScheduleNow(&Experiment::Ask, this);
        }
    }

    /** Prints a step with the mean load of the metered links. */
    void PrintStep(uint32_t step, weir::Time started, weir::Time finished)
    {
        Ptr<FluidFabric> fabric = m_cluster.GetFabric();
        const double seconds = (finished - started).ToSeconds();
        std::printf("step %u: %.3f ms; rail 0:", step, seconds * 1e3);
        for (Meter& meter : m_meters)
        {
            const double bytes = fabric->GetLinkUsage(meter.link).bytes;
            const double max = fabric->GetLinkCapacity(meter.link).ToBytesPerSecond() * seconds;
            std::printf("  %s %4.1f %%", meter.what, (bytes - meter.bytes) / max * 100);
            meter.bytes = bytes;
        }
        std::printf("\n");
        if (m_job->IsFinished())
        {
            Simulator::Stop();
        }
    }

    /** Trace sink of FlowFinished of samples. */
    void NoteSample(
        uint32_t source, uint32_t destination, uint64_t bytes, weir::Time started, weir::Time now)
    {
        m_samples.emplace_back(started, (now - started).ToMicroseconds());
    }

    /** Trace sink of FlowFinished of a checkpoint. */
    void NotePart(
        uint32_t source, uint32_t destination, uint64_t bytes, weir::Time started, weir::Time now)
    {
        m_partsEnded++;
        if (m_partsEnded == m_parts.GetN())
        {
            m_ended = now;
            std::printf("the checkpoint of %.1f GB took %.3f ms\n",
                        static_cast<double>(bytes * m_partsEnded) * 1e-9,
                        (now - started).ToMicroseconds() * 1e-3);
        }
    }

    /** Trace sink of Rx of heartbeats. */
    void NoteHeartbeat(Ptr<const Packet> packet, const Address& from)
    {
        m_heartbeats++;
    }

    /** Server 0 asks for a checkpoint, after the third step. */
    void Ask()
    {
        m_asking->Send(Create<Packet>(100));
        std::printf("server 0 requests a checkpoint at %.3f ms\n",
                    Simulator::Now().GetSeconds() * 1e3);
    }

    /** The storage starts a checkpoint when a request arrives. */
    void StartCheckpoint(Ptr<Socket> socket)
    {
        while (socket->Recv())
        {
            std::printf("storage receives the request at %.3f ms\n",
                        Simulator::Now().GetSeconds() * 1e3);
            m_began = m_cluster.GetFabric()->GetDriver()->Synchronize();
            for (uint32_t gpu = 0; gpu < m_parts.GetN(); gpu++)
            {
                const uint32_t rail = gpu % m_cluster.GetNGpusPerServer();
                DynamicCast<FlowSource>(m_parts.Get(gpu))
                    ->Send(m_cluster.GetGpu(STORAGE, rail), m_checkpoint);
            }
        }
    }

    ClusterContainer m_cluster;
    Ptr<TrainingJob> m_job;
    ApplicationContainer m_parts;               //!< one checkpoint source per training GPU
    std::vector<Meter> m_meters;                //!< metered links
    Ptr<Socket> m_asking;                       //!< of server 0
    Ptr<Socket> m_asked;                        //!< of the storage
    uint64_t m_checkpoint{0};                   //!< bytes per GPU
    weir::Time m_began{weir::Time::Infinite()}; //!< start of the checkpoint
    weir::Time m_ended{weir::Time::Infinite()}; //!< end of its last part
    uint32_t m_partsEnded{0};
    uint32_t m_heartbeats{0};
    std::vector<std::pair<weir::Time, double>> m_samples; //!< start, and duration (us)
};

} // namespace

int
main(int argc, char* argv[])
{
    double samples = 0.2;
    uint64_t checkpoint = 3000000000;
    uint32_t steps = 8;
    std::string fidelity = "stream";
    CommandLine cmd(__FILE__);
    cmd.AddValue("samples", "Mean load of the sample traffic on a storage NIC, 0 to 1", samples);
    cmd.AddValue("checkpoint", "Checkpoint size of each GPU (bytes)", checkpoint);
    cmd.AddValue("steps", "Number of steps", steps);
    cmd.AddValue("fidelity", "stream or flow", fidelity);
    cmd.Parse(argc, argv);

    const weir::Catalog catalog;
    const auto system = weir::ReadSystem(weir::YamlNode::Parse("hgx-h100", "system"), catalog);
    const auto model = weir::ReadModel(weir::YamlNode::Parse("llama-3-8b", "model"), catalog);

    ClusterHelper clusterHelper(system.cluster);
    ClusterContainer cluster = clusterHelper.Install(TRAINING_SERVERS + 1);

    TrainingJobHelper jobHelper(model, system.gpu);
    jobHelper.SetAttribute("Tensor", UintegerValue(8));
    jobHelper.SetAttribute("SequenceParallel", BooleanValue(true));
    jobHelper.SetAttribute("Data", UintegerValue(TRAINING_SERVERS));
    jobHelper.SetAttribute("DistributedOptimizer", BooleanValue(true));
    jobHelper.SetAttribute("GlobalBatch", UintegerValue(TRAINING_SERVERS));
    jobHelper.SetAttribute("Steps", UintegerValue(steps));
    jobHelper.SetAttribute("Fidelity", StringValue(fidelity));
    Ptr<TrainingJob> job = jobHelper.Install(cluster, cluster.GetGpus(0, TRAINING_SERVERS));

    Experiment experiment(cluster, job);
    if (samples > 0)
    {
        experiment.SendSamples(samples);
    }
    experiment.Manage(checkpoint);
    Simulator::Run();
    experiment.Print();
    Simulator::Destroy();
    return 0;
}
