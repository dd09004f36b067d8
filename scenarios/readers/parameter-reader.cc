// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/parameter-reader.h"

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-kind.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <unordered_map>
#include <utility>

namespace weir
{
namespace
{

uint32_t
CountIn(const YamlNode& node, ParameterRange<uint32_t> range)
{
    return node.AsCount(range.minimum, range.maximum);
}

/** Throws unless a parameter read from @p node is in its range; @p what names it: "a time". */
template <typename Q>
void
CheckRange(const YamlNode& node,
           const RangedParameter<Q>& parameter,
           std::string (*format)(Q),
           const std::string& what,
           bool isBounded)
{
    const auto& [value, range] = parameter;
    if (value < range.minimum || value > range.maximum)
    {
        node.FailExpected(
            what + (isBounded ? " from " + format(range.minimum) + " to " + format(range.maximum)
                              : " of at least " + format(range.minimum)));
    }
}

std::vector<FabricDimension>
ReadDimensionText(const YamlNode& node)
{
    const std::string text = node.AsString();
    try
    {
        return ParseDimensions(text);
    }
    catch (const DimensionTextError& error)
    {
        const std::string why =
            error.what() + DidYouMean(error.UnknownShape(), {"Ring", "FullyConnected", "Switch"});
        node.Fail("found '" + text + "', " + why + (why.empty() ? "" : ", ") +
                  "expected dimensions like Ring(4) x FullyConnected(8) x Switch(2)");
    }
}

/** One item of a list of dimensions: "Ring(4)", or {shape: Ring(4), rate: ..., ...}. */
FabricDimension
ReadDimension(const YamlNode& node, const LinkProfile& around)
{
    const YamlNode shape = node.IsMap() ? node.Get("shape") : node;
    const auto read = ReadDimensionText(shape);
    if (read.size() != 1)
    {
        shape.Fail("found " + std::to_string(read.size()) + " dimensions, expected one per item");
    }
    FabricDimension dimension = read.front();
    if (!node.IsMap())
    {
        return dimension;
    }
    std::vector<std::string> keys = YamlKeysOf("system.fabric.dimensions");
    const std::vector<std::string> ofLinks = YamlKeysOf("link");
    keys.insert(keys.end(), ofLinks.begin(), ofLinks.end());
    node.CheckKeys(keys);
    node.Read("inside", dimension.isInside, &YamlNode::AsBool);
    if (const auto links = node.Find("links"))
    {
        dimension.links = CountIn(*links, {1, MAX_PORTS});
    }
    if (node.Has("latency"))
    {
        dimension.link = ReadSwitchProfile(node, around, around.source);
    }
    else if (node.Has("rate"))
    {
        node.Get("latency");
    }
    return dimension;
}

struct ParameterValueReader
{
    const YamlNode& node;
    const LinkProfile& around; //!< the links around the component

    void operator()(const CountParameter& count) const
    {
        count.value = CountIn(node, count.range);
    }

    void operator()(const OptionalCountParameter& count) const
    {
        count.value = CountIn(node, count.range);
    }

    void operator()(const CountsParameter& counts) const
    {
        if (!node.IsScalar())
        {
            counts.value = node.EachOf("at least one count", CountIn, counts.range);
            return;
        }
        counts.value.clear();
        const auto [minimum, maximum] = counts.range;
        for (const FabricDimension& ring : ReadDimensionText(node))
        {
            if (ring.kind != DimensionKind::Ring || ring.size < minimum || ring.size > maximum)
            {
                node.Fail("found '" + ToString(ring) + "' in '" + node.AsString() +
                          "', expected counts from " + std::to_string(minimum) + " to " +
                          std::to_string(maximum) + ", such as 4x4x2");
            }
            counts.value.push_back(ring.size);
        }
    }

    void operator()(const NumberParameter& number) const
    {
        number.value = node.AsNumber(number.range.minimum, number.range.maximum);
    }

    void operator()(const FlagParameter& flag) const
    {
        flag.value = node.AsBool();
    }

    void operator()(const DurationParameter& duration) const
    {
        const bool isBounded = !duration.range.maximum.IsInfinite();
        if (!isBounded && node.AsString() == "inf")
        {
            duration.value = Time::Infinite();
            return;
        }
        duration.value = node.AsTime();
        CheckRange(node, duration, FormatTime, "a time", isBounded);
    }

    void operator()(const SizeParameter& size) const
    {
        constexpr int64_t UNBOUNDED = std::numeric_limits<int64_t>::max();
        size.value = node.AsBytes();
        CheckRange(node, size, FormatBytes, "a size", size.range.maximum.Count() < UNBOUNDED);
    }

