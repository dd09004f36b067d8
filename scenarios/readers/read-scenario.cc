// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-scenario.h"

#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "fabric/routing/flow-hash.h"
#include "fabric/topology/cluster.h"
#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/key-uses.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/read-event.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-layer-table.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-nccl.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-plan.h"
#include "scenarios/readers/read-traffic.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/results/link-series.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/size-list.h"

#include <algorithm>
#include <limits>

namespace weir
{
namespace
{

/**
 * Replaces the duration of every compute operation of @p graph that has kernel records by
 * ASTRA-sim's roofline, max(FLOPs / peak at @p precision, bytes / memory rate), with the datasheet
 * values of @p gpu (astra-sim/workload, Workload.cc: FLOPs / min(peak, rate x FLOPs / bytes)).
 * Other operations keep their duration.
 */
void
UseRoofline(StepGraph& graph, const Gpu& gpu, Precision precision)
{
    const double peak = gpu.DatasheetPeak(precision).ToFlopsPerSecond();
    const double rate = gpu.memoryRate.ToBytesPerSecond();
    for (StepProgram& program : graph.programs)
    {
        for (auto& ops : program.streams)
        {
            for (StepOp& op : ops)
            {
                Time sum;
                for (uint32_t i = 0; i < op.kernelCount; i++)
                {
                    KernelRecord& kernel = graph.kernels[op.firstKernel + i];
                    kernel.duration = Time::Seconds(
                        std::max(kernel.flops.ToDouble() / peak, kernel.bytes.ToDouble() / rate));
                    sum += kernel.duration;
                }
                op.duration = op.kernelCount > 0 ? sum : op.duration;
            }
        }
    }
}

constexpr int64_t MAX_INDEX = int64_t{1} << 24; // of nodes and GPUs
constexpr int64_t MAX_STEPS = 1'000'000;
constexpr double MAX_OVERLAP_SLOWDOWN = 100;
constexpr double MAX_VARIATION = 10;
constexpr double MIN_TOLERANCE = 1e-6;

/** The GPUs of the cluster, and how many the jobs read so far take. */
struct GpuBudget
{
    uint64_t taken{0};
    const ClusterSpec& cluster;

