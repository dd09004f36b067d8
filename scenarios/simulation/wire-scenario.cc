// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/wire-scenario.h"

#include "fabric/routing/flow-hash.h"
#include "scenarios/bound/call-position.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/simulation/fabric-events.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

bool
HasLinkFailures(const Scenario& scenario)
{
    return std::any_of(scenario.events.begin(), scenario.events.end(), [](const EventSpec& event) {
        return event.kind == EventKind::LinkDown || event.kind == EventKind::Flap ||
               event.kind == EventKind::Failures;
    });
}

/** Whether the network connects all NICs of the cluster. */
bool
AreNicsJoined(const Cluster& cluster, Router& router)
{
    for (uint32_t node = 0; node < cluster.NodeCount() && cluster.NicsPerNode() > 0; node++)
    {
        for (uint32_t nic = 0; nic < cluster.NicsPerNode(); nic++)
        {
            if (!router.IsReachable(cluster.NicDevice(0, 0),
                                    cluster.NicDevice(node, nic),
                                    KindBit(LinkKind::Network)))
            {
                return false;
            }
        }
    }
    return cluster.NicsPerNode() > 0;
}

Fidelity
FidelityOf(const Scenario& scenario, const std::string& job)
{
    const std::vector<std::string>& jobs = scenario.hybrid.jobs;
    const bool isPackets = scenario.fidelity == Fidelity::Hybrid &&
                           std::find(jobs.begin(), jobs.end(), job) != jobs.end();
    return isPackets ? Fidelity::Packet : scenario.fidelity;
}

TransportSpec
TransportOf(const Scenario& scenario)
{
    return TransportOf(scenario.fidelity,
                       scenario.packets,
                       scenario.hybrid.coupling,
                       scenario.sharing,
                       scenario.corrections);
}

/** @throws InputError when the training jobs need more GPUs than the system has. */
void
CheckGpuCount(const Scenario& scenario, const Cluster& cluster)
{
    uint64_t needed = 0;
    for (const auto& job : scenario.jobs)
    {
        needed += job.plan.Ranks();
        if (needed > cluster.GpuCount())
        {
            throw InputError(scenario.path + ": jobs: job '" + job.name +
                             "' raises the required number to " + std::to_string(needed) +
                             " GPUs, the system has " + std::to_string(cluster.GpuCount()) + " (" +
                             FormatNodes(cluster.NodeCount()) + " of " +
                             std::to_string(cluster.GpusPerNode()) + ")");
        }
    }
}

/**
 * Adds the scenario's traffic jobs.
 * @throws InputError in fidelity analytical, which has no shared links, or when traffic has more
 *         flows than memory holds.
 */
void
AddTraffic(Simulation& simulation, const Scenario& scenario)
{
    for (const TrafficJobSpec& spec : scenario.traffics)
    {
        const std::string& where = spec.where.empty() ? scenario.path : spec.where;
        if (scenario.fidelity == Fidelity::Analytical)
        {
            throw InputError(where +
                             ": found traffic with fidelity analytical, which ignores load, "
                             "expected fidelity stream, flow, packet or hybrid");
        }
        JobPlacer placer(simulation.GetCluster()); // traffic shares GPUs with jobs
        const auto gpus = placer.Place(spec.name, spec.gpus, spec.placement, spec.gpusWhere);
        const FlowForm form = FormOf(FidelityOf(scenario, spec.name));
        const TrafficJob& job = *ConvertErrors(
            where, [&] { return &simulation.AddTrafficJob(spec.name, spec.traffic, gpus, form); });
        if (spec.until.empty())
        {
            CheckFlowCount(spec.traffic, job.MeanFlowCount());
        }
    }
}

void
AddJobs(Simulation& simulation, const Scenario& scenario)
{
    const auto scales = ConvertErrors(
        scenario.path, [&] { return ComputeScales(scenario.events, simulation.GetCluster()); });
    JobPlacer placer(simulation.GetCluster());
    for (const JobSpec& spec : scenario.jobs)
    {
        TrainingJobSpec job = spec;
        job.gpus = placer.Place(spec.name, spec.plan.Ranks(), spec.placement, spec.where);
        for (std::size_t rank = 0; rank < job.gpus.size() && !scales.empty(); rank++)
        {
            job.computeScale.push_back(scales[job.gpus[rank].Index()]);
        }
        ConvertErrors(spec.where.empty() ? scenario.path : spec.where, [&] {
            simulation.AddJob(job, scenario.gpu, FidelityOf(scenario, spec.name));
        });
    }
    for (const CollectiveJobSpec& spec : scenario.collectives)
    {
        const auto gpus = placer.Place(spec.name, spec.gpus, spec.placement, spec.gpusWhere);
        if (gpus.size() < 2)
        {
            throw InputError((spec.placement.where.empty() ? "placement" : spec.placement.where) +
                             ": found 1 free GPU for collective '" + spec.name +
                             "', expected at least 2");
        }
        CallSequence sequence{{}, spec.calls, spec.start, spec.period};
        for (const CalledCollective& called : spec.sequence)
        {
            CollectiveCall call;
            call.op = called.op;
            call.bytes = called.bytes;
            call.overrides = called.overrides;
            sequence.calls.push_back(call);
        }
        ConvertErrors(spec.where.empty() ? scenario.path : spec.where, [&] {
            const Fidelity fidelity = FidelityOf(scenario, spec.name);
            simulation.AddCollective(gpus, sequence, fidelity, {}).SetName(spec.name);
        });
    }
    AddTraffic(simulation, scenario);
}