    void operator()(const DataRateParameter& rate) const
    {
        rate.value = node.AsRate();
        CheckRange(node, rate, FormatRate, "a rate", !rate.range.maximum.IsInfinite());
    }

    void operator()(const SeedParameter& seed) const
    {
        seed.value = node.AsSeed();
    }

    void operator()(const TextParameter& text) const
    {
        text.value = node.AsString();
    }

    void operator()(const ChoiceParameter& choice) const
    {
        const auto name = std::find(choice.names.begin(), choice.names.end(), node.AsString());
        if (name == choice.names.end())
        {
            node.FailChoice(choice.names);
        }
        choice.index = static_cast<std::size_t>(name - choice.names.begin());
    }

    void operator()(const SelectionParameter& selection) const
    {
        const auto& [indices, names, what] = selection;
        std::unordered_map<std::string, uint32_t> byName;
        for (const std::string& name : names)
        {
            byName.emplace(name, static_cast<uint32_t>(byName.size()));
        }
        std::vector<bool> isTaken(names.size(), false);
        indices.clear();
        for (const YamlNode& item : node.ItemsOf(what))
        {
            const std::string name = item.AsString();
            const auto index = byName.find(name);
            if (index == byName.end())
            {
                item.FailExpected(what + DidYouMean(name, names));
            }
            if (isTaken[index->second])
            {
                item.Fail("found '" + name + "' again, expected each once");
            }
            isTaken[index->second] = true;
            indices.push_back(index->second);
        }
    }

    void operator()(const LinkParameter& link) const
    {
        link.value = ReadFabricLink(node, around);
    }

    void operator()(const DimensionsParameter& dimensions) const
    {
        std::vector<FabricDimension>& values = dimensions.value;
        if (node.IsScalar())
        {
            values = ReadDimensionText(node);
            return;
        }
        values.clear();
        for (const YamlNode& item : node.ItemsOf("the dimensions"))
        {
            values.push_back(ReadDimension(item, around));
            if (values.back().isInside && values.size() > 1)
            {
                item.Fail("found a later dimension inside the nodes, expected the first at most");
            }
        }
    }

    void operator()(const GraphParameter& graph) const
    {
        const std::string path = node.AsPathBesideFile();
        if (!std::filesystem::is_regular_file(path))
        {
            node.Fail("found '" + path +
                      "', expected a file: a graph as YAML, GraphML or HPCC topology");
        }
        graph.value = ReadGraph(path, around);
    }
};

/** The value of a parameter in @p map, unless it was inherited for another kind of component. */
std::optional<YamlNode>
FindParameter(const YamlNode& map, const ParameterInfo& info)
{
    if (info.presence == Presence::Required)
    {
        return map.Get(info.key);
    }
    auto found = map.Find(info.key);
    const auto kind = map.Find("kind");
    const bool isOfAnotherKind = info.presence == Presence::OwnKind && found && kind &&
                                 found->IsInherited() && found->File() != kind->File();
    if (found && !isOfAnotherKind && found->IsMap() && found->Has("value"))
    {
        return ReadSourced(*found);
    }
    return isOfAnotherKind ? std::nullopt : found;
}

} // namespace

void
SetParameters(const YamlNode& map, Parameterized& component, const LinkProfile& around)
{
    ForEachParameter(component, [&](const ParameterInfo& info, const Parameter& parameter) {
        if (const auto found = FindParameter(map, info))
        {
            std::visit(ParameterValueReader{*found, around}, parameter);
        }
    });
}

void
SetParameters(const FindValue& find, Parameterized& component)
{
    ForEachParameter(component, [&find](const ParameterInfo& info, const Parameter& parameter) {
        if (const auto found = find(info.key))
        {
            std::visit(ParameterValueReader{*found, LinkProfile()}, parameter);
        }
    });
}

void
ReadParameters(const YamlNode& map,
               Parameterized& component,
               const std::vector<std::string>& others)
{
    std::vector<std::string> keys = others;
    for (std::string& key : KeysOf(component))
    {
        keys.push_back(std::move(key));
    }
    map.CheckKeys(keys);
    SetParameters(map, component);
}

void
CheckKeysOfKind(const YamlNode& map,
                const std::vector<std::string>& own,
                const std::vector<std::string>& all,
                const std::string& what)
{
    map.CheckKeys(all);
    for (const std::string& key : map.Keys())
    {
        const YamlNode value = map.Get(key);
        if (!IsAmong(key, own) && !value.IsInherited())
        {
            value.Fail("found a key that " + what +
                       " do not have, expected one of: " + JoinNames(own));
        }
    }
}

LinkProfile
ReadFabricLink(const YamlNode& node, const LinkProfile& around)
{
    node.CheckKeys(YamlKeysOf("link"));
    return ReadSwitchProfile(node, around, around.source);
}

} // namespace weir
