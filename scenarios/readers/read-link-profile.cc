// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-link-profile.h"

#include "scenarios/readers/yaml-keys.h"

#include <algorithm>
#include <initializer_list>

namespace weir
{
namespace
{

constexpr double MIN_EFFICIENCY = 1e-6;

/** The efficiency in (0, 1] at @p key, or @p otherwise. */
double
Efficiency(const YamlNode& node, const char* key, double otherwise)
{
    return node.ReadOr(key, otherwise, &YamlNode::AsNumber, MIN_EFFICIENCY, 1);
}

std::string
NameOr(const YamlNode& node, const std::string& otherwise)
{
    return node.ReadOr("name", otherwise, &YamlNode::AsString);
}

/**
 * Whether @p key determines the value rather than one of @p others, which express the same
 * differently. Where both are given, the one that was written over the other's base counts.
 */
bool
IsMeant(const YamlNode& node, const char* key, std::initializer_list<const char*> others)
{
    const auto found = node.Find(key);
    return found && std::none_of(others.begin(), others.end(), [&](const char* name) {
               const auto other = node.Find(name);
               return other && other->IsOver(*found);
           });
}

/** Reads measured, source and ncclRate, which every profile has. */
LinkProfile
ReadWithoutLatency(const YamlNode& node)
{
    LinkProfile profile;
    profile.measured = Efficiency(node, "measured", 1);
    profile.source = ReadSource(node);
    node.Read("ncclRate", profile.ncclRate, &YamlNode::AsRateAboveZero);
    return profile;
}

/** Reads latency, too. */
LinkProfile
ReadCommon(const YamlNode& node)
{
    LinkProfile profile = ReadWithoutLatency(node);
    profile.latency = node.Get("latency").AsTime();
    return profile;
}

/**
 * Sets `measured` where @p node lacks it, or has that of a base over which it wrote one of
 * @p kinds, and notes that in the source.
 */
void
FillMeasured(const YamlNode& node,
             const TypicalEfficiency& typical,
             LinkProfile& profile,
             std::initializer_list<const char*> kinds = {})
{
    if (!IsMeant(node, "measured", kinds))
    {
        profile.measured = typical.measured;
        profile.source += "; measured, not given: " + typical.source;
    }
}

} // namespace

std::string
PcieName(uint32_t generation, uint32_t lanes)
{
    return "pcie" + std::to_string(generation) + "-x" + std::to_string(lanes);
}

LinkProfile
ReadNvLinkProfile(const YamlNode& node, const TypicalEfficiency& typical)
{
    LinkProfile profile = ReadCommon(node);
    profile.rawRate = node.Get("rate").AsRateAboveZero();
    profile.encoding = Efficiency(node, "encoding", 1);
    if (IsMeant(node, "framing", {"headerFlits"}))
    {
        profile.framing = Efficiency(node, "framing", 1);
    }
    else
    {
        profile.framing = NvLinkFraming(node.Get("headerFlits").AsCount(1, 16));
        FillMeasured(node, typical, profile);
    }
    profile.name = NameOr(node, "nvlink");
    return profile;
}

LinkProfile
ReadPcieProfile(const YamlNode& node, const TypicalEfficiency& typical)
{
    if (IsMeant(node, "rate", {"generation", "lanes", "maxPayload"}))
    {
        return ReadPlainProfile(node, "pcie");
    }
    LinkProfile profile = ReadCommon(node);
    const auto generation = node.Get("generation").AsCount(1, 6);
    const uint32_t lanes = ReadPowerOfTwo(node.Get("lanes"), 1, 16);
    profile.rawRate = PcieRawRate(generation, lanes);
    profile.encoding = PcieEncoding(generation);
    profile.framing = IsMeant(node, "framing", {"maxPayload"})
                          ? Efficiency(node, "framing", 1)
                          : PcieFraming(ReadPowerOfTwo(node.Get("maxPayload"), 128, 4096));
    profile.name = NameOr(node, PcieName(generation, lanes));
    FillMeasured(node, typical, profile);
    return profile;
}

LinkProfile
ReadPcieUplinkProfile(const YamlNode& node,
                      const LinkProfile& pcie,
                      const TypicalEfficiency& typical)
{
    if (IsMeant(node, "uplink", {"uplinkLanes"}))
    {
        const auto uplink = node.Find("uplink");
        uplink->CheckKeys(YamlKeysOf("system.node.pcie.uplink"));
        return ReadPcieProfile(*uplink, typical);
    }
    LinkProfile profile = pcie;
    if (const auto lanes = node.Find("uplinkLanes"))
    {
        const auto generation = node.Get("generation").AsCount(1, 6);
        const uint32_t count = ReadPowerOfTwo(*lanes, 1, 16);
        profile.rawRate = PcieRawRate(generation, count);
        profile.name = PcieName(generation, count) + "-uplink";
    }
    return profile;
}

LinkProfile
ReadPlainProfile(const YamlNode& node, const std::string& name)
{
    LinkProfile profile = ReadCommon(node);
    profile.rawRate = node.Get("rate").AsRateAboveZero();
    profile.encoding = Efficiency(node, "encoding", 1);
    profile.framing = Efficiency(node, "framing", 1);
    profile.name = NameOr(node, name);
    return profile;
}

LinkProfile
ReadNicProfile(const YamlNode& node, const TransportFigures& transport)
{
    LinkProfile profile = ReadWithoutLatency(node);
    profile.rawRate = node.Get("rate").AsRateAboveZero();
    profile.encoding = Efficiency(node, "encoding", 1);
    std::string kind = "network";
    if (IsMeant(node, "framing", {"transport", "mtu"}))
    {
        profile.framing = Efficiency(node, "framing", 1);
    }
    else
    {
        node.Get("transport"); // throws, naming the missing key
        const NetTransportTraits& traits = TraitsOf(transport.kind);
        const uint32_t mtu =
            IsMeant(node, "mtu", {"transport"}) ? ReadMtu(node.Get("mtu"), traits) : transport.mtu;
        profile.framing = traits.framing(mtu);
        kind = traits.name;
        FillMeasured(node, transport.port, profile, {"transport"});
    }
    if (IsMeant(node, "latency", {"transport"}) || !node.Has("transport"))
    {
        profile.latency = node.Get("latency").AsTime();
    }
    else
    {
        profile.latency = transport.latency;
        profile.source += "; latency, not given: " + transport.latencySource;
    }
    profile.name = NameOr(node, kind);
    return profile;
}

LinkProfile
ReadSwitchProfile(const YamlNode& node, const LinkProfile& nic, const std::string& source)
{
    LinkProfile profile = nic;
    profile.source = source;
    node.Read("rate", profile.rawRate, &YamlNode::AsRateAboveZero);
    profile.encoding = Efficiency(node, "encoding", nic.encoding);
    profile.framing = Efficiency(node, "framing", nic.framing);
    profile.measured = Efficiency(node, "measured", nic.measured);
    profile.latency = node.Get("latency").AsTime();
    profile.name = NameOr(node, "switch");
    if (node.Has("source"))
    {
        profile.source = ReadSource(node);
    }
    return profile;
}

} // namespace weir
