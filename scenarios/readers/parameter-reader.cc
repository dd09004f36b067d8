// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/parameter-reader.h"

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-kind.h"
#include "fabric/kinds/network-graph.h"
#include "fabric/parameters/parameter-keys.h"
#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/yaml/nearest-name.h"
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
    return static_cast<uint32_t>(node.AsInteger(range.minimum, range.maximum));
}

/** Throws unless @p value, which @p node is, is in its range; @p quantity is "a time". */
template <typename Q>
void
CheckRange(const YamlNode& node,
           Q value,
           ParameterRange<Q> range,
           std::string (*format)(Q),
           const std::string& quantity,
           bool isBounded)
{
    if (value < range.minimum || value > range.maximum)
    {
        node.Fail("found '" + node.AsString() + "', expected " + quantity +
                  (isBounded ? " from " + format(range.minimum) + " to " + format(range.maximum)
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
        shape.Fail("found " + std::to_string(read.size()) + " dimensions, expected one an item");
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
    if (const auto inside = node.Find("inside"))
    {
        dimension.isInside = inside->AsBool();
    }
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

} // namespace

ParameterReader::ParameterReader(YamlNode map, LinkProfile around)
    : m_map(std::move(map)),
      m_around(std::move(around))
{
}

std::optional<YamlNode>
ParameterReader::Find(const ParameterInfo& info) const
{
    if (info.presence == Presence::Required)
    {
        return m_map.Get(info.key);
    }
    auto found = m_map.Find(info.key);
    const auto kind = m_map.Find("kind");
    const bool isOfAnotherKind = info.presence == Presence::OwnKind && found && kind &&
                                 found->IsInherited() && found->File() != kind->File();
    if (found && !isOfAnotherKind && found->IsMap() && found->Has("value"))
    {
        return ReadSourced(*found);
    }
    return isOfAnotherKind ? std::nullopt : found;
}

void
ParameterReader::Count(const ParameterInfo& info, uint32_t& value, ParameterRange<uint32_t> range)
{
    if (const auto found = Find(info))
    {
        value = CountIn(*found, range);
    }
}

void
ParameterReader::OptionalCount(const ParameterInfo& info,
                               std::optional<uint32_t>& value,
                               ParameterRange<uint32_t> range)
{
    if (const auto found = Find(info))
    {
        value = CountIn(*found, range);
    }
}

void
ParameterReader::Counts(const ParameterInfo& info,
                        std::vector<uint32_t>& values,
                        ParameterRange<uint32_t> range)
{
    const auto found = Find(info);
    if (!found)
    {
        return;
    }
    values.clear();
    if (!found->IsScalar())
    {
        for (const YamlNode& item : found->Items())
        {
            values.push_back(CountIn(item, range));
        }
    }
    for (const FabricDimension& ring :
         found->IsScalar() ? ReadDimensionText(*found) : std::vector<FabricDimension>())
    {
        if (ring.kind != DimensionKind::Ring || ring.size < range.minimum ||
            ring.size > range.maximum)
        {
            found->Fail("found '" + ToString(ring) + "' in '" + found->AsString() +
                        "', expected counts from " + std::to_string(range.minimum) + " to " +
                        std::to_string(range.maximum) + ", such as 4x4x2");
        }
        values.push_back(ring.size);
    }
    if (values.empty())
    {
        found->Fail("found an empty list, expected at least one count");
    }
}

void
ParameterReader::Number(const ParameterInfo& info, double& value, ParameterRange<double> range)
{
    if (const auto found = Find(info))
    {
        value = found->AsNumber(range.minimum, range.maximum);
    }
}

void
ParameterReader::Flag(const ParameterInfo& info, bool& value)
{
    if (const auto found = Find(info))
    {
        value = found->AsBool();
    }
}

void
ParameterReader::Duration(const ParameterInfo& info, Time& value, ParameterRange<Time> range)
{
    if (const auto found = Find(info))
    {
        if (range.maximum.IsInfinite() && found->AsString() == "inf")
        {
            value = Time::Infinite();
            return;
        }
        value = found->AsTime();
        CheckRange(*found, value, range, FormatTime, "a time", !range.maximum.IsInfinite());
    }
}

void
ParameterReader::Size(const ParameterInfo& info, Bytes& value, ParameterRange<Bytes> range)
{
    if (const auto found = Find(info))
    {
        constexpr int64_t UNBOUNDED = std::numeric_limits<int64_t>::max();
        value = found->AsBytes();
        CheckRange(*found, value, range, FormatBytes, "a size", range.maximum.Count() < UNBOUNDED);
    }
}

void
ParameterReader::DataRate(const ParameterInfo& info, Rate& value, ParameterRange<Rate> range)
{
    if (const auto found = Find(info))
    {
        value = found->AsRate();
        CheckRange(*found, value, range, FormatRate, "a rate", !range.maximum.IsInfinite());
    }
}

void
ParameterReader::Seed(const ParameterInfo& info, uint64_t& value)
{
    if (const auto found = Find(info))
    {
        value = static_cast<uint64_t>(found->AsInteger(0, std::numeric_limits<int64_t>::max()));
    }
}

void
ParameterReader::Text(const ParameterInfo& info, std::string& value)
{
    if (const auto found = Find(info))
    {
        value = found->AsString();
    }
}

void
ParameterReader::Choice(const ParameterInfo& info,
                        std::size_t& index,
                        const std::vector<std::string>& names)
{
    if (const auto found = Find(info))
    {
        const auto name = std::find(names.begin(), names.end(), found->AsString());
        if (name == names.end())
        {
            found->FailChoice(names);
        }
        index = static_cast<std::size_t>(name - names.begin());
    }
}

void
ParameterReader::Selection(const ParameterInfo& info,
                           std::vector<uint32_t>& indices,
                           const std::vector<std::string>& names,
                           const std::string& what)
{
    const auto found = Find(info);
    if (!found)
    {
        return;
    }
    std::unordered_map<std::string, uint32_t> byName;
    for (const std::string& name : names)
    {
        byName.emplace(name, static_cast<uint32_t>(byName.size()));
    }
    std::vector<bool> isTaken(names.size(), false);
    indices.clear();
    for (const YamlNode& item : found->Items())
    {
        const std::string name = item.AsString();
        const auto index = byName.find(name);
        if (index == byName.end())
        {
            item.Fail("found '" + name + "', expected " + what + DidYouMean(name, names));
        }
        if (isTaken[index->second])
        {
            item.Fail("found '" + name + "' again, expected each once");
        }
        isTaken[index->second] = true;
        indices.push_back(index->second);
    }
    if (indices.empty())
    {
        found->Fail("found an empty list, expected " + what);
    }
}

void
ParameterReader::Link(const ParameterInfo& info, LinkProfile& value)
{
    if (const auto found = Find(info))
    {
        value = ReadFabricLink(*found, m_around);
    }
}

void
ParameterReader::Dimensions(const ParameterInfo& info, std::vector<FabricDimension>& values)
{
    const auto found = Find(info);
    if (!found)
    {
        return;
    }
    if (found->IsScalar())
    {
        values = ReadDimensionText(*found);
        return;
    }
    values.clear();
    for (const YamlNode& item : found->Items())
    {
        values.push_back(ReadDimension(item, m_around));
        if (values.back().isInside && values.size() > 1)
        {
            item.Fail("found a later dimension inside the nodes, expected the first at most");
        }
    }
    if (values.empty())
    {
        found->Fail("found an empty list, expected the dimensions");
    }
}

void
ParameterReader::Graph(const ParameterInfo& info, NetworkGraph& value)
{
    const auto found = Find(info);
    if (!found)
    {
        return;
    }
    const std::string path = found->AsPathBesideFile();
    if (!std::filesystem::is_regular_file(path))
    {
        found->Fail("found '" + path +
                    "', expected a file: a graph as YAML, GraphML or HPCC topology");
    }
    value = ReadGraph(path, m_around);
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
    ParameterReader reader(map);
    component.VisitParameters(reader);
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
        if (std::find(own.begin(), own.end(), key) == own.end() && !value.IsInherited())
        {
            value.Fail("found a key that " + what + " have not, expected of: " + JoinNames(own));
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
