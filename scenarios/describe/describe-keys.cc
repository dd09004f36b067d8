// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-keys.h"

#include "collectives/nccl/nccl-settings.h"
#include "collectives/nccl/node-cost.h"
#include "fabric/parameters/partial-visitor.h"
#include "fabric/routing/routing-policies.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/hybrid/coupling-spec.h"
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/yaml/yaml-node.h"

#include <sstream>

namespace weir
{
namespace
{

/** Every key of a component with its help, default and source. */
class KeyCollector : public PartialVisitor
{
  public:
    /** @param defaults the component as a map */
    explicit KeyCollector(YamlNode defaults)
        : m_defaults(std::move(defaults))
    {
    }

    std::vector<YamlKey> keys;

  private:
    void Any(const ParameterInfo& info) override
    {
        std::string help = info.help;
        const auto value = m_defaults.Find(info.key);
        if (info.presence == Presence::Required)
        {
            help += " Required.";
        }
        else if (value && value->IsScalar() && !value->AsString().empty())
        {
            help += " Default: " + value->AsString() + ".";
        }
        const std::string source = info.source;
        help += source.empty() ? "" : " Source: " + source + ".";
        keys.push_back({info.key, help});
    }

    YamlNode m_defaults;
};

/** Writes what has a default: a graph is a file that somebody else names. */
class DefaultWriter : public ParameterWriter
{
  public:
    using ParameterWriter::ParameterWriter;

    void Graph(const ParameterInfo&, NetworkGraph&) override
    {
    }
};

std::vector<YamlKey>
KeysOfComponent(Parameterized& component)
{
    YamlWriter out;
    out.BeginMap();
    DefaultWriter writer(out);
    component.VisitParameters(writer);
    out.EndMap();
    KeyCollector collector(YamlNode::Parse(out.GetText(), "defaults"));
    component.VisitParameters(collector);
    return collector.keys;
}

std::vector<YamlKey>
PlanKeyHelps()
{
    std::vector<YamlKey> keys;
    for (const PlanKey& key : PlanKeys())
    {
        keys.push_back({key.path, key.help});
    }
    keys.insert(keys.begin(),
                {"framework",
                 "A name of `weir list frameworks` or a file: keys beside it that are missing are "
                 "as it has them; megatron-lm where absent."});
    keys.push_back({"tensorShape", "[tensor], [q, q] (2-D) or [q, q, d] (2.5-D)."});
    keys.push_back({"expertLoad", "How tokens are distributed over experts: parallel.expertLoad."});
    return keys;
}

std::string
QuantityOf(NodeCostUnit unit)
{
    switch (unit)
    {
    case NodeCostUnit::Microseconds:
        return "a time, in us";
    case NodeCostUnit::GBps:
        return "a rate, in GB/s";
    case NodeCostUnit::Bytes:
        return "a size, in bytes";
    case NodeCostUnit::Factor:
        break;
    }
    return "a factor";
}

std::vector<YamlKey>
CostKeys()
{
    std::vector<YamlKey> keys;
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        std::ostringstream help;
        help << QuantityOf(figure.unit) << " from " << figure.least << " to " << figure.most;
        keys.push_back({figure.key, help.str()});
    }
    return keys;
}

} // namespace

std::vector<YamlKeyMap>
DescribeKeys(const FabricKindRegistry& kinds)
{
    std::vector<YamlKeyMap> maps = YamlKeyMaps();
    maps.push_back(
        {"parallel", "The parallel plan of a training job, in `parallel`", PlanKeyHelps()});
    maps.push_back({"costs",
                    "Costs of messages and steps, in `costs` of a GPU or `node.costs` of a system; "
                    "each is {value, source}, its default `weir show system` prints",
                    CostKeys()});
    for (Polymorphic<FabricKind> kind : kinds)
    {
        maps.push_back({std::string("system.fabric, kind ") + kind->Name(),
                        kind->Description(),
                        KeysOfComponent(*kind)});
    }
    for (Polymorphic<RoutingPolicy> policy : RoutingPolicies())
    {
        maps.push_back({std::string("system.fabric, routing ") + policy->Name(),
                        policy->Description(),
                        KeysOfComponent(*policy)});
    }
    PacketSpec packets;
    maps.push_back({"network (packets)",
                    "Packets, in `network` of a run or the file of --network",
                    KeysOfComponent(packets)});
    for (const auto& [key, part] : packets.Parts())
    {
        std::vector<YamlKey> keys = KeysOfComponent(*part);
        if (part == &packets.switches)
        {
            keys.insert(keys.begin(),
                        {"base",
                         "A name of `weir list switches` or a file, whose values hold where keys "
                         "are absent; `switch: NAME` is that alone."});
        }
        maps.push_back({std::string("network.") + key,
                        std::string("Packets: `") + key + "` of `network`",
                        std::move(keys)});
    }
    for (Polymorphic<CongestionControl> control : CongestionControls())
    {
        std::vector<YamlKey> keys = KeysOfComponent(*control);
        keys.insert(keys.begin(), {"kind", control->Name()});
        maps.push_back({std::string("network.congestionControl, kind ") + control->Name(),
                        control->Description(),
                        std::move(keys)});
    }
    CouplingSpec coupling;
    maps.push_back({"network.coupling",
                    "How packets and fluid share links, in fidelity hybrid",
                    KeysOfComponent(coupling)});
    NcclSettings nccl;
    maps.push_back({"network.nccl, settings",
                    "Settings of NCCL's environment, in `nccl` of `network`",
                    KeysOfComponent(nccl)});
    SharingSpec sharing;
    maps.push_back({"network.sharing",
                    "How fluid flows share links, in fidelity stream, flow and hybrid",
                    KeysOfComponent(sharing)});
    CorrectionSpec corrections;
    for (const auto& [key, part] : corrections.Parts())
    {
        maps.push_back({std::string("network.corrections.") + key,
                        std::string("Corrections of a fluid: `") + key + "`",
                        KeysOfComponent(*part)});
    }
    return maps;
}

} // namespace weir
