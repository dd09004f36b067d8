// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-traffic.h"

#include "fabric/routing/flow-hash.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/text-file.h"

#include <filesystem>
#include <limits>
#include <set>

namespace weir
{

namespace
{

constexpr int64_t MAX_ROUNDS = 1'000'000;
constexpr int64_t MAX_END_POINTS = int64_t{1} << 24;
constexpr double MIN_LOAD = 1e-6;
constexpr double MAX_LOAD = 10;
constexpr double MAX_SIZE = 1e15; // bytes
constexpr double PERCENT = 100;

/** Throws at a key of another pattern. */
void
CheckPatternKeys(const YamlNode& node, TrafficKind kind)
{
    for (const std::string& key : node.Keys())
    {
        for (const auto& [name, other] : TrafficKindNames())
        {
            if (!HasTrafficKey(kind, key) && HasTrafficKey(other, key))
            {
                node.Get(key).Fail("found it beside pattern '" + std::string(ToString(kind)) +
                                   "', expected pattern " + name + " with it");
            }
        }
    }
}

SizeDistribution
FromYaml(const std::string& path)
{
    const YamlNode node = YamlNode::Load(path);
    node.CheckKeys(YamlKeysOf("flow-sizes"));
    const YamlNode list = node.Get("points");
    std::vector<std::pair<double, double>> points;
    for (const YamlNode& point : list.Items())
    {
        const std::vector<YamlNode> pair = point.Items();
        if (pair.size() != 2)
        {
            point.Fail("found a list of " + std::to_string(pair.size()) +
                       ", expected [bytes, percent]");
        }
        points.emplace_back(pair[0].AsNumber(0, MAX_SIZE), pair[1].AsNumber(0, PERCENT) / PERCENT);
    }
    return ConvertErrors(list.Where(), [&] { return SizeDistribution(std::move(points)); });
}

SizeDistribution
FromText(const std::string& path)
{
    LocatedLines lines(path, "sizes");
    std::vector<std::pair<double, double>> points;
    while (lines.NextAtSpaces())
    {
        if (lines.Fields().size() != 2)
        {
            throw lines.Error("found " + std::to_string(lines.Fields().size()) +
                              " fields, expected: bytes percent");
        }
        const double size = lines.Decimal(0, "bytes");
        const double percent = lines.Decimal(1, "percent");
        if (!(size >= 0 && size <= MAX_SIZE && percent >= 0 && percent <= PERCENT))
        {
            throw lines.Error(
                "found a size or a percentage out of range, expected 0 to 1e15 bytes "
                "and 0 to 100");
        }
        points.emplace_back(size, percent / PERCENT);
    }
    return ConvertErrors(lines.Where(), [&] { return SizeDistribution(std::move(points)); });
}

/** Reads sizes by name or path; a path is relative to the file that names it. */
SizeDistribution
ReadSizes(const YamlNode& node, const Catalog& catalog)
{
    const std::string text = node.AsString();
    const std::filesystem::path beside = std::filesystem::path(node.File()).parent_path() / text;
    std::error_code unknown;
    const std::string path = std::filesystem::exists(beside, unknown) ? beside.string() : text;
    const bool isText = std::filesystem::path(text).has_extension() && !IsYamlFile(text);
    if (!isText || !std::filesystem::exists(path, unknown))
    {
        return FromYaml(catalog.Find(CatalogKind::FlowSizes, node));
    }
    return FromText(path);
}

void
ReadFlowSizes(const YamlNode& node, const Catalog& catalog, TrafficSpec& spec)
{
    if (const auto sizes = node.Find("sizes"))
    {
        spec.sizes = ReadSizes(*sizes, catalog);
        spec.sizesName = sizes->AsString();
        if (const auto bytes = node.Find("bytes"))
        {
            bytes->Fail("found it beside sizes, expected one of them");
        }
        return;
    }
    if (!node.Find("bytes"))
    {
        node.Fail("found neither sizes nor bytes, expected one of them");
    }
    spec.sizes = SizeDistribution(node.Get("bytes").AsSizeAboveZero());
}

void
ReadRounds(const YamlNode& node, bool hasUntil, TrafficSpec& spec)
{
    node.Read("every", spec.every, &YamlNode::AsTimeAboveZero);
    if (const auto times = node.Find("times"))
    {
        spec.times = times->AsCount(1, MAX_ROUNDS);
        if (spec.times > 1)
        {
            node.Get("every");
        }
    }
    else if (spec.every > Time() && (hasUntil || !spec.duration.IsInfinite()))
    {
        spec.times = std::numeric_limits<uint32_t>::max();
    }
}

NumberRange
ReadNumberRange(const YamlNode& node)
{
    const std::string text = node.AsString();
    const std::size_t dash = text.find('-');
    const auto first = ParseNumber<uint32_t>(text.substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : ParseNumber<uint32_t>(text.substr(dash + 1));
    if (!first || !last || *last < *first)
    {
        node.FailExpected("a number from 0 to " +
                          std::to_string(std::numeric_limits<uint32_t>::max()) +
                          ", or two that ascend, such as 0-15");
    }
    return {*first, *last, node.Where()};
}

} // namespace

SizeDistribution
LoadFlowSizes(const std::string& nameOrPath, const Catalog& catalog)
{
    return ReadSizes(YamlNode::ParseArgument(nameOrPath, "NAME"), catalog);
}

TrafficSpec
ReadTraffic(
    const YamlNode& node, const Catalog& catalog, uint64_t seed, bool hasUntil, bool isInFile)
{
    node.CheckKeys(YamlKeysOf(isInFile ? "traffic file.traffic" : "job.traffic"));
    TrafficSpec spec;
    spec.where = node.Where();
    spec.kind = node.Get("pattern").AsEnum(TrafficKindNames());
    CheckPatternKeys(node, spec.kind);
    spec.seed = seed;
    node.Read("seed", spec.seed, &YamlNode::AsSeed);
    node.Read("duration", spec.duration, &YamlNode::AsTimeAboveZero);
    const auto has = [&spec](const char* key) { return HasTrafficKey(spec.kind, key); };
    if (has("times"))
    {
        ReadRounds(node, hasUntil, spec);
    }
    else if (!hasUntil && spec.duration.IsInfinite())
    {
        node.Get("duration"); // throws: without a duration the traffic never ends
    }
    if (has("sizes"))
    {
        ReadFlowSizes(node, catalog, spec);
    }
    if (has("load"))
    {
        spec.load = node.Get("load").AsNumber(MIN_LOAD, MAX_LOAD);
    }
    if (has("senders"))
    {
        spec.senders = node.Get("senders").AsCount(1, MAX_END_POINTS);
    }
    if (has("on"))
    {
        spec.on = node.Get("on").AsTimeAboveZero();
        spec.off = node.Get("off").AsTime();
        node.Read("rate", spec.rate, &YamlNode::AsRateAboveZero);
        node.Read("spans", spec.isFixed, SpanNames());
    }
    return spec;
}

std::vector<FileTraffic>
LoadTrafficFile(const std::string& path, const Catalog& catalog)
{
    const YamlNode node = YamlNode::Load(path);
    node.CheckKeys(YamlKeysOf("traffic file"));
    const auto seed = node.ReadOr("seed", uint64_t{1}, &YamlNode::AsSeed);
    std::vector<FileTraffic> traffics;
    for (const YamlNode& item : node.Get("traffic").ItemsOf("at least one pattern"))
    {
        FileTraffic traffic;
        const uint64_t own = seed ^ SplitMix64(traffics.size());
        traffic.spec = ReadTraffic(item, catalog, own, false, true);
        item.Read("start", traffic.spec.start, &YamlNode::AsTime);
        if (const auto ends = item.Find("endPoints"))
        {
            traffic.where = ends->Where();
            std::set<uint32_t> known;
            for (const NumberRange& range : ReadNumberRanges(*ends))
            {
                if (range.last > MAX_END_POINTS)
                {
                    throw InputError(range.where + ": found " + std::to_string(range.last) +
                                     ", expected at most " + std::to_string(MAX_END_POINTS));
                }
                for (uint32_t number = range.first; number <= range.last; number++)
                {
                    if (!known.insert(number).second)
                    {
                        throw InputError(range.where + ": found " + std::to_string(number) +
                                         " again, expected each once");
                    }
                    traffic.endPoints.push_back(number);
                }
            }
        }
        traffics.push_back(std::move(traffic));
    }
    node.CheckAllRead({"title"});
    return traffics;
}

std::vector<NumberRange>
ReadNumberRanges(const YamlNode& list)
{
    return list.Each(ReadNumberRange);
}

} // namespace weir
