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

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

namespace weir
{
namespace
{

void
WriteDimensionWise(YamlWriter& out, const DimensionWiseSettings& settings)
{
    const YamlMap map(out, "dimensionWise");
    if (!settings.algorithms.empty())
    {
        out.List("perDimension", settings.algorithms, [&out](DimensionAlgorithm algorithm) {
            out.Item(ToString(algorithm));
        });
    }
    out.Integer("chunks", settings.chunks);
    out.Flag("balanced", settings.balanced);
    if (const auto& dispatch = settings.dispatch)
    {
        out.Text("dispatch",
                 std::to_string(dispatch->expertsOfToken) + "/" +
                     std::to_string(dispatch->experts));
        if (dispatch->isDirect)
        {
            out.Flag("direct", true);
        }
        else
        {
            out.Text("expertGroups",
                     std::to_string(dispatch->groupsOfToken) + "/" +
                         std::to_string(dispatch->groups));
        }
    }
    if (const auto& sparsity = settings.sparsity)
    {
        out.Text("density", FormatNumber(100 * sparsity->density) + "%");
        out.Speed("selectionRate", sparsity->selection);
    }
    out.Duration("endpointDelay", settings.endpointDelay);
    out.Speed("memoryRate", settings.memoryRate);
}

void
WriteNccl(YamlWriter& out, NcclSettings nccl)
{
    const YamlMap map(out, "nccl");
    out.Text("version", nccl.version);
    out.TextUnlessEmpty("algorithms", nccl.filter.GetAlgorithms());
    out.TextUnlessEmpty("protocols", nccl.filter.GetProtocols());
    WriteParameters(out, nccl);
    if (nccl.dimensionWise.IsGiven())
    {
        WriteDimensionWise(out, nccl.dimensionWise);
    }
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
    out.List("classes", table.classes, [&out](const RowClass& one) {
        out.Numbers({one.rows, one.rows * one.probability});
    });
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
    const YamlMap embeddings(out, "embeddings");
    out.List("tables", tables, [&out](const EmbeddingTable& table) {
        const YamlMap map(out);
        out.Integer("rows", table.rows);
        out.Integer("dim", table.dim);
        out.Integer("pooling", table.pooling);
        WriteUse(out, table);
    });
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
    const YamlMap model(out, "model");
    out.Text("name", table.name);
    out.Text("source", table.source);
    WriteSampleShape(out, "input", table.layers.front().in);
    WriteEmbeddingTables(out, table.embeddings);
    out.List("network", table.layers, [&out](const TableLayer& layer) {
        const YamlMap map(out);
        out.Text("layer", NameOf(TableOpNames(), layer.op));
        out.Text("name", layer.name);
        WriteSampleShape(out, "in", layer.in);
        WriteSampleShape(out, "out", layer.out);
        const Window& window = layer.window;
        out.List("window", std::array{window.size, window.stride, window.padding});
        out.Integer("groups", layer.groups);
        out.Integer("rank", layer.rank);
        out.Flag("bias", layer.bias);
    });
}

/** Writes the format of ReadExpertLayers; nothing if there are no experts. */
void
WriteExpertLayers(YamlWriter& out, const ExpertLayers& moe)
{
    if (moe.experts == 0)
    {
        return;
    }
    const YamlMap map(out, "experts");
    out.Integer("count", moe.experts);
    out.Integer("topK", moe.topK);
    out.Integer("ffn", moe.ffn);
    out.Integer("sharedFfn", moe.sharedFfn);
    out.Integer("firstLayer", moe.firstLayer);
    out.Integer("every", moe.every);
}

void
WriteExpertLoad(YamlWriter& out, const ExpertLoad& load)
{
    if (load.IsBalanced() && load.capacityFactor == 0)
    {
        return; // the default
    }
    const YamlMap map(out, "expertLoad");
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
        out.List("shares", load.shares, [&](double share) { out.Item(FormatNumber(share)); });
    }
}

void
WriteTraffic(YamlWriter& out, const TrafficSpec& spec)
{
    const YamlMap map(out, "traffic");
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
    out.Speed("rate", spec.rate);
    out.TextUnlessEmpty("sizes", spec.sizesName);
    if (spec.sizesName.empty() && has("bytes"))
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
    out.Duration("duration", spec.duration);
    out.Integer("seed", spec.seed);
}

void
WriteModel(YamlWriter& out, const Transformer& model)
{
    const YamlMap map(out, "model");
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
}

/** Writes the settings of a plan that have an effect on @p network. */
void
WritePlan(YamlWriter& out, ParallelPlan plan, const Network& network)
{
    const YamlMap parallel(out, "parallel");
    if (plan.HasGrid())
    {
        const std::array extents{plan.grid.side, plan.grid.side, plan.grid.depth};
        out.List("tensorShape", extents);
    }
    WriteExpertLoad(out, plan.expertLoad);
    plan.sharding.state = plan.Sharded(); // one state for all spellings
    plan.distributedOptimizer = plan.sharding.state == ShardedState::Optimizer;
    std::string name; // of the open map of keys; empty: none
    std::optional<YamlMap> open;
    const std::vector<KeyUse> uses = PlanUses(plan, network);
    PlanKeys keys(plan);
    ForEachParameter(keys, [&](const ParameterInfo& info, const Parameter& parameter) {
        if (FindUnmetUse(info.key, uses))
        {
            return;
        }
        const std::string map = MapOfKey(info.key);
        if (map != name)
        {
            open.reset();
        }
        if (map != name && !map.empty())
        {
            open.emplace(out, map.c_str());
        }
        name = map;
        WriteParameter(out, NameInMap(info.key), parameter);
    });
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
    const YamlMap map(out, "jitter");
    out.Text("distribution", "lognormal");
    out.Number("coefficientOfVariation", jitter.coefficientOfVariation);
    out.Text("per", NameOf(JitterScopeNames(), jitter.scope));
    out.Integer("seed", static_cast<int64_t>(jitter.seed));
}

void
WriteSteps(YamlWriter& out, const JobSpec& job)
{
    if (job.steady.tolerance <= 0)
    {
        out.Integer("steps", job.steps);
        return;
    }
    const YamlMap map(out, "steps");
    out.Number("untilSteady", job.steady.tolerance);
    out.Integer("atMost", job.steps);
}

void
WritePlacement(YamlWriter& out, const PlacementSpec& placement)
{
    if (placement.kind == Placement::Packed || placement.kind == Placement::AcrossLeaves)
    {
        out.Text("placement", NameOf(PlacementNames(), placement.kind));
        return;
    }
    const YamlMap map(out, "placement");
    switch (placement.kind)
    {
    case Placement::Strided:
        out.Text("kind", "strided");
        return out.Integer("stride", placement.stride);
    case Placement::Random:
        out.Text("kind", "random");
        return out.Integer("seed", placement.seed);
    case Placement::Leaves:
        return out.List("leaves", placement.leaves);
    default:
        out.List(placement.kind == Placement::Nodes ? "nodes" : "gpus", placement.list);
    }
}

/** Writes location and time of a job without a parallel plan. */
template <typename Job>
void
WriteExtent(YamlWriter& out, const Job& job, Time start)
{
    out.TextUnlessEmpty("until", job.until);
    if (job.gpus > 0)
    {
        out.Integer("gpus", job.gpus);
    }
    WritePlacement(out, job.placement);
    out.DurationAboveZero("start", start);
}

void
WriteCall(YamlWriter& out, const CalledCollective& call)
{
    out.Text("op", ToString(call.op));
    out.Size("bytes", call.bytes);
    const auto& [algorithm, protocol, channels] = call.overrides;
    out.TextUnlessEmpty("algorithm", algorithm ? ToString(*algorithm) : "");
    out.TextUnlessEmpty("protocol", protocol ? ToString(*protocol) : "");
    out.Integer("channels", channels);
}

void
WriteCalls(YamlWriter& out, const CollectiveJobSpec& job)
{
    const YamlMap map(out, "collective");
    if (job.sequence.size() > 1)
    {
        out.List("sequence", job.sequence, [&out](const CalledCollective& call) {
            const YamlMap item(out);
            WriteCall(out, call);
        });
    }
    else
    {
        WriteCall(out, job.sequence.front());
    }
    if (job.until.empty())
    {
        out.Integer("calls", job.calls);
    }
    out.DurationAboveZero("every", job.period);
}

void
WriteJob(YamlWriter& out, const CollectiveJobSpec& job)
{
    const YamlMap map(out);
    out.Text("name", job.name);
    WriteCalls(out, job);
    WriteExtent(out, job, job.start);
}

void
WriteJob(YamlWriter& out, const TrafficJobSpec& job)
{
    const YamlMap map(out);
    out.Text("name", job.name);
    WriteTraffic(out, job.traffic);
    WriteExtent(out, job, job.traffic.start);
}

void
WriteJob(YamlWriter& out, const JobSpec& job)
{
    const YamlMap map(out);
    out.Text("name", job.name);
    const std::string precision = NameOf(PrecisionNames(), job.plan.precision);
    if (job.recorded)
    {
        out.Text("workload", job.workload);
        out.Text("compute", job.isRoofline ? "roofline" : "recorded");
        out.TextUnlessEmpty("precision", job.isRoofline ? precision : "");
    }
    else if (const auto* table = std::get_if<LayerTable>(&job.network))
    {
        WriteLayerTable(out, *table);
    }
    else
    {
        WriteModel(out, std::get<Transformer>(job.network));
    }
    WritePlacement(out, job.placement);
    out.DurationAboveZero("start", job.start);
    out.TextUnlessEmpty("until", job.until);
    if (!job.recorded)
    {
        WritePlan(out, job.plan, job.network);
        out.Text("precision", precision);
    }
    WriteOverlap(out, job.overlap);
    WriteJitter(out, job.jitter);
    WriteSteps(out, job);
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
    const YamlMap map(out);
    out.Text("kind", NameOf(EventKindNames(), event.kind));
    out.Duration("at", event.at);
    if (event.kind == EventKind::Failures)
    {
        WriteFailures(out, event);
        return;
    }
    out.DurationAboveZero("every", event.every);
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
}

/** Writes which traffic is simulated as packets, and its coupling to the fluid. */
void
WriteSelection(YamlWriter& out, HybridSelection hybrid)
{
    {
        const YamlMap packets(out, "packets");
        out.List("jobs", hybrid.jobs);
        out.Flag("flows", hybrid.flows);
        out.List("links", hybrid.coupling.links);
    }
    const YamlMap coupling(out, "coupling");
    WriteParameters(out, hybrid.coupling);
}

void
WriteOutput(YamlWriter& out, const OutputSpec& output)
{
    const YamlMap map(out, "output");
    out.TextUnlessEmpty("file", output.file);
    if (output.timeline && !output.timelineFile.empty())
    {
        out.Text("timeline", output.timelineFile);
    }
    else
    {
        out.Flag("timeline", output.timeline);
    }
    out.Duration("linkSeries", output.linkSeries);
    out.Duration("portSeries", output.portSeries);
    if (output.allRanks)
    {
        out.Text("ranks", "all");
    }
    else if (!output.ranks.empty())
    {
        out.List("ranks", output.ranks);
    }
}

void
WriteNetwork(YamlWriter& out, const Scenario& scenario)
{
    const YamlMap network(out, "network");
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
        const YamlMap sharing(out, "sharing");
        SharingSpec spec = scenario.sharing;
        WriteParameters(out, spec);
    }
    if (scenario.corrections.IsOn())
    {
        const YamlMap corrections(out, "corrections");
        WriteCorrections(out, scenario.corrections);
    }
}

} // namespace

std::string
DumpScenario(const Scenario& scenario)
{
    YamlWriter out;
    out.Text("title", scenario.title);
    out.Integer("seed", scenario.seed);
    {
        const YamlMap system(out, "system");
        WriteSystem(out, scenario.cluster);
    }
    const auto write = [&out](const auto& job) { WriteJob(out, job); };
    out.BeginList("jobs");
    std::for_each(scenario.jobs.begin(), scenario.jobs.end(), write);
    std::for_each(scenario.collectives.begin(), scenario.collectives.end(), write);
    std::for_each(scenario.traffics.begin(), scenario.traffics.end(), write);
    out.EndList();
    WriteNetwork(out, scenario);
    out.List("events", scenario.events, [&out](const EventSpec& event) { WriteEvent(out, event); });
    WriteOutput(out, scenario.output);
    std::string remarks;
    for (const std::string& remark : scenario.remarks)
    {
        remarks += "# " + remark + "\n";
    }
    return remarks + out.GetText();
}

} // namespace weir
