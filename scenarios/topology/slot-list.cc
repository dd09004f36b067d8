// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/slot-list.h"

#include <algorithm>
#include <utility>

namespace weir
{
namespace
{

/** Removes links that equal @p typical from @p attachments. */
void
Forget(std::vector<PcieAttachment>& attachments, const LinkProfile& typical)
{
    for (PcieAttachment& attachment : attachments)
    {
        if (attachment.link && IsSameLink(*attachment.link, typical))
        {
            attachment.link.reset();
        }
    }
}

/** Clears @p attachments when they equal @p even and have no link profiles. */
void
ForgetEven(std::vector<PcieAttachment>& attachments, const std::vector<PcieAttachment>& even)
{
    const bool same = std::equal(attachments.begin(),
                                 attachments.end(),
                                 even.begin(),
                                 even.end(),
                                 [](const PcieAttachment& a, const PcieAttachment& b) {
                                     return a.parent == b.parent && a.index == b.index && !a.link;
                                 });
    if (same)
    {
        attachments.clear();
    }
}

} // namespace

bool
IsSameLink(const LinkProfile& a, const LinkProfile& b)
{
    return a.name == b.name && a.rawRate == b.rawRate && a.encoding == b.encoding &&
           a.framing == b.framing && a.measured == b.measured && a.latency == b.latency &&
           a.ncclRate == b.ncclRate;
}

void
SetAttachments(NodeSpec& spec, NodeAttachments attachments, bool gpusOnChip)
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
    Forget(attachments.gpus, spec.gpuLink.value_or(spec.pcie));
    Forget(attachments.cards, spec.nicPcie.value_or(spec.pcie));
    Forget(attachments.switches, spec.pcieUplink);
    spec.gpuAttachments.clear();
    spec.nicAttachments.clear();
    spec.switchAttachments.clear();
    const NodeAttachments even = AttachmentsOf(spec);
    ForgetEven(attachments.gpus, even.gpus);
    ForgetEven(attachments.cards, even.cards);
    ForgetEven(attachments.switches, even.switches);
    spec.gpuAttachments = std::move(attachments.gpus);
    spec.nicAttachments = std::move(attachments.cards);
    spec.switchAttachments = std::move(attachments.switches);
}

} // namespace weir
