// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/attachments.h"

#include "scenarios/readers/read-link-profile.h"
#include "scenarios/readers/yaml-keys.h"

#include <algorithm>
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
    named.FailExpected("one of " + Choices(sockets, switches));
}

/**
 * The shortest form of @p attachments: without links that equal @p typical, and none where they are
 * then those of @p even.
 */
std::vector<PcieAttachment>
Shortest(std::vector<PcieAttachment> attachments,
         const LinkProfile& typical,
         const std::vector<PcieAttachment>& even)
{
    for (PcieAttachment& attachment : attachments)
    {
        if (attachment.link && IsSameLink(*attachment.link, typical))
        {
            attachment.link.reset();
        }
    }
    const bool isEven = std::equal(attachments.begin(),
                                   attachments.end(),
                                   even.begin(),
                                   even.end(),
                                   [](const PcieAttachment& a, const PcieAttachment& b) {
                                       return a.parent == b.parent && a.index == b.index && !a.link;
                                   });
    return isEven ? std::vector<PcieAttachment>() : attachments;
}

} // namespace

std::vector<PcieAttachment>
ReadAttachments(const YamlNode& list,
                uint32_t items,
                uint32_t sockets,
                uint32_t switches,
                const TypicalEfficiency& typical)
{
    auto attachments = list.Each(ReadAttachment, sockets, switches, typical);
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

std::vector<uint32_t>
IndicesOn(PcieParent parent, uint32_t index, const std::vector<PcieAttachment>& attachments)
{
    std::vector<uint32_t> indices;
    for (uint32_t i = 0; i < attachments.size(); i++)
    {
        if (attachments[i].parent == parent && attachments[i].index == index)
        {
            indices.push_back(i);
        }
    }
    return indices;
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
    map.CheckKeys(YamlKeysOf("system.node.attachment"));
    return ReadPcieProfile(map, typical);
}

bool
IsSameLink(const LinkProfile& a, const LinkProfile& b)
{
    return a.name == b.name && a.rawRate == b.rawRate && a.encoding == b.encoding &&
           a.framing == b.framing && a.measured == b.measured && a.latency == b.latency &&
           a.ncclRate == b.ncclRate;
}

void
SetAttachments(NodeSpec& spec, const NodeAttachments& attachments, bool gpusOnChip)
{
    spec.gpuLink.reset();
    spec.nicPcie.reset();
    if (!attachments.cards.empty())
    {
        spec.pcie = *attachments.cards.front().link;
    }
    if (gpusOnChip)
    {
        spec.gpuLink = attachments.gpus.front().link;
    }
    else
    {
        spec.pcie = *attachments.gpus.front().link;
    }
    if (!attachments.cards.empty() && !IsSameLink(*attachments.cards.front().link, spec.pcie))
    {
        spec.nicPcie = attachments.cards.front().link;
    }
    spec.pcieUplink = attachments.switches.empty() ? spec.pcie : *attachments.switches.front().link;
    spec.gpuAttachments.clear();
    spec.nicAttachments.clear();
    spec.switchAttachments.clear();
    const NodeAttachments even = AttachmentsOf(spec);
    spec.gpuAttachments = Shortest(attachments.gpus, spec.gpuLink.value_or(spec.pcie), even.gpus);
    spec.nicAttachments = Shortest(attachments.cards, spec.nicPcie.value_or(spec.pcie), even.cards);
    spec.switchAttachments = Shortest(attachments.switches, spec.pcieUplink, even.switches);
}

} // namespace weir
