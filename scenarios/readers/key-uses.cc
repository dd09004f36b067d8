// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/key-uses.h"

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/swift.h"
#include "fabric/transport/packet/congestion/timely.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/read-nccl.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-plan.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir
{

namespace
{

/** Adds a note for each of @p keys in @p map that has no effect according to one of @p uses. */
void
AddNotes(const YamlNode& map,
         const std::vector<std::string>& keys,
         const std::vector<KeyUse>& uses,
         std::vector<std::string>& notes)
{
    for (const KeyUse& use : uses)
    {
        for (const std::string& key : use.keys)
        {
            if (!use.hasEffect && IsAmong(key, keys) && map.Has(key))
            {
                notes.push_back(NoteOnNoEffect(map.Get(key), use.needs));
            }
        }
    }
}

std::vector<KeyUse>
UsesOfQueuePairs(const QueuePairSpec& pair, const PacketSurroundings& around)
{
    const bool isSelective = pair.recovery == LossRecovery::Selective;
    return {{{"reordering", "ackBitmap"}, isSelective, "recovery: selective"},
            {{"nackInterval"}, !isSelective, "recovery: go-back-n"},
            {{"ackDelay"}, pair.ackEvery > 1, "ackEvery above 1"},
            {{"messageGap"},
             around.hasMessages,
             "queue pairs with several messages; each flow of weir flows is a queue pair"},
            {{"paths", "distinctPaths", "pathChoice"},
             around.routing.GetScope() == RoutingPolicy::Scope::Packet,
             "a fabric with routing: spray"}};
}

std::vector<KeyUse>
UsesOfSwitches(const SwitchSpec& of, uint32_t trafficClasses)
{
    const bool arePaused = of.flowControl == FlowControl::Pfc;
    const bool isLossy =
        of.flowControl == FlowControl::None || (arePaused && trafficClasses > of.losslessClasses);
    const std::string lossy = "flowControl: none, or a class beyond losslessClasses";
    return {{{"trim"}, isLossy || (arePaused && of.headroom != SwitchSpec().headroom), lossy},
            {{"trimTail", "controlQueue", "controlRun"}, of.trim, "trim: true"},
            {{"portQueue"}, isLossy, lossy},
            {{"headroom", "resumeOffset", "pauseTime", "losslessClasses"},
             arePaused,
             "flowControl: pfc"},
            {{"classByHop"}, of.flowControl != FlowControl::None, "flowControl: pfc or credits"},
            {{"creditBuffer"}, of.flowControl == FlowControl::Credits, "flowControl: credits"},
            {{"markFrom", "markAll", "markProbability", "markRate", "markAt", "markRoots"},
             of.marks,
             "marks: true"}};
}

/** DCQCN reduces its rate only on ECN marks. */
void
AddNoteOnMarks(const YamlNode& network, const PacketSpec& spec, std::vector<std::string>& notes)
{
    const auto marks = network.FindPath("switch.marks");
    if (marks && !spec.switches.marks && spec.congestionControl.Is<Dcqcn>())
    {
        notes.push_back(marks->Where() + ": found '" + marks->AsString() +
                        "' with congestionControl dcqcn, which reduces rates only on marks, so "
                        "that no flow slows down");
    }
}

/** Reordered packets need a receiver that tolerates reordering. */
void
AddNoteOnOrder(const YamlNode& network,
               const QueuePairSpec& pair,
               const RoutingPolicy& routing,
               std::vector<std::string>& notes)
{
    const bool isSelective = pair.recovery == LossRecovery::Selective;
    const auto found =
        network.FindPath(isSelective ? "queuePair.reordering" : "queuePair.recovery");
    if (found && routing.GetScope() == RoutingPolicy::Scope::Packet &&
        !(isSelective && pair.reordering > 0u))
    {
        notes.push_back(found->Where() + ": found '" + found->AsString() + "' with routing '" +
                        routing.Name() +
                        "', where each overtaken packet is retransmitted: it needs recovery: "
                        "selective and a reordering");
    }
}

/** States that @p keys have an effect only in @p fidelities. */
KeyUse
OfFidelities(std::vector<std::string> keys,
             Fidelity fidelity,
             const std::vector<Fidelity>& fidelities)
{
    const auto names =
        Mapped<std::string>(fidelities, [](Fidelity each) { return ToString(each); });
    return {std::move(keys), IsAmong(ToString(fidelity), names), "fidelity " + JoinChoices(names)};
}

std::vector<KeyUse>
NetworkUses(const Scenario& scenario)
{
    const Fidelity fidelity = scenario.fidelity;
    return {OfFidelities({"tolerance"}, fidelity, {Fidelity::Auto}),
            OfFidelities({"packets", "coupling"}, fidelity, {Fidelity::Hybrid}),
            OfFidelities({"sharing"},
                         fidelity,
                         {Fidelity::Stream, Fidelity::Flow, Fidelity::Hybrid, Fidelity::Auto}),
            OfFidelities(PacketKeys(), fidelity, {Fidelity::Packet, Fidelity::Hybrid}),
            {{"nccl"},
             !scenario.jobs.empty() || !scenario.collectives.empty(),
             "a training or collective job"}};
}

/** Conditions for the keys of `nccl.dimensionWise`. */
std::vector<KeyUse>
DimensionWiseUses(const Scenario& scenario)
{
    const auto isCalled = [&](std::optional<CollectiveOp> op) {
        for (const CollectiveJobSpec& job : scenario.collectives)
        {
            for (const CalledCollective& call : job.sequence)
            {
                if (call.overrides.algorithm == Algorithm::DimensionWise &&
                    call.op == op.value_or(call.op))
                {
                    return true;
                }
            }
        }
        return false;
    };
    return {{{"perDimension", "chunks", "balanced", "endpointDelay"},
             isCalled({}),
             "a call of algorithm dimension-wise"},
            {{"dispatch", "expertGroups", "direct"},
             isCalled(CollectiveOp::AllToAll),
             "an all-to-all of algorithm dimension-wise"},
            {{"density", "selectionRate"},
             isCalled(CollectiveOp::AllReduce),
             "an all-reduce of algorithm dimension-wise"}};
}

/** Whether a table is wider than a column shard, of the given width or of the default one. */
bool
HasWideTable(const ParallelPlan& plan, const LayerTable& table)
{
    const uint32_t width = std::min(plan.embeddings.columnWidth, EmbeddingSharding().columnWidth);
    return std::any_of(table.embeddings.begin(),
                       table.embeddings.end(),
                       [width](const EmbeddingTable& each) { return each.dim > width; });
}

/** How the parts of a model and of a step's samples are distributed. */
std::vector<KeyUse>
UsesOfDegrees(const ParallelPlan& plan)
{
    const bool hasTensor = plan.tensor > 1;
    const bool hasPipeline = plan.pipeline > 1;
    return {{{"contextExchange"}, plan.context > 1, "context above 1"},
            {{"sequenceParallel", "overlapTensor"}, hasTensor, "tensor above 1"},
            {{"splitGemms"},
             hasTensor && plan.sequenceParallel && plan.overlapTensor,
             "tensor above 1 with sequenceParallel and overlapTensor"},
            {{"embeddingsAsLayers", "postValidation", "host.syncTransfers"},
             hasPipeline,
             "pipeline above 1"},
            {{"host.syncTransfers"}, // zero-bubble: the CPU never waits for them
             !plan.SplitsBackward(),
             "schedule: 1f1b, interleaved or gpipe"},
            {{"scatterGatherPipeline"},
             hasPipeline && hasTensor && !plan.HasGrid() && !plan.sequenceParallel,
             "pipeline and tensor above 1 without sequenceParallel or a grid"}};
}

/** Conditions that depend on the kernels of the network. */
std::vector<KeyUse>
UsesOfKernels(const ParallelPlan& plan, const Transformer* transformer)
{
    return {{{"schedule", "fusedUpdate", "loss", "host.syncBatches", "host.syncPasses"},
             transformer != nullptr,
             "a transformer, not a table of layers"},
            {{"expertTensor"}, transformer && transformer->HasExperts(), "a mixture of experts"},
            {{"attentionSpeed"},
             transformer && plan.attention == AttentionKind::Fused,
             "a transformer with attention: fused"},
            {{"recomputeEvery", "host.syncLayers"},
             plan.recomputation != Recomputation::None &&
                 plan.recomputation != Recomputation::Selective,
             "a recomputation of layers: full, needed or operators"}};
}

/** Conditions that depend on replicas of gradients, weights and optimizer state. */
std::vector<KeyUse>
UsesOfReplicas(const ParallelPlan& plan, const Transformer* transformer)
{
    const ShardedState sharded = plan.Sharded();
    const bool isInFull = sharded == ShardedState::Full;
    const bool isInPart = sharded == ShardedState::Optimizer || sharded == ShardedState::Gradients;
    // Whether another rank holds the same weights, or the same experts.
    const bool hasReplicas =
        plan.DenseReplicas() > 1 ||
        (transformer && transformer->HasExperts() && plan.ExpertReplicas() > 1);
    const bool reducesInBuckets = hasReplicas && !isInFull; // or all at once, but not unit by unit
    return {
        {{"overlapGradients"}, reducesInBuckets, "several replicas that are not sharded in full"},
        {{"bucket"},
         reducesInBuckets && plan.overlapGradients,
         "overlapGradients among several replicas that are not sharded in full"},
        {{"distributedOptimizer"},
         sharded == ShardedState::Optimizer,
         "dataSharding: none or optimizer"},
        {{"distributedOptimizer"}, hasReplicas, "several replicas"},
        {{"dataSharding"}, isInFull || hasReplicas, "several replicas"},
        {{"dataSharding.ranks"},
         sharded != ShardedState::None,
         "dataSharding: optimizer, gradients or full"},
        {{"dataSharding.reshard", "dataSharding.prefetch", "dataSharding.perParameter"},
         isInFull,
         "dataSharding: full"},
        {{"dataSharding.everyPass"},
         isInFull || sharded == ShardedState::Gradients,
         "dataSharding: full or gradients"},
        {{"dataSharding.everyPass"}, plan.MicroBatches() != 1, "several micro-batches per replica"},
        {{"dataSharding.scatter", "dataSharding.overlapGather"},
         isInPart,
         "dataSharding: optimizer or gradients"}};
}

/** Conditions that depend on the placement of embedding tables. */
std::vector<KeyUse>
UsesOfTables(const ParallelPlan& plan, const LayerTable* table)
{
    const bool hasTables = table && !table->embeddings.empty();
    const EmbeddingSharding& sharding = plan.embeddings;
    const bool areByColumns = sharding.placement == EmbeddingPlacement::Columns;
    return {{{"embeddings"}, hasTables, "a model with embedding tables"},
            {{"embeddings.placement",
              "embeddings.balance",
              "embeddings.splitAbove",
              "embeddings.splitColumnsAbove",
              "embeddings.columnWidth",
              "embeddings.exchangeIndices"},
             plan.data > 1,
             "data above 1"},
            {{"embeddings.balance", "embeddings.splitAbove"},
             sharding.placement != EmbeddingPlacement::Rows,
             "placement: tables or columns"},
            {{"embeddings.splitColumnsAbove"},
             sharding.placement == EmbeddingPlacement::Tables,
             "placement: tables"},
            {{"embeddings.columnWidth"},
             areByColumns || sharding.splitColumnsAbove != EmbeddingSharding().splitColumnsAbove,
             "placement: columns, or splitColumnsAbove"},
            {{"embeddings.splitColumnsAbove", "embeddings.columnWidth"},
             hasTables && HasWideTable(plan, *table),
             "a table wider than columnWidth"}};
}

} // namespace

std::string
NoteOnNoEffect(const YamlNode& found, const std::string& needs)
{
    return found.Where() + ": found " + (found.IsScalar() ? "'" + found.AsString() + "'" : "it") +
           ", which has no effect here: it needs " + needs;
}

std::vector<std::string>
NotesOnPacketUse(const YamlNode& network, PacketSpec spec, const PacketSurroundings& around)
{
    PacketSpec plain;
    const auto plainParts = plain.Parts();
    QueuePairSpec pair = spec.queuePair;
    FillRecovery(pair, around.routing.GetScope() == RoutingPolicy::Scope::Packet);
    std::vector<std::string> notes;
    const auto parts = spec.Parts();
    for (std::size_t i = 0; i < parts.size(); i++)
    {
        const auto& [name, part] = parts[i];
        const auto map = network.Find(name);
        if (!map || !map->IsMap())
        {
            continue;
        }
        const std::vector<std::string> keys = ChangedKeys(*part, *plainParts[i].second);
        std::vector<KeyUse> uses;
        if (part == &spec.queuePair)
        {
            uses = UsesOfQueuePairs(pair, around);
        }
        else if (part == &spec.switches)
        {
            uses = UsesOfSwitches(spec.switches, spec.trafficClasses);
        }
        else if (part == &spec.arbitration)
        {
            uses = {{{"highLimit"}, !spec.arbitration.highTable.empty(), "a highTable"}};
        }
        else if (part == &spec.nodeLinks)
        {
            uses = {{keys, around.hasNodes, "nodes with GPUs, which a topology of hosts lacks"}};
        }
        AddNotes(*map, keys, uses, notes);
    }
    AddNoteOnMarks(network, spec, notes);
    AddNoteOnOrder(network, pair, around.routing, notes);
    return notes;
}

std::vector<std::string>
NotesOnIdlePath(const PacketSpec& spec, const IdlePathResult& path)
{
    std::vector<std::string> notes;
    const std::string below = ", below the " + FormatSeconds(path.roundTrip.ToSeconds()) +
                              " that a full packet and its acknowledgment take on the idle path "
                              "from " +
                              path.from + " to " + path.to;
    const auto found = [](Time value, Time plain) {
        return (value == plain ? "found its default, " : "found ") + FormatTime(value);
    };
    const Time timeout = spec.queuePair.retransmissionTimeout;
    if (timeout < path.roundTrip)
    {
        notes.push_back("queuePair.retransmissionTimeout: " +
                        found(timeout, QueuePairSpec().retransmissionTimeout) + below +
                        ": packets that are not lost are retransmitted, which slows flows");
    }
    const std::string slow = ": flows slow down even without contention";
    if (spec.congestionControl.Is<Swift>())
    {
        const Swift& swift = spec.congestionControl.As<Swift>();
        const Time aim = swift.target + swift.perHop * static_cast<double>(path.hops);
        if (aim < path.roundTrip)
        {
            notes.push_back("congestionControl.target: " + found(swift.target, Swift().target) +
                            ", and with perHop " + FormatSeconds(aim.ToSeconds()) + below + slow);
        }
    }
    if (spec.congestionControl.Is<Timely>())
    {
        const Timely& timely = spec.congestionControl.As<Timely>();
        const Time limit = timely.patched ? timely.low : timely.high;
        if (limit < path.roundTrip)
        {
            notes.push_back(std::string("congestionControl.") + (timely.patched ? "low" : "high") +
                            ": " + found(limit, timely.patched ? Timely().low : Timely().high) +
                            below + slow);
        }
    }
    return notes;
}

std::vector<std::string>
NotesOnLateEvents(const std::vector<EventSpec>& events, Time end)
{
    std::vector<std::string> notes;
    for (const EventSpec& event : events)
    {
        if (event.at > end)
        {
            notes.push_back(event.where + ": found it at " + FormatSeconds(event.at.ToSeconds()) +
                            ", which has no effect here: the run ends at " +
                            FormatSeconds(end.ToSeconds()));
        }
    }
    return notes;
}

std::vector<std::string>
NotesOnEventUse(const Scenario& scenario)
{
    std::vector<std::string> notes;
    for (const EventSpec& event : scenario.events)
    {
        if (event.kind == EventKind::SlowGpu && scenario.jobs.empty())
        {
            notes.push_back(
                event.where +
                ": found slow-gpu, which has no effect here: it needs a training or workload job");
        }
    }
    return notes;
}

std::vector<std::string>
NotesOnNetworkUse(const YamlNode& network, const Scenario& scenario)
{
    std::vector<std::string> notes;
    AddNotes(network, network.Keys(), NetworkUses(scenario), notes);
    const auto nccl = network.Find("nccl");
    const auto version = nccl && nccl->IsMap() ? nccl->Find("version") : nccl;
    if (std::string note = version ? NoteOnNcclVersion(*version) : ""; !note.empty())
    {
        notes.push_back(std::move(note));
    }
    if (const auto dimensionWise = network.FindPath("nccl.dimensionWise"))
    {
        AddNotes(*dimensionWise, dimensionWise->Keys(), DimensionWiseUses(scenario), notes);
    }
    if (scenario.fidelity == Fidelity::Packet || scenario.fidelity == Fidelity::Hybrid)
    {
        const auto more =
            NotesOnPacketUse(network, scenario.packets, {*scenario.cluster.fabric.routing});
        notes.insert(notes.end(), more.begin(), more.end());
    }
    return notes;
}

std::vector<std::string>
NotesOnPlanUse(const YamlNode& node, const ParallelPlan& plan, const Network& network)
{
    const auto* transformer = std::get_if<Transformer>(&network);
    const ExpertLoad& load = plan.expertLoad;
    if ((!transformer || !transformer->HasExperts()) &&
        (!load.IsBalanced() || load.capacityFactor > 0))
    {
        node.Get("expertLoad").Fail("found it for a model without experts, expected one with them");
    }
    ParallelPlan given = plan;
    ParallelPlan defaults = DefaultPlan();
    const std::vector<KeyUse> uses = PlanUses(plan, network);
    std::vector<std::string> notes;
    PlanKeys keys(given);
    PlanKeys plain(defaults);
    for (const std::string& key : ChangedKeys(keys, plain))
    {
        const auto found = FindPlanKey(node, key);
        if (!found || found->IsInherited())
        {
            continue;
        }
        if (const KeyUse* unmet = FindUnmetUse(key, uses))
        {
            notes.push_back(NoteOnNoEffect(*found, unmet->needs));
        }
    }
    return notes;
}

std::vector<KeyUse>
PlanUses(const ParallelPlan& plan, const Network& network)
{
    const auto* transformer = std::get_if<Transformer>(&network);
    std::vector<KeyUse> uses;
    for (const auto& some : {UsesOfDegrees(plan),
                             UsesOfKernels(plan, transformer),
                             UsesOfReplicas(plan, transformer),
                             UsesOfTables(plan, std::get_if<LayerTable>(&network))})
    {
        uses.insert(uses.end(), some.begin(), some.end());
    }
    return uses;
}

const KeyUse*
FindUnmetUse(const std::string& key, const std::vector<KeyUse>& uses)
{
    const auto unmet = std::find_if(uses.begin(), uses.end(), [&](const KeyUse& use) {
        return !use.hasEffect && (IsAmong(key, use.keys) || IsAmong(MapOfKey(key), use.keys));
    });
    return unmet == uses.end() ? nullptr : &*unmet;
}

} // namespace weir
