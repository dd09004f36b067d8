// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-nccl.h"

#include "collectives/nccl/nccl-constants.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace weir
{

namespace
{

constexpr int64_t MAX_CHANNELS = 64;

/** Passes the text of @p key to the setter @p set of @p filter. */
void
ReadList(const YamlNode& map,
         const char* key,
         NcclFilter& filter,
         void (NcclFilter::*set)(const std::string&))
{
    if (const auto list = map.Find(key))
    {
        ConvertErrors(list->Where(), [&] { (filter.*set)(list->AsString()); });
    }
}

/** Reads "8/256": a part and the whole. */
std::pair<uint32_t, uint32_t>
ReadPartOfAll(const YamlNode& node)
{
    constexpr uint32_t MAX_PARTS = 1 << 20;
    const std::string text = node.AsString();
    uint32_t part = 0;
    uint32_t all = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%7u/%7u%c", &part, &all, &rest) != 2 || part == 0 ||
        all < part || all > MAX_PARTS)
    {
        node.FailExpected("a part of all, such as 8/256, up to " + std::to_string(MAX_PARTS));
    }
    return {part, all};
}

/** Checks the channel limits against each other, and that buffers consist of whole steps. */
void
CheckParameters(const NcclSettings& settings, const FindValue& find)
{
    const ChannelLimits& limits = settings.channelLimits;
    if (limits.min > limits.max)
    {
        find("minChannels")
            ->Fail("found " + std::to_string(limits.min) + ", expected at most the maximum, " +
                   std::to_string(limits.max));
    }
    if (settings.simpleBuffer.Count() % SIMPLE_BUFFER_STEP.Count() != 0)
    {
        const YamlNode size = *find("bufferSize");
        size.FailExpected("a multiple of 8 KiB up to 1 GiB");
    }
}

} // namespace

std::string
ReadNcclVersion(const YamlNode& node)
{
    const std::string version = node.AsString();
    try
    {
        NcclVersion::Parse(version);
    }
    catch (const std::invalid_argument&)
    {
        node.FailExpected("a version from 2.4.0 on, such as 2.30.7");
    }
    return version;
}

std::string
NoteOnNcclVersion(const YamlNode& node)
{
    const std::string version = node.AsString();
    const std::string newest = NcclSettings().version;
    const NcclVersion known = NcclVersion::Parse(newest);
    return NcclVersion::Parse(version).AtLeast(known.minor, known.patch + 1)
               ? node.Where() + ": found " + version + ", newer than " + newest +
                     ", whose constants are used"
               : "";
}

DimensionWiseSettings
ReadDimensionWise(const FindValue& find)
{
    constexpr int64_t MAX_CHUNKS = 1024;
    constexpr double MIN_DENSITY = 1e-6;
    DimensionWiseSettings settings;
    const auto read = [&find](const char* key, auto& value, auto as, auto... arguments) {
        if (const auto found = find(key))
        {
            value = std::invoke(as, *found, arguments...);
        }
    };
    if (const auto algorithms = find("perDimension"))
    {
        const auto choices = ChoicesUpTo(DimensionAlgorithm::HalvingDoubling);
        settings.algorithms =
            algorithms->EachOf("at least one algorithm",
                               [&choices](const YamlNode& item) { return item.AsEnum(choices); });
    }
    read("chunks", settings.chunks, &YamlNode::AsCount, 1, MAX_CHUNKS);
    read("balanced", settings.balanced, &YamlNode::AsBool);
    read("endpointDelay", settings.endpointDelay, &YamlNode::AsTime);
    read("memoryRate", settings.memoryRate, &YamlNode::AsRateAboveZero);
    if (const auto dispatch = find("dispatch"))
    {
        settings.dispatch.emplace();
        std::tie(settings.dispatch->expertsOfToken, settings.dispatch->experts) =
            ReadPartOfAll(*dispatch);
    }
    if (const auto groups = find("expertGroups"))
    {
        if (!settings.dispatch)
        {
            groups->Fail("found it without a dispatch, expected both");
        }
        std::tie(settings.dispatch->groupsOfToken, settings.dispatch->groups) =
            ReadPartOfAll(*groups);
    }
    if (const auto direct = find("direct"))
    {
        if (!settings.dispatch)
        {
            direct->Fail("found it without a dispatch, expected both");
        }
        settings.dispatch->isDirect = direct->AsBool();
        if (settings.dispatch->isDirect && find("expertGroups"))
        {
            direct->Fail(
                "found it with expertGroups, which do not change it, expected one of both");
        }
    }
    if (const auto density = find("density"))
    {
        settings.sparsity.emplace();
        settings.sparsity->density = density->AsPercent(MIN_DENSITY, 1);
    }
    if (const auto rate = find("selectionRate"))
    {
        if (!settings.sparsity)
        {
            rate->Fail("found it without a density, expected both");
        }
        settings.sparsity->selection = rate->AsRateAboveZero();
    }
    return settings;
}

void
ReadNcclParameters(const FindValue& find, NcclSettings& settings)
{
    SetParameters(find, settings);
    CheckParameters(settings, find);
}

void
ReadNcclParameters(const YamlNode& map, const char* keys, NcclSettings& settings)
{
    ReadParameters(map, settings, YamlKeysOf(keys));
    CheckParameters(settings, [&map](const char* key) { return map.Find(key); });
}

NcclSettings
ReadNccl(const YamlNode& node)
{
    NcclSettings settings;
    if (node.IsScalar())
    {
        settings.version = ReadNcclVersion(node);
        return settings;
    }
    ReadNcclParameters(node, "network.nccl", settings);
    node.Read("version", settings.version, ReadNcclVersion);
    ReadList(node, "algorithms", settings.filter, &NcclFilter::SetAlgorithms);
    ReadList(node, "protocols", settings.filter, &NcclFilter::SetProtocols);
    if (const auto map = node.Find("dimensionWise"))
    {
        map->CheckKeys(YamlKeysOf("network.nccl.dimensionWise"));
        settings.dimensionWise = ReadDimensionWise([&](const char* key) { return map->Find(key); });
    }
    return settings;
}

CollectiveOverrides
ReadOverrides(const YamlNode& call)
{
    CollectiveOverrides overrides;
    call.Read("algorithm", overrides.algorithm, CalledAlgorithms());
    call.Read("protocol", overrides.protocol, ChoicesUpTo(Protocol::Simple));
    call.Read("channels", overrides.channels, &YamlNode::AsCount, 1, MAX_CHANNELS);
    return overrides;
}

} // namespace weir
