// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-place.h"

#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/yaml-keys.h"

#include <string>
#include <tuple>

namespace weir
{
namespace
{

constexpr const char* SOCKET = "cpu";
constexpr const char* SWITCH = "pcie";

/** "cpu0 to cpu1 or pcie0 to pcie3": the valid names. */
std::string
Choices(uint32_t sockets, uint32_t switches)
{
    const auto range = [](const char* name, uint32_t count) {
        const std::string first = std::string(name) + "0";
        return count == 1 ? first : first + " to " + name + std::to_string(count - 1);
    };
    return range(SOCKET, sockets) + (switches > 0 ? " or " + range(SWITCH, switches) : "");
}

PcieAttachment
ReadPlace(const YamlNode& node,
          uint32_t sockets,
          uint32_t switches,
          const TypicalEfficiency& typical)
{
    const YamlNode named = node.IsMap() ? node.Get("on") : node;
    const std::string text = named.AsString();
    PcieAttachment place;
    for (const auto& [name, parent, count] : {std::tuple{SOCKET, PcieParent::Socket, sockets},
                                              std::tuple{SWITCH, PcieParent::Switch, switches}})
    {
        for (uint32_t i = 0; i < count; i++)
        {
            if (text == name + std::to_string(i))
            {
                place.parent = parent;
                place.index = i;
                if (node.IsMap() && node.Keys().size() > 1)
                {
                    place.link = ReadSlotProfile(node, typical);
                }
                return place;
            }
        }
    }
    named.Fail("found '" + text + "', expected one of " + Choices(sockets, switches));
}

} // namespace

std::vector<PcieAttachment>
ReadPlaces(const YamlNode& list,
           uint32_t items,
           uint32_t sockets,
           uint32_t switches,
           const TypicalEfficiency& typical)
{
    std::vector<PcieAttachment> places;
    for (const YamlNode& item : list.Items())
    {
        places.push_back(ReadPlace(item, sockets, switches, typical));
    }
    if (places.size() != items)
    {
        list.Fail("found a list of " + std::to_string(places.size()) + ", expected " +
                  std::to_string(items) + " places");
    }
    return places;
}

std::vector<PcieAttachment>
ReadSwitchPlaces(const YamlNode& list, uint32_t sockets, const TypicalEfficiency& typical)
{
    std::vector<PcieAttachment> places;
    for (const YamlNode& item : list.Items())
    {
        places.push_back(ReadPlace(item, sockets, static_cast<uint32_t>(places.size()), typical));
    }
    return places;
}

std::string
PlaceName(const PcieAttachment& place)
{
    return (place.parent == PcieParent::Socket ? SOCKET : SWITCH) + std::to_string(place.index);
}

LinkProfile
ReadSlotProfile(const YamlNode& map, const TypicalEfficiency& typical)
{
    map.CheckKeys(YamlKeysOf("system.node.place"));
    return ReadPcieProfile(map, typical);
}

void
CheckPlainKeys(const YamlNode& map)
{
    map.CheckKeys(YamlKeysOf("link"));
}

} // namespace weir