/** Registers the jobs that continue until another job has ended. */
void
KeepBusy(Simulation& simulation, const Scenario& scenario)
{
    struct Named
    {
        WorkId id;
        const std::string& name;
        const std::string& until;
    };

    std::vector<Named> all;
    const auto add = [&all](WorkId::Kind kind, const auto& jobs) {
        for (std::size_t i = 0; i < jobs.size(); i++)
        {
            all.push_back({{kind, i}, jobs[i].name, jobs[i].until});
        }
    };
    add(WorkId::Kind::Training, scenario.jobs);
    add(WorkId::Kind::Collective, scenario.collectives);
    add(WorkId::Kind::Traffic, scenario.traffics);
    for (const Named& job : all)
    {
        for (const Named& other : all)
        {
            if (job.until == other.name)
            {
                simulation.KeepBusyUntil(job.id, other.id);
            }
        }
    }
}

/** Plans the calls of jobs whose GPUs may be disconnected, now or when links fail. */
void
PlanJobs(Simulation& simulation, const Scenario& scenario)
{
    const Cluster& cluster = simulation.GetCluster();
    const bool isWhole =
        cluster.NodeCount() == 1 || AreNicsJoined(cluster, simulation.GetRouting().GetRouter());
    for (std::size_t job = 0; job < scenario.jobs.size() && (HasLinkFailures(scenario) || !isWhole);
         job++)
    {
        ConvertErrors(scenario.path + ": jobs." + std::to_string(job) + " (" +
                          scenario.jobs[job].name + ")",
                      [&] { simulation.PlanAllCalls(JobId(job)); });
    }
}

[[noreturn]] void
Fail(const PlacementSpec& placement, const std::string& message)
{
    throw InputError((placement.where.empty() ? "placement" : placement.where) + ": " + message);
}

/** The switch that a NIC's first network port is attached to; invalid if there is none. */
DeviceId
SwitchOf(const Topology& topology, DeviceId nic)
{
    for (const LinkId link : topology.LinksFrom(nic))
    {
        if (topology.GetLink(link).kind == LinkKind::Network)
        {
            return topology.GetLink(link).to;
        }
    }
    return DeviceId();
}

} // namespace

std::unique_ptr<Simulation>
WireScenario(const Scenario& scenario)
{
    auto simulation = ConvertErrors(scenario.path + ": system", [&] {
        try
        {
            return std::make_unique<Simulation>(
                scenario.cluster, scenario.nccl, TransportOf(scenario));
        }
        catch (const std::invalid_argument& error)
        {
            if (!IsOfPackets(error.what()))
            {
                throw;
            }
            throw InputError(scenario.path + ": network." + error.what());
        }
    });
    ExpectSimulated(
        scenario.events, scenario.fidelity, scenario.packets.settle.IsOn(), scenario.path);
    CheckGpuCount(scenario, simulation->GetCluster());
    if (MovesChunks(scenario.fidelity))
    {
        simulation->GetPlanner().UseClosedForms();
    }
    if (scenario.fidelity == Fidelity::Auto)
    {
        ConvertErrors(scenario.path, [&] {
            simulation->SetJudge(
                std::make_unique<BoundJudge>(simulation->GetPlanner(), scenario.automatic));
        });
    }
    AddJobs(*simulation, scenario);
    if (simulation->FindAutoEngine() != nullptr &&
        (scenario.HasLinkEvents() || !scenario.traffics.empty()))
    {
        simulation->FindAutoEngine()->ExpectOtherLoad();
    }
    KeepBusy(*simulation, scenario);
    ConvertErrors(scenario.path, [&] { simulation->AddEvents(scenario.events); });
    PlanJobs(*simulation, scenario);
    return simulation;
}

JobPlacer::JobPlacer(const Cluster& cluster)
    : m_cluster(cluster),
      m_takenBy(cluster.GpuCount())
{
}

