// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-scenario.h"

#include "collectives/nccl/nccl-settings.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/readers/key-uses.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/traffic/traffic-pattern.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/yaml-writer.h"

#include <array>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace weir
{
namespace
{

void
WriteDimensionWise(YamlWriter& out, const DimensionWiseSettings& settings)
{
    out.BeginMap("dimensionWise");
    if (!settings.algorithms.empty())
    {
        std::vector<std::string> names;
        for (const DimensionAlgorithm algorithm : settings.algorithms)
        {
            names.emplace_back(ToString(algorithm));
        }
        out.List("perDimension", names);
    }
    out.Integer("chunks", settings.chunks);
    out.Flag("balanced", settings.balanced);
    if (const auto& dispatch = settings.dispatch)
    {
        out.Text("dispatch",
                 std::to_string(dispatch->expertsOfToken) + "/" +
                     std::to_string(dispatch->experts));
        out.Text("expertGroups",
                 std::to_string(dispatch->groupsOfToken) + "/" + std::to_string(dispatch->groups));
    }
    if (const auto& sparsity = settings.sparsity)
    {
        out.Text("density", FormatNumber(100 * sparsity->density) + "%");
        if (sparsity->selection < Rate::Infinite())
        {
            out.Speed("selectionRate", sparsity->selection);
        }
    }
    if (settings.endpointDelay)
    {
        out.Duration("endpointDelay", *settings.endpointDelay);
    }
    if (settings.memoryRate)
    {
        out.Speed("memoryRate", *settings.memoryRate);
    }
    out.EndMap();
}

/** Writes the key `nccl` of `network` in the format of ReadNccl. */
void
WriteNccl(YamlWriter& out, const NcclSettings& nccl)
{
    out.BeginMap("nccl");
    out.Text("version", nccl.version);
    if (!nccl.filter.GetAlgorithms().empty())
    {
        out.Text("algorithms", nccl.filter.GetAlgorithms());
    }
    if (!nccl.filter.GetProtocols().empty())
    {
        out.Text("protocols", nccl.filter.GetProtocols());
    }
    ParameterWriter writer(out);
    NcclSettings(nccl).VisitParameters(writer);
    if (nccl.dimensionWise.IsGiven())
    {
        WriteDimensionWise(out, nccl.dimensionWise);
    }
    out.EndMap();
}

/**
 * Writes the access distribution of a table. Classes are written with their total probability,
 * which the reader divides by their number of rows.
 */
void
WriteUse(YamlWriter& out, const EmbeddingTable& table)
{
    if (table.classes.empty())
    {
        out.Number("zipf", table.zipf);
        return;
    }
    out.BeginList("classes");
    for (const RowClass& one : table.classes)
    {
        out.Numbers({one.rows, one.rows * one.probability});
    }
    out.EndList();
    if (table.observed > 0)
    {
        out.Number("classesOf", table.observed);
    }
}

/** Writes a model's embedding tables as ReadLayerTable reads them; nothing if there are none. */
void
WriteEmbeddingTables(YamlWriter& out, const std::vector<EmbeddingTable>& tables)
{
    if (tables.empty())
    {
        return;
    }
    out.BeginMap("embeddings");
    out.BeginList("tables");
    for (const EmbeddingTable& table : tables)
    {
        out.BeginMap();
        out.Integer("rows", table.rows);
        out.Integer("dim", table.dim);
        out.Integer("pooling", table.pooling);
        WriteUse(out, table);
        out.EndMap();
    }
    out.EndList();
    out.EndMap();
}

void
WriteSampleShape(YamlWriter& out, const char* key, const SampleShape& shape)
{
    out.List(key, std::array{shape.channels, shape.height, shape.width});
}

/** Writes a job's `model:`, layer by layer; ReadLayerTable reads it back unchanged. */
void
WriteLayerTable(YamlWriter& out, const LayerTable& table)
{
    out.BeginMap("model");
    out.Text("name", table.name);
    out.Text("source", table.source);
    WriteSampleShape(out, "input", table.layers.front().in);
    WriteEmbeddingTables(out, table.embeddings);
    out.BeginList("network");
    for (const TableLayer& layer : table.layers)
    {
        out.BeginMap();
        out.Text("layer", NameOf(TableOpNames(), layer.op));
        out.Text("name", layer.name);
        WriteSampleShape(out, "in", layer.in);
        WriteSampleShape(out, "out", layer.out);
        const Window& window = layer.window;
        out.List("window", std::array{window.size, window.stride, window.padding});
        out.Integer("groups", layer.groups);
        out.Integer("rank", layer.rank);
        out.Flag("bias", layer.bias);
        out.EndMap();
    }
    out.EndList();
    out.EndMap();
}

/** Writes the format of ReadExpertLayers; nothing if there are no experts. */
void
WriteExpertLayers(YamlWriter& out, const ExpertLayers& moe)
{
    if (moe.experts == 0)
    {
        return;
    }
    out.BeginMap("experts");
    out.Integer("count", moe.experts);
    out.Integer("topK", moe.topK);
    out.Integer("ffn", moe.ffn);
    out.Integer("sharedFfn", moe.sharedFfn);
    out.Integer("firstLayer", moe.firstLayer);
    out.Integer("every", moe.every);
    out.EndMap();
}

/** Writes the format of ReadExpertLoad. */
void
WriteExpertLoad(YamlWriter& out, const ExpertLoad& load)
{
    if (load.IsBalanced() && load.capacityFactor == 0)
    {
        return; // the default
    }
    out.BeginMap("expertLoad");
    if (load.capacityFactor > 0) // the other settings then have no effect
    {
        out.Number("capacityFactor", load.capacityFactor);
    }
    else if (load.shares.empty() && load.imbalance > 1)
    {
        out.Number("imbalance", load.imbalance);
        out.Integer("seed", load.seed);
    }
    else if (!load.shares.empty())
    {
        out.BeginList("shares");
        for (const double share : load.shares)
        {
            out.Item(FormatNumber(share));
        }
        out.EndList();
    }
    out.EndMap();
}

/** Writes the map `traffic` of a job in the format of ReadTraffic. */
void
WriteTraffic(YamlWriter& out, const TrafficSpec& spec)
{
    out.BeginMap("traffic");
    out.Text("pattern", ToString(spec.kind));
    const auto has = [&spec](const char* key) { return HasTrafficKey(spec.kind, key); };
    if (has("load"))
    {
        out.Number("load", spec.load);
    }
    if (has("senders"))
    {
        out.Integer("senders", spec.senders);
    }
    if (has("on"))
    {
        out.Duration("on", spec.on);
        out.Duration("off", spec.off);
        out.Text("spans", NameOf(SpanNames(), spec.isFixed));
    }
    if (has("rate") && !spec.rate.IsInfinite())
    {
        out.Speed("rate", spec.rate);
    }
    if (!spec.sizesName.empty())
    {
        out.Text("sizes", spec.sizesName);
    }
    else if (has("bytes"))
    {
        out.Size("bytes", spec.sizes.Quantile(0));
    }
    if (spec.every > Time())
    {
        out.Duration("every", spec.every);
        if (spec.times != std::numeric_limits<uint32_t>::max())
        {
            out.Integer("times", spec.times);
        }
    }
    if (!spec.duration.IsInfinite())
    {
        out.Duration("duration", spec.duration);
    }
    out.Integer("seed", spec.seed);
    out.EndMap();
}

void
WriteModel(YamlWriter& out, const Transformer& model)
{
    out.BeginMap("model");
    out.Text("name", model.name);
    out.Integer("layers", model.layers);
    out.Integer("hidden", model.hidden);
    out.Integer("heads", model.heads);
    out.Integer("kvHeads", model.kvHeads);
    out.Integer("headDim", model.headDim);
    out.Integer("ffn", model.ffn);
    out.Integer("sequence", model.sequence);
    out.Integer("vocabulary", model.vocabulary);
    out.Integer("vocabularyMultiple", model.vocabularyMultiple);
    out.Text("norm", NameOf(NormNames(), model.norm));
    out.Text("activation", NameOf(ActivationNames(), model.activation));
    out.Flag("tiedEmbeddings", model.tiedEmbeddings);
    out.Flag("biases", model.biases);
    out.Flag("dropout", model.dropout);
    out.Flag("learnedPositions", model.learnedPositions);
    out.Flag("causal", model.causal);
    out.Flag("predictionHead", model.predictionHead);
    WriteExpertLayers(out, model.moe);
    out.Text("source", model.source);
    out.EndMap();
}

/** Writes the settings of a plan that have an effect on @p network. */
void
WritePlan(YamlWriter& out, ParallelPlan plan, const Network& network)
{
    out.BeginMap("parallel");
    if (plan.HasGrid())
    {
        const std::array extents{plan.grid.side, plan.grid.side, plan.grid.depth};
        out.List("tensorShape", extents);
    }
    WriteExpertLoad(out, plan.expertLoad);
    plan.sharding.state = plan.Sharded(); // one state for all spellings
    plan.distributedOptimizer = plan.sharding.state == ShardedState::Optimizer;
    std::string open; // name of the open map of keys; empty: none
    const std::vector<KeyUse> uses = PlanUses(plan, network);
    PlanKeys keys(plan);
    ForEachParameter(keys, [&](const ParameterInfo& info, const Parameter& parameter) {
        if (FindUnmetUse(info.key, uses))
        {
            return;
        }
        const std::string map = MapOfKey(info.key);
        if (map != open && !open.empty())
        {
            out.EndMap();
        }
        if (map != open && !map.empty())
        {
            out.BeginMap(map.c_str());
        }
        open = map;
        WriteParameter(out, NameInMap(info.key), parameter);
    });
    if (!open.empty())
    {
        out.EndMap();
    }
    out.EndMap();
}

void
WriteOverlap(YamlWriter& out, const OverlapPolicy& overlap)
{
    if (overlap.kind == OverlapKind::Constant)
    {
        out.Number("overlapSlowdown", overlap.factor);
        return;
    }
    out.Text("overlapSlowdown", overlap.kind == OverlapKind::Off ? "off" : "modeled");
}

void
WriteJitter(YamlWriter& out, const JitterSpec& jitter)
{
    out.BeginMap("jitter");
    out.Text("distribution", "lognormal");
    out.Number("coefficientOfVariation", jitter.coefficientOfVariation);
    out.Text("per", NameOf(JitterScopeNames(), jitter.scope));
    out.Integer("seed", static_cast<int64_t>(jitter.seed));
    out.EndMap();
}

void
WriteSteps(YamlWriter& out, const JobSpec& job)
{
    if (job.steady.tolerance <= 0)
    {
        out.Integer("steps", job.steps);
        return;
    }
    out.BeginMap("steps");
    out.Number("untilSteady", job.steady.tolerance);
    out.Integer("atMost", job.steps);
    out.EndMap();
}

void
WritePlacement(YamlWriter& out, const PlacementSpec& placement)
{
    switch (placement.kind)
    {
    case Placement::Packed:
        out.Text("placement", "packed");
        return;
    case Placement::Strided:
        out.BeginMap("placement");
        out.Text("kind", "strided");
        out.Integer("stride", placement.stride);
        break;
    case Placement::Random:
        out.BeginMap("placement");
        out.Text("kind", "random");
        out.Integer("seed", placement.seed);
        break;
    case Placement::AcrossLeaves:
        out.Text("placement", "across-leaves");
        return;
    case Placement::Leaves:
        out.BeginMap("placement");
        out.List("leaves", placement.leaves);
        break;
    case Placement::Nodes:
    case Placement::Gpus:
        out.BeginMap("placement");
        out.List(placement.kind == Placement::Nodes ? "nodes" : "gpus", placement.list);
        break;
    }
    out.EndMap();
}

/** Writes location and time of a job without a parallel plan. */
template <typename Job>
void
WriteExtent(YamlWriter& out, const Job& job, Time start)
{
    if (!job.until.empty())
    {
        out.Text("until", job.until);
    }
    if (job.gpus > 0)
    {
        out.Integer("gpus", job.gpus);
    }
    WritePlacement(out, job.placement);
    if (start > Time())
    {
        out.Duration("start", start);
    }
}

void
WriteCall(YamlWriter& out, const CalledCollective& call)
{
    out.Text("op", ToString(call.op));
    out.Size("bytes", call.bytes);
    if (call.overrides.algorithm)
    {
        out.Text("algorithm", ToString(*call.overrides.algorithm));
    }
    if (call.overrides.protocol)
    {
        out.Text("protocol", ToString(*call.overrides.protocol));
    }
    if (call.overrides.channels)
    {
        out.Integer("channels", *call.overrides.channels);
    }
}

void
WriteCollectiveJob(YamlWriter& out, const CollectiveJobSpec& job)
{
    out.BeginMap();
    out.Text("name", job.name);
    out.BeginMap("collective");
    const bool isSequence = job.sequence.size() > 1;
    if (isSequence)
    {
        out.BeginList("sequence");
        for (const CalledCollective& call : job.sequence)
        {
            out.BeginMap();
            WriteCall(out, call);
            out.EndMap();
        }
        out.EndList();
    }
    if (!isSequence)
    {
        WriteCall(out, job.sequence.front());
    }
    if (job.until.empty())
    {
        out.Integer("calls", job.calls);
    }
    if (job.period > Time())
    {
        out.Duration("every", job.period);
    }
    out.EndMap();
    WriteExtent(out, job, job.start);
    out.EndMap();
}

void
WriteTrafficJob(YamlWriter& out, const TrafficJobSpec& job)
{
    out.BeginMap();
    out.Text("name", job.name);
    WriteTraffic(out, job.traffic);
    WriteExtent(out, job, job.traffic.start);
    out.EndMap();
}

/** Writes location, start and end condition of a training job or workload. */
void
WriteTrainingExtent(YamlWriter& out, const JobSpec& job)
{
    WritePlacement(out, job.placement);
    if (job.start > Time())
    {
        out.Duration("start", job.start);
    }
    if (!job.until.empty())
    {
        out.Text("until", job.until);
    }
}

/** Writes the remaining keys of a job with an imported workload and ends its map. */
void
WriteWorkload(YamlWriter& out, const JobSpec& job)
{
    out.Text("workload", job.workload);
    out.Text("compute", job.isRoofline ? "roofline" : "recorded");
    if (job.isRoofline)
    {
        out.Text("precision", NameOf(PrecisionNames(), job.plan.precision));
    }
    WriteTrainingExtent(out, job);
    WriteOverlap(out, job.overlap);
    WriteJitter(out, job.jitter);
    WriteSteps(out, job);
    out.EndMap();
}

void
WriteJob(YamlWriter& out, const JobSpec& job)
{
    out.BeginMap();
    out.Text("name", job.name);
    if (job.recorded)
    {
        WriteWorkload(out, job);
        return;
    }
    if (const auto* table = std::get_if<LayerTable>(&job.network))
    {
        WriteLayerTable(out, *table);
    }
    else
    {
        WriteModel(out, std::get<Transformer>(job.network));
    }
    WriteTrainingExtent(out, job);
    WritePlan(out, job.plan, job.network);
    out.Text("precision", NameOf(PrecisionNames(), job.plan.precision));
    WriteOverlap(out, job.overlap);
    WriteJitter(out, job.jitter);
    WriteSteps(out, job);
    out.EndMap();
}

void
WriteFailures(YamlWriter& out, const EventSpec& event)
{
    if (event.links.size() == 1 &&
        (event.links.front() == SWITCH_LINKS || event.links.front() == NIC_LINKS))
    {
        out.Text("links", event.links.front());
    }
    else
    {
        out.List("links", event.links);
    }
    out.Duration("meanTimeToFailure", event.up);
    out.Duration("meanTimeToRepair", event.down);
    out.Integer("seed", event.seed);
}

void
WriteEvent(YamlWriter& out, const EventSpec& event)
{
    out.BeginMap();
    out.Text("kind", NameOf(EventKindNames(), event.kind));
    out.Duration("at", event.at);
    if (event.kind == EventKind::Failures)
    {
        WriteFailures(out, event);
        out.EndMap();
        return;
    }
    if (event.every > Time())
    {
        out.Duration("every", event.every);
    }
    if (event.times > 1 || event.kind == EventKind::Flap)
    {
        out.Integer("times", event.times);
    }
    if (event.kind == EventKind::SlowGpu)
    {
        out.Text("gpu", event.from);
    }
    else
    {
        out.Text("from", event.from);
        out.Text("to", event.to);
    }
    if (event.kind == EventKind::Flap)
    {
        out.Duration("down", event.down);
        out.Duration("up", event.up);
    }
    if (event.kind == EventKind::Degrade || event.kind == EventKind::SlowGpu)
    {
        out.Number("factor", event.factor);
    }
    if (event.kind == EventKind::LossyLink)
    {
        out.Number("loss", event.loss);
    }
    if (event.kind == EventKind::Background)
    {
        out.Size("bytes", event.bytes);
    }
    out.EndMap();
}

/** Writes which traffic is simulated as packets, and its coupling to the fluid. */
void
WriteSelection(YamlWriter& out, HybridSelection hybrid)
{
    out.BeginMap("packets");
    out.List("jobs", hybrid.jobs);
    out.Flag("flows", hybrid.flows);
    out.List("links", hybrid.coupling.links);
    out.EndMap();
    out.BeginMap("coupling");
    ParameterWriter writer(out);
    hybrid.coupling.VisitParameters(writer);
    out.EndMap();
}

void
WriteOutput(YamlWriter& out, const OutputSpec& output)
{
    out.BeginMap("output");
    if (!output.file.empty())
    {
        out.Text("file", output.file);
    }
    if (output.timeline && !output.timelineFile.empty())
    {
        out.Text("timeline", output.timelineFile);
    }
    else
    {
        out.Flag("timeline", output.timeline);
    }
    if (output.linkSeries)
    {
        out.Duration("linkSeries", *output.linkSeries);
    }
    if (output.portSeries)
    {
        out.Duration("portSeries", *output.portSeries);
    }
    if (output.allRanks)
    {
        out.Text("ranks", "all");
    }
    else if (!output.ranks.empty())
    {
        out.List("ranks", output.ranks);
    }
    out.EndMap();
}

} // namespace

std::string
DumpScenario(const Scenario& scenario)
{
    YamlWriter out;
    out.BeginMap();
    out.Text("title", scenario.title);
    out.Integer("seed", scenario.seed);
    WriteSystem(out, "system", scenario.cluster);
    out.BeginList("jobs");
    for (const JobSpec& job : scenario.jobs)
    {
        WriteJob(out, job);
    }
    for (const CollectiveJobSpec& job : scenario.collectives)
    {
        WriteCollectiveJob(out, job);
    }
    for (const TrafficJobSpec& job : scenario.traffics)
    {
        WriteTrafficJob(out, job);
    }
    out.EndList();
    out.BeginMap("network");
    out.Text("fidelity", NameOf(FidelityNames(), scenario.fidelity));
    if (scenario.fidelity == Fidelity::Auto)
    {
        out.Text("tolerance", FormatNumber(100 * scenario.automatic.tolerance) + "%");
    }
    WriteNccl(out, scenario.nccl);
    if (FormOf(scenario.fidelity) == FlowForm::Packets || scenario.fidelity == Fidelity::Hybrid)
    {
        WritePackets(out, scenario.packets);
    }
    if (scenario.fidelity == Fidelity::Hybrid)
    {
        WriteSelection(out, scenario.hybrid);
    }
    if (scenario.sharing.tolerance > 0)
    {
        out.BeginMap("sharing");
        ParameterWriter writer(out);
        SharingSpec(scenario.sharing).VisitParameters(writer);
        out.EndMap();
    }
    if (scenario.corrections.IsOn())
    {
        out.BeginMap("corrections");
        WriteCorrections(out, scenario.corrections);
        out.EndMap();
    }
    out.EndMap();
    out.BeginList("events");
    for (const EventSpec& event : scenario.events)
    {
        WriteEvent(out, event);
    }
    out.EndList();
    WriteOutput(out, scenario.output);
    out.EndMap();
    std::string remarks;
    for (const std::string& remark : scenario.remarks)
    {
        remarks += "# " + remark + "\n";
    }
    return remarks + out.GetText();
}

} // namespace weir
