// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-attachment.h"

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
ReadAttachment(const YamlNode& node,
               uint32_t sockets,
               uint32_t switches,
               const TypicalEfficiency& typical)
{
    const YamlNode named = node.IsMap() ? node.Get("on") : node;
    const std::string text = named.AsString();
    PcieAttachment attachment;
    for (const auto& [name, parent, count] : {std::tuple{SOCKET, PcieParent::Socket, sockets},
                                              std::tuple{SWITCH, PcieParent::Switch, switches}})
    {
        for (uint32_t i = 0; i < count; i++)
        {
            if (text == name + std::to_string(i))
            {
                attachment.parent = parent;
                attachment.index = i;
                if (node.IsMap() && node.Keys().size() > 1)
                {
                    attachment.link = ReadSlotProfile(node, typical);
                }
                return attachment;
            }
        }
    }
    named.Fail("found '" + text + "', expected one of " + Choices(sockets, switches));
}

} // namespace

std::vector<PcieAttachment>
ReadAttachments(const YamlNode& list,
                uint32_t items,
                uint32_t sockets,
                uint32_t switches,
                const TypicalEfficiency& typical)
{
    std::vector<PcieAttachment> attachments;
    for (const YamlNode& item : list.Items())
    {
        attachments.push_back(ReadAttachment(item, sockets, switches, typical));
    }
    if (attachments.size() != items)
    {
        list.Fail("found a list of " + std::to_string(attachments.size()) + ", expected " +
                  std::to_string(items) + " attachments");
    }
    return attachments;
}

std::vector<PcieAttachment>
ReadSwitchAttachments(const YamlNode& list, uint32_t sockets, const TypicalEfficiency& typical)
{
    std::vector<PcieAttachment> attachments;
    for (const YamlNode& item : list.Items())
    {
        attachments.push_back(
            ReadAttachment(item, sockets, static_cast<uint32_t>(attachments.size()), typical));
    }
    return attachments;
}

std::string
AttachmentName(const PcieAttachment& attachment)
{
    return (attachment.parent == PcieParent::Socket ? SOCKET : SWITCH) +
           std::to_string(attachment.index);
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