std::vector<uint32_t>
JobPlacer::NodesAcrossLeaves(const PlacementSpec& placement) const
{
    std::vector<std::pair<std::size_t, uint32_t>> order; // index of the node at its leaf, node
    std::vector<std::size_t> taken(m_cluster.GetTopology().DeviceCount());
    for (uint32_t node = 0; node < m_cluster.NodeCount(); node++)
    {
        const DeviceId leaf = m_cluster.NicsPerNode() == 0
                                  ? DeviceId()
                                  : SwitchOf(m_cluster.GetTopology(), m_cluster.NicDevice(node, 0));
        if (!leaf.IsValid())
        {
            Fail(placement, "found nodes that no switch connects, expected another placement");
        }
        order.emplace_back(taken[leaf.Index()]++, node);
    }
    std::stable_sort(
        order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<uint32_t> nodes;
    for (const auto& [position, node] : order)
    {
        nodes.push_back(node);
    }
    return nodes;
}

std::vector<uint32_t>
JobPlacer::NodesAtLeaves(const PlacementSpec& placement) const
{
    std::vector<uint32_t> nodes;
    for (const std::string& name : placement.leaves)
    {
        const DeviceId leaf = m_cluster.GetTopology().FindDevice(name);
        const std::size_t before = nodes.size();
        for (uint32_t node = 0; leaf.IsValid() && node < m_cluster.NodeCount(); node++)
        {
            for (uint32_t nic = 0; nic < m_cluster.NicsPerNode(); nic++)
            {
                if (SwitchOf(m_cluster.GetTopology(), m_cluster.NicDevice(node, nic)) == leaf)
                {
                    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end())
                    {
                        nodes.push_back(node);
                    }
                    break;
                }
            }
        }
        if (nodes.size() == before)
        {
            Fail(placement,
                 "found '" + name + "', expected a switch that further nodes are attached to");
        }
    }
    return nodes;
}

std::vector<uint32_t>
JobPlacer::NodesOf(const PlacementSpec& placement) const
{
    if (placement.kind == Placement::AcrossLeaves)
    {
        return NodesAcrossLeaves(placement);
    }
    if (placement.kind == Placement::Leaves)
    {
        return NodesAtLeaves(placement);
    }
    std::vector<uint32_t> nodes(m_cluster.NodeCount());
    std::iota(nodes.begin(), nodes.end(), 0);
    if (placement.kind == Placement::Nodes)
    {
        return placement.list;
    }
    if (placement.kind == Placement::Strided)
    {
        nodes.clear();
        for (uint32_t first = 0; first < placement.stride; first++)
        {
            for (uint32_t node = first; node < m_cluster.NodeCount(); node += placement.stride)
            {
                nodes.push_back(node);
            }
        }
    }
    if (placement.kind == Placement::Random)
    {
        // Fisher-Yates shuffle; each draw is a hash of the seed and the draw's index.
        for (std::size_t left = nodes.size(); left > 1; left--)
        {
            const uint64_t draw = SplitMix64(placement.seed ^ SplitMix64(left));
            std::swap(nodes[left - 1], nodes[draw % left]);
        }
    }
    return nodes;
}

std::vector<GpuId>
JobPlacer::CandidatesOf(const PlacementSpec& placement) const
{
    std::vector<GpuId> gpus;
    const bool isList = placement.kind == Placement::Gpus;
    const uint32_t perNode = isList ? 1 : m_cluster.GpusPerNode();
    const uint32_t max = isList ? m_cluster.GpuCount() : m_cluster.NodeCount();
    for (const uint32_t each : isList ? placement.list : NodesOf(placement))
    {
        if (each >= max)
        {
            Fail(placement,
                 "found " + std::string(isList ? "GPU " : "node ") + std::to_string(each) +
                     ", expected one of 0 to " + std::to_string(max - 1));
        }
        for (uint32_t local = 0; local < perNode; local++)
        {
            gpus.emplace_back(each * perNode + local);
        }
    }
    return gpus;
}

std::vector<GpuId>
JobPlacer::Place(const std::string& job,
                 uint32_t ranks,
                 const PlacementSpec& placement,
                 const std::string& ranksWhere)
{
    const bool isList = placement.kind == Placement::Gpus || placement.kind == Placement::Nodes;
    std::vector<GpuId> gpus;
    for (const GpuId gpu : CandidatesOf(placement))
    {
        std::string& owner = m_takenBy[gpu.Index()];
        if (ranks > 0 && gpus.size() == ranks)
        {
            break;
        }
        if (owner.empty())
        {
            owner = job;
            gpus.push_back(gpu);
        }
        else if (isList)
        {
            Fail(placement,
                 "found GPU " + std::to_string(gpu.Index()) + ", which job '" + owner +
                     "' has, expected one that is free");
        }
    }
    if (gpus.empty() || gpus.size() < ranks)
    {
        const std::string message = "found " + std::to_string(gpus.size()) +
                                    " free GPUs for job '" + job + "', expected " +
                                    (ranks == 0 ? "at least 1" : std::to_string(ranks));
        if (placement.where.empty() && !ranksWhere.empty())
        {
            throw InputError(ranksWhere + ": " + message);
        }
        Fail(placement, message);
    }
    return gpus;
}

} // namespace weir
