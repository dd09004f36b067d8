// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-packets.h"

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/packet/class-arbiter.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

#include <stdexcept>

namespace weir
{
namespace
{

Polymorphic<CongestionControl>
ReadCongestionControl(const YamlNode& map)
{
    const CongestionControlRegistry controls = CongestionControls();
    Polymorphic<CongestionControl> control = ReadComponent(map.Get("kind"), controls);
    std::vector<std::string> own = KeysOf(*control);
    own.emplace_back("kind");
    std::vector<std::string> all = own;
    for (Polymorphic<CongestionControl> each : controls)
    {
        const std::vector<std::string> keys = KeysOf(*each);
        all.insert(all.end(), keys.begin(), keys.end());
    }
    CheckKeysOfKind(
        map, own, all, "congestion controls of kind '" + std::string(control->Name()) + "'");
    SetParameters(map, *control);
    return control;
}

void
CheckArbitration(const YamlNode& map, const PacketSpec& spec)
{
    try
    {
        ClassArbiter(spec.arbitration, spec.trafficClasses);
    }
    catch (const std::invalid_argument& error)
    {
        map.Get("arbitration").Fail(error.what());
    }
}

void
CheckMarks(const YamlNode& map, const SwitchSpec& spec)
{
    if (spec.markFrom <= spec.markAll)
    {
        return;
    }
    if (const auto from = map.Find("markFrom"))
    {
        from->FailExpected("at most markAll, " + FormatBytes(spec.markAll));
    }
    const YamlNode all = map.Get("markAll");
    all.FailExpected("at least markFrom, " + FormatBytes(spec.markFrom));
}

} // namespace

CorrectionSpec
ReadCorrections(const YamlNode& node, const Catalog& catalog)
{
    const bool isName = node.IsScalar();
    const YamlNode map =
        isName ? YamlNode::Load(catalog.Find(CatalogKind::Corrections, node)) : node;
    map.CheckKeys(YamlKeysOf(isName ? "corrections" : "network.corrections"));
    CorrectionSpec spec;
    for (const auto& [key, part] : spec.Parts())
    {
        if (const auto found = map.Find(key))
        {
            ReadParameters(*found, *part);
            found->Get(KeysOf(*part).front()); // required: turns the model on
        }
    }
    if (spec.recovery.IsOn() && spec.ingress.IsOn())
    {
        map.Get("ingress").Fail(
            "found it with recovery, expected one of them: ingress is for "
            "senders that are slowed only by pauses or credits");
    }
    return spec;
}

CorrectionSpec
ReadCorrectionsFor(const YamlNode& node, Fidelity fidelity, const Catalog& catalog)
{
    const CorrectionSpec spec = ReadCorrections(node, catalog);
    const std::string with = std::string(" with fidelity ") + ToString(fidelity);
    if (fidelity != Fidelity::Stream && fidelity != Fidelity::Flow && fidelity != Fidelity::Hybrid)
    {
        node.Fail("found it" + with +
                  ", expected fidelity stream, flow or hybrid: only fluid flows are corrected");
    }
    if (fidelity == Fidelity::Hybrid && spec.ingress.IsOn())
    {
        node.Fail("found ingress" + with +
                  ", expected the other models: ingress does not support packets");
    }
    return spec;
}

SwitchSpec
ReadSwitch(const YamlNode& node, const Catalog& catalog)
{
    SwitchSpec spec;
    if (!node.IsScalar())
    {
        if (const auto base = node.Find("base"))
        {
            spec = ReadSwitch(*base, catalog);
        }
        ReadParameters(node, spec, {"base"});
        CheckMarks(node, spec);
        return spec;
    }
    const YamlNode model = ResolveBase(node, CatalogKind::Switches, catalog);
    ReadParameters(model, spec, YamlKeysOf("switch"));
    for (const std::string& key : KeysOf(spec))
    {
        if (const auto figure = model.Find(key))
        {
            ReadSource(*figure);
        }
    }
    return spec;
}

std::vector<std::string>
PacketKeys()
{
    PacketSpec spec;
    std::vector<std::string> keys{"congestionControl"};
    for (const auto& [key, part] : spec.Parts())
    {
        keys.emplace_back(key);
    }
    const std::vector<std::string> own = KeysOf(spec);
    keys.insert(keys.end(), own.begin(), own.end());
    return keys;
}

bool
IsOfPackets(const std::string& message)
{
    const std::size_t end = message.find_first_of(".: ");
    return end != std::string::npos && message[end] != ' ' &&
           IsAmong(message.substr(0, end), PacketKeys());
}

std::string
AddLocation(const YamlNode& network, const std::string& message)
{
    const auto [node, known] = network.FindDeepest(message.substr(0, message.find(':')));
    return known == 0 ? message : node.Where() + message.substr(known);
}

void
ExpectNotSettled(const YamlNode& network, const PacketSpec& packets)
{
    if (packets.settle.IsOn())
    {
        network.Get("settle").Fail(
            "found it with fidelity hybrid, expected fidelity packet: packets that share links "
            "with a fluid are not replayed");
    }
}

std::vector<std::string>
ReadLinkNames(const YamlNode& node)
{
    std::vector<std::string> names;
    for (std::string name : node.AsStrings())
    {
        const std::string arrow = "->";
        const std::size_t at = name.find(arrow);
        const std::size_t behind = name.find_first_not_of(' ', at + arrow.size());
        if (at != std::string::npos && behind != std::string::npos)
        {
            const std::string from = name.substr(0, name.find_last_not_of(' ', at - 1) + 1);
            name = from + arrow + name.substr(behind);
        }
        names.push_back(name);
    }
    return names;
}

void
CheckLinks(const YamlNode& node, const Topology& topology)
{
    const std::vector<std::string> names = ReadLinkNames(node);
    for (std::size_t number = 0; number < names.size(); number++)
    {
        const YamlNode link = node.Items()[number];
        try
        {
            LinksNamed(topology, names[number]);
        }
        catch (const std::invalid_argument&)
        {
            LinkId example(0);
            for (std::size_t i = topology.LinkCount(); i-- > 0;)
            {
                const bool isNetwork = topology.GetLink(LinkId(i)).kind == LinkKind::Network;
                example = isNetwork ? LinkId(i) : example;
            }
            link.FailExpected("the name of a link, as '" + topology.LinkName(example) +
                              "', in which * stands for any text");
        }
    }
}

PacketSpec
ReadPackets(const YamlNode& map, const std::vector<std::string>& others, const Catalog& catalog)
{
    PacketSpec spec;
    std::vector<std::string> known = others;
    for (const auto& [key, part] : spec.Parts())
    {
        known.emplace_back(key);
    }
    known.emplace_back("congestionControl");
    ReadParameters(map, spec, known);
    for (const auto& [key, part] : spec.Parts())
    {
        const auto found = map.Find(key);
        if (found && part == &spec.switches)
        {
            spec.switches = ReadSwitch(*found, catalog);
        }
        else if (found)
        {
            ReadParameters(*found, *part);
        }
    }
    CheckArbitration(map, spec);
    map.Read("congestionControl", spec.congestionControl, ReadCongestionControl);
    return spec;
}

} // namespace weir