    void Take(const ParallelPlan& plan, const YamlNode& node)
    {
        const uint64_t had = static_cast<uint64_t>(cluster.nodes) * cluster.node.gpus;
        // Each is at most 65535, so the product fits in 64 bits.
        const uint64_t ranks =
            static_cast<uint64_t>(plan.tensor) * plan.context * plan.pipeline * plan.data;
        if (taken + ranks > had)
        {
            node.Fail(
                "found tensor " + std::to_string(plan.tensor) + " x pipeline " +
                std::to_string(plan.pipeline) +
                (plan.context > 1 ? " x context " + std::to_string(plan.context) : "") +
                " x data " + std::to_string(plan.data) + " = " + std::to_string(ranks) + " GPUs" +
                (taken > 0 ? " after " + std::to_string(taken) + " of earlier jobs" : "") +
                ", expected at most " + std::to_string(had - taken) + " (" +
                FormatNodes(cluster.nodes) + " of " + std::to_string(cluster.node.gpus) + ")");
        }
        taken += ranks;
    }
};

/** "modeled", "off", or one factor for all kernels. */
OverlapPolicy
ReadOverlap(const YamlNode& node)
{
    const std::string text = node.AsString();
    if (text == "modeled" || text == "off")
    {
        return {text == "off" ? OverlapKind::Off : OverlapKind::Modeled, 1};
    }
    if (text.find_first_not_of("0123456789.") != std::string::npos)
    {
        node.FailExpected("modeled, off or a factor of at least 1");
    }
    return {OverlapKind::Constant, node.AsNumber(1, MAX_OVERLAP_SLOWDOWN)};
}

/** @param seed for a jitter that gives none. */
JitterSpec
ReadJitter(const YamlNode& node, uint64_t seed)
{
    node.CheckKeys(YamlKeysOf("job.jitter"));
    JitterSpec jitter;
    jitter.seed = seed;
    bool isLognormal = true; // the only one
    node.Read("distribution", isLognormal, NamedChoices<bool>{{"lognormal", true}});
    jitter.coefficientOfVariation = node.Get("coefficientOfVariation").AsNumber(0, MAX_VARIATION);
    node.Read("per", jitter.scope, JitterScopeNames());
    node.Read("seed", jitter.seed, &YamlNode::AsSeed);
    return jitter;
}

/** Reads a number of steps, or the most steps to run until their mean is steady. */
void
ReadSteps(const YamlNode& node, JobSpec& job)
{
    if (!node.IsMap())
    {
        job.steps = node.AsCount(1, MAX_STEPS);
        return;
    }
    node.CheckKeys(YamlKeysOf("job.steps"));
    job.steady.tolerance = node.Get("untilSteady").AsNumber(MIN_TOLERANCE, 1);
    job.steps = node.Get("atMost").AsCount(1, MAX_STEPS);
}

/**
 * Refuses `untilSteady` and single steps where steps overlap: these have a period only from the
 * second step on, and their durations are not independent.
 */
void
CheckOverlappingSteps(const YamlNode& node, const JobSpec& job)
{
    if (!job.plan.OverlapsSteps())
    {
        return;
    }
    if (job.steady.IsOn())
    {
        node.Get("steps").Fail(
            "found untilSteady beside postValidation, whose steps overlap and "
            "so are not independent, expected a number of steps");
    }
    if (job.steps < 2)
    {
        node.Get("parallel")
            .Get("postValidation")
            .Fail("found true for a single step, expected steps of at least 2, which then overlap");
    }
}

/** Reads indices of at most 2^24, each once. */
std::vector<uint32_t>
ReadIndices(const YamlNode& node)
{
    std::vector<uint32_t> indices;
    for (const YamlNode& item : node.ItemsOf("at least one number"))
    {
        const uint32_t index = item.AsCount(0, MAX_INDEX);
        if (std::find(indices.begin(), indices.end(), index) != indices.end())
        {
            item.Fail("found " + std::to_string(index) + " again, expected each once");
        }
        indices.push_back(index);
    }
    return indices;
}

/** Reads a name, {kind, stride, seed}, {nodes: [...]}, {gpus: [...]} or {leaves: [...]}. */
PlacementSpec
ReadPlacement(const YamlNode& node)
{
    PlacementSpec placement;
    placement.where = node.Where();
    if (!node.IsMap())
    {
        placement.kind = node.AsEnum(PlacementNames());
        return placement;
    }
    for (const auto& [key, kind] : {std::pair("nodes", Placement::Nodes),
                                    std::pair("gpus", Placement::Gpus),
                                    std::pair("leaves", Placement::Leaves)})
    {
        if (const auto list = node.Find(key))
        {
            node.CheckKeys(YamlKeysOf(std::string("placement.") + key));
            placement.kind = kind;
            if (kind == Placement::Leaves)
            {
                placement.leaves = list->EachOf("at least one switch", &YamlNode::AsString);
            }
            else
            {
                placement.list = ReadIndices(*list);
            }
            return placement;
        }
    }
    node.CheckKeys(YamlKeysOf("placement"));
    placement.kind = node.Get("kind").AsEnum(PlacementNames());
    if (placement.kind == Placement::Strided)
    {
        node.Read("stride", placement.stride, &YamlNode::AsCount, 1, MAX_INDEX);
    }
    if (placement.kind == Placement::Random)
    {
        node.Read("seed", placement.seed, &YamlNode::AsSeed);
    }
    return placement;
}

/** Reads the number and placement of the GPUs of a job without a parallel plan. */
template <typename Job>
void
ReadGpus(const YamlNode& node, Job& job)
{
    job.gpusWhere = node.Where();
    if (const auto gpus = node.Find("gpus"))
    {
        job.gpus = gpus->AsCount(2, MAX_INDEX);
        job.gpusWhere = gpus->Where();
    }
    node.Read("placement", job.placement, ReadPlacement);
}

/** Reads a size above zero and up to LARGEST_CALL, so that Time can count the duration. */
Bytes
ReadCallSize(const YamlNode& node)
{
    const Bytes bytes = node.AsBytes();
    if (bytes == Bytes() || bytes > LARGEST_CALL)
    {
        node.FailExpected("a size above zero and up to " + FormatBytes(LARGEST_CALL));
    }
    return bytes;
}

CalledCollective
ReadCall(const YamlNode& node)
{
    return {node.Get("op").AsEnum(ChoicesUpTo(LAST_COLLECTIVE_OP)),
            ReadCallSize(node.Get("bytes")),
            ReadOverrides(node)};
}

CollectiveJobSpec
ReadCollectiveJob(const YamlNode& node)
{
    constexpr int64_t MAX_CALLS = 1'000'000'000;
    node.CheckKeys(YamlKeysOf("job (collective)"));
    CollectiveJobSpec job;
    job.where = node.Where();
    job.name = node.Get("name").AsString();
    const YamlNode collective = node.Get("collective");
    collective.CheckKeys(YamlKeysOf("job.collective"));
    if (const auto sequence = collective.Find("sequence"))
    {
        job.sequence = sequence->EachOf("at least one call", [](const YamlNode& item) {
            item.CheckKeys(YamlKeysOf("job.collective.sequence"));
            return ReadCall(item);
        });
        for (const char* key : {"op", "bytes", "algorithm", "protocol", "channels"})
        {
            if (const auto other = collective.Find(key))
            {
                other->Fail("found it beside a sequence, expected one of them");
            }
        }
    }
    else
    {
        job.sequence.push_back(ReadCall(collective));
    }
    collective.Read("every", job.period, &YamlNode::AsTime);
    if (const auto until = node.Find("until"))
    {
        job.until = until->AsString();
        job.calls = std::numeric_limits<uint32_t>::max();
    }
    else
    {
        job.calls = collective.Get("calls").AsCount(1, MAX_CALLS);
    }
    ReadGpus(node, job);
    node.Read("start", job.start, &YamlNode::AsTime);
    return job;
}

TrafficJobSpec
ReadTrafficJob(const YamlNode& node, const Catalog& catalog, uint64_t seed)
{
    node.CheckKeys(YamlKeysOf("job (traffic)"));
    TrafficJobSpec job;
    job.where = node.Where();
    job.name = node.Get("name").AsString();
    node.Read("until", job.until, &YamlNode::AsString);
    job.traffic = ReadTraffic(node.Get("traffic"), catalog, seed, !job.until.empty(), false);
    ReadGpus(node, job);
    node.Read("start", job.traffic.start, &YamlNode::AsTime);
    return job;
}

/** Requires a precision, given or default, that @p gpu supports. */
void
CheckPrecision(const YamlNode& job, const ParallelPlan& plan, const Gpu& gpu)
{
    const std::string wrong = WrongPrecision(gpu, plan.precision);
    if (wrong.empty())
    {
        return;
    }
    if (const auto precision = job.Find("precision"))
    {
        precision->Fail(wrong);
    }
    job.Fail("found no precision, and the default cannot be used: " + wrong);
}

/** Reads placement, start, steps, overlap and jitter of a job with a model or a workload. */
void
ReadExecution(const YamlNode& node, uint64_t seed, JobSpec& job)
{
    node.Read("placement", job.placement, ReadPlacement);
    node.Read("start", job.start, &YamlNode::AsTime);
    node.Read("until", job.until, &YamlNode::AsString);
    node.Read("overlapSlowdown", job.overlap, ReadOverlap);
    job.jitter.seed = seed;
    node.Read("jitter", job.jitter, ReadJitter, seed);
    if (const auto steps = node.Find("steps"))
    {
        ReadSteps(*steps, job);
    }
}

/** Reads a job with `workload` instead of a model: a file written by `weir import`. */
JobSpec
ReadWorkloadJob(const YamlNode& node, uint64_t seed, const Gpu& gpu, GpuBudget& budget)
{
    node.CheckKeys(YamlKeysOf("job (workload)"));
    JobSpec job;
    job.name = node.Get("name").AsString();
    const YamlNode file = node.Get("workload");
    job.workload = file.AsPathBesideFile();
    job.where = file.Where();
    job.recorded = std::move(ReadWorkload(job.workload).graph);
    job.plan.data = static_cast<uint32_t>(job.recorded->RankCount());
    job.steps = 1;
    job.overlap.kind = OverlapKind::Off; // recorded times already include it
    node.Read(
        "compute", job.isRoofline, NamedChoices<bool>{{"recorded", false}, {"roofline", true}});
    if (job.isRoofline)
    {
        node.Read("precision", job.plan.precision, PrecisionNames());
        CheckPrecision(node, job.plan, gpu);
        UseRoofline(*job.recorded, gpu, job.plan.precision);
    }
    ReadExecution(node, seed, job);
    budget.Take(job.plan, file);
    return job;
}

void
AppendNotes(std::vector<std::string>& notes, const std::vector<std::string>& more)
{
    notes.insert(notes.end(), more.begin(), more.end());
}

/** @param notes gets a note for each value without effect */
JobSpec
ReadJob(const YamlNode& node,
        const Catalog& catalog,
        uint64_t seed,
        GpuBudget& budget,
        std::vector<std::string>& notes)
{
    node.CheckKeys(YamlKeysOf("job"));
    JobSpec job;
    job.name = node.Get("name").AsString();
    if (IsLayerTable(node.Get("model"), catalog))
    {
        job.network = ReadLayerTable(node.Get("model"), catalog);
    }
    else
    {
        job.network = ReadModel(node.Get("model"), catalog);
    }
    const YamlNode parallel = node.Get("parallel");
    job.plan = ReadPlan(parallel, catalog);
    job.where = parallel.Where();
    ReadExecution(node, seed, job);
    if (const auto until = node.Find("until"); until && job.plan.postValidation)
    {
        until->Fail("found '" + job.until +
                    "' with postValidation, whose steps overlap, expected steps");
    }
    node.Read("precision", job.plan.precision, PrecisionNames());
    CheckPlanAt(job.network, job.plan, parallel, node.Get("model"));
    AppendNotes(notes, NotesOnPlanUse(parallel, job.plan, job.network));
    CheckOverlappingSteps(node, job);
    budget.Take(job.plan, parallel);
    return job;
}

/** Jobs draw independently of one another; the first draws by the scenario's own seed. */
uint64_t
SeedOfJob(uint64_t seed, std::size_t job)
{
    constexpr uint64_t WRITABLE = std::numeric_limits<int64_t>::max(); // as an integer of YAML
    return job == 0 ? seed : SplitMix64(seed ^ SplitMix64(job)) & WRITABLE;
}

/** @throws InputError when `until` names no job, or a job that has `until` itself. */
void
CheckUntil(const YamlNode& node)
{
    for (const YamlNode& item : node.Items())
    {
        const auto until = item.Find("until");
        const std::vector<YamlNode> others = node.Items();
        const bool isThere =
            until && std::any_of(others.begin(), others.end(), [&](auto& other) {
                return !other.Has("until") && other.Get("name").AsString() == until->AsString();
            });
        if (until && !isThere)
        {
            until->FailExpected("the name of a job without `until`");
        }
    }
}

void
ReadJobs(const YamlNode& node,
         const Catalog& catalog,
         const SystemDescription& system,
         Scenario& scenario)
{
    GpuBudget budget{0, system.cluster};
    std::vector<std::string> names;
    for (const YamlNode& item : node.ItemsOf("at least one job"))
    {
        if (item.IsMap() && item.Has("collective"))
        {
            scenario.collectives.push_back(ReadCollectiveJob(item));
        }
        else if (item.IsMap() && item.Has("traffic"))
        {
            // Seed numbers that no other kind of job uses.
            const uint64_t seed = SeedOfJob(scenario.seed, MAX_INDEX + scenario.traffics.size());
            scenario.traffics.push_back(ReadTrafficJob(item, catalog, seed));
        }
        else if (item.IsMap() && item.Has("workload"))
        {
            const uint64_t seed = SeedOfJob(scenario.seed, scenario.jobs.size());
            scenario.jobs.push_back(ReadWorkloadJob(item, seed, system.gpu, budget));
        }
        else
        {
            const uint64_t seed = SeedOfJob(scenario.seed, scenario.jobs.size());
            scenario.jobs.push_back(ReadJob(item, catalog, seed, budget, scenario.notes));
            CheckPrecision(item, scenario.jobs.back().plan, system.gpu);
        }
        const YamlNode name = item.Get("name");
        const std::string text = name.AsString();
        if (text.empty())
        {
            name.Fail("found '', expected a name");
        }
        if (text == "background")
        {
            name.Fail(
                "found 'background', the name of background flows in results, expected another "
                "name");
        }
        if (IsAmong(text, names))
        {
            name.Fail("found '" + text + "' again, expected another name for each job");
        }
        names.push_back(text);
    }
    CheckUntil(node);
}

/** Reads which flows move as packets: those of some jobs, of events, or over some links. */
void
ReadSelection(const YamlNode& node, HybridSelection& hybrid)
{
    node.CheckKeys(YamlKeysOf("network.packets"));
    node.Read("jobs", hybrid.jobs, &YamlNode::AsStrings);
    node.Read("flows", hybrid.flows, &YamlNode::AsBool);
    node.Read("links", hybrid.coupling.links, ReadLinkNames);
}

/**
 * @throws InputError at an unknown job or link, or in hybrid fidelity where nothing moves as
 *         packets.
 */
void
CheckSelection(const YamlNode& network, const Scenario& scenario)
{
    const HybridSelection& hybrid = scenario.hybrid;
    if (const auto packets = network.Find("packets"))
    {
        std::vector<std::string> names;
        const auto addNames = [&names](const auto& jobs) {
            for (const auto& job : jobs)
            {
                names.push_back(job.name);
            }
        };
        addNames(scenario.jobs);
        addNames(scenario.collectives);
        addNames(scenario.traffics);
        if (const auto jobs = packets->Find("jobs"))
        {
            for (const YamlNode& job : jobs->Items())
            {
                if (!IsAmong(job.AsString(), names))
                {
                    job.FailChoice(names);
                }
            }
        }
        if (const auto links = packets->Find("links"))
        {
            CheckLinks(*links, Cluster(scenario.cluster).GetTopology());
        }
    }
    if (scenario.fidelity != Fidelity::Hybrid)
    {
        return;
    }
    ExpectNotSettled(network, scenario.packets);
    if (hybrid.jobs.empty() && !hybrid.flows && hybrid.coupling.links.empty())
    {
        network.Get("fidelity")
            .Fail(
                "found 'hybrid' without any packets, expected packets: with jobs, flows or links "
                "beside it");
    }
}

void
ReadNetwork(const YamlNode& node, const Catalog& catalog, Scenario& scenario)
{
    scenario.packets = ReadPackets(node, YamlKeysOf("network"), catalog);
    if (const auto packets = node.Find("packets"))
    {
        ReadSelection(*packets, scenario.hybrid);
    }
    if (const auto coupling = node.Find("coupling"))
    {
        ReadParameters(*coupling, scenario.hybrid.coupling);
    }
    if (const auto sharing = node.Find("sharing"))
    {
        ReadParameters(*sharing, scenario.sharing);
    }
    node.Read("fidelity", scenario.fidelity, FidelityNames());
    node.Read("tolerance", scenario.automatic.tolerance, &YamlNode::AsPercent, 0, 1);
    node.Read("corrections", scenario.corrections, ReadCorrectionsFor, scenario.fidelity, catalog);
    if (scenario.fidelity == Fidelity::Auto)
    {
        scenario.automatic.calibration = ShippedCalibration(CalibratedThing::Collectives, catalog);
    }
    node.Read("nccl", scenario.nccl, ReadNccl);
}

/** Ranks to record: `all`, or a list of ranks that some training job has. */
void
ReadRecordedRanks(const YamlNode& node, const std::vector<JobSpec>& jobs, OutputSpec& output)
{
    if (node.IsScalar())
    {
        output.allRanks = node.AsString() == "all";
        if (!output.allRanks)
        {
            node.FailExpected("all or a list of ranks");
        }
        return;
    }
    uint32_t max = 0;
    for (const JobSpec& job : jobs)
    {
        max = std::max(max, job.plan.Ranks());
    }
    for (const YamlNode& item : node.Items())
    {
        if (max == 0)
        {
            item.Fail("found '" + item.AsString() + "' without training jobs, expected none");
        }
        output.ranks.push_back(item.AsCount(0, max - 1));
    }
}

void
ReadOutput(const YamlNode& node, Scenario& scenario)
{
    node.CheckKeys(YamlKeysOf("output"));
    OutputSpec& output = scenario.output;
    if (const auto file = node.Find("file"))
    {
        output.file = file->AsString();
        output.fileWhere = file->Where();
    }
    if (const auto timeline = node.Find("timeline"))
    {
        // true, false, or the name of the file
        const std::string text = timeline->AsString();
        output.timelineFile = text == "true" || text == "false" ? "" : text;
        output.timeline = text != "false";
        output.timelineWhere = timeline->Where();
    }
    const auto findSeries = [&node](const char* key) {
        const auto series = node.Find(key);
        const bool isOff = series && series->IsScalar() && series->AsString() == "none";
        return isOff ? std::nullopt : series;
    };
    if (const auto series = findSeries("linkSeries"))
    {
        output.linkSeries = ReadBinWidth(*series, LinkSeries::MIN_WIDTH);
    }
    const auto expectFile = [&output](const YamlNode& found) {
        if (output.file.empty() && !output.timeline)
        {
            found.Fail(
                "found it without a file, expected output.file or output.timeline beside it");
        }
    };
    if (const auto series = findSeries("portSeries"))
    {
        const Time width = ReadBinWidth(*series);
        if (scenario.fidelity == Fidelity::Packet || scenario.fidelity == Fidelity::Hybrid)
        {
            output.portSeries = width;
        }
        else
        {
            scenario.notes.push_back(NoteOnNoEffect(*series, "fidelity packet or hybrid"));
        }
        expectFile(*series);
    }
    if (const auto ranks = node.Find("ranks"))
    {
        expectFile(*ranks);
        ReadRecordedRanks(*ranks, scenario.jobs, output);
    }
    const bool timelineBeside = output.timeline && output.timelineFile.empty();
    if (output.file.empty() && (timelineBeside || output.linkSeries))
    {
        node.Get(timelineBeside ? "timeline" : "linkSeries")
            .Fail("found it without a file, expected output.file beside it");
    }
    const bool isSettled = scenario.fidelity == Fidelity::Packet && scenario.packets.settle.IsOn();
    if (isSettled && (output.linkSeries || output.portSeries))
    {
        node.Get(output.linkSeries ? "linkSeries" : "portSeries").Fail(EXPECTED_UNSETTLED);
    }
}

} // namespace

Scenario
ReadScenario(const YamlNode& node, const Catalog& catalog)
{
    KnownSystem none;
    return ReadScenario(node, catalog, none);
}

Scenario
ReadScenario(const YamlNode& node, const Catalog& catalog, KnownSystem& known)
{
    node.CheckKeys(YamlKeysOf("run"));
    Scenario scenario;
    scenario.path = node.File();
    node.Read("title", scenario.title, &YamlNode::AsString);
    node.Read("seed", scenario.seed, &YamlNode::AsSeed);
    const YamlNode system = node.Get("system");
    const std::string text = system.Dump();
    if (known.text != text)
    {
        known.system = ReadSystem(system, catalog);
        known.notes = CheckWiring(system, catalog, known.system.cluster);
        known.text = text;
    }
    scenario.cluster = known.system.cluster;
    scenario.gpu = known.system.gpu;
    AppendNotes(scenario.notes, known.notes);
    ReadJobs(node.Get("jobs"), catalog, known.system, scenario);
    if (const auto network = node.Find("network"))
    {
        ReadNetwork(*network, catalog, scenario);
        CheckSelection(*network, scenario);
        AppendNotes(scenario.notes, NotesOnNetworkUse(*network, scenario));
    }
    if (const auto events = node.Find("events"))
    {
        for (const YamlNode& event : events->Items())
        {
            scenario.events.push_back(ReadEvent(event, scenario.seed));
            if (scenario.fidelity == Fidelity::Hybrid && scenario.hybrid.flows)
            {
                scenario.events.back().form = FlowForm::Packets;
            }
        }
    }
    AppendNotes(scenario.notes, NotesOnEventUse(scenario));
    if (const auto output = node.Find("output"))
    {
        ReadOutput(*output, scenario);
    }
    node.CheckAllRead({"title", "source", "system", "model"});
    return scenario;
}

Scenario
LoadScenario(const std::string& nameOrPath,
             const std::vector<std::string>& settings,
             const Catalog& catalog)
{
    YamlNode node = YamlNode::Load(catalog.Find(CatalogKind::Runs, nameOrPath));
    ApplySettings(node, settings);
    return ReadScenario(node, catalog);
}

} // namespace weir
