// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/slot-list.h"

#include <algorithm>
#include <utility>

namespace weir
{
namespace
{

/** Removes links that equal @p typical from @p places. */
void
Forget(std::vector<PcieAttachment>& places, const LinkProfile& typical)
{
    for (PcieAttachment& place : places)
    {
        if (place.link && IsSameLink(*place.link, typical))
        {
            place.link.reset();
        }
    }
}

/** Clears @p places when they equal @p even and have no link profiles. */
void
ForgetEven(std::vector<PcieAttachment>& places, const std::vector<PcieAttachment>& even)
{
    const bool same = std::equal(places.begin(),
                                 places.end(),
                                 even.begin(),
                                 even.end(),
                                 [](const PcieAttachment& a, const PcieAttachment& b) {
                                     return a.parent == b.parent && a.index == b.index && !a.link;
                                 });
    if (same)
    {
        places.clear();
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
SetPlaces(NodeSpec& spec, NodeAttachments places, bool gpusOnChip)
{
    spec.gpuLink.reset();
    spec.nicPcie.reset();
    if (!places.cards.empty())
    {
        spec.pcie = *places.cards.front().link;
    }
    if (gpusOnChip)
    {
        spec.gpuLink = places.gpus.front().link;
    }
    else
    {
        spec.pcie = *places.gpus.front().link;
    }
    if (!places.cards.empty() && !IsSameLink(*places.cards.front().link, spec.pcie))
    {
        spec.nicPcie = places.cards.front().link;
    }
    spec.pcieUplink = places.switches.empty() ? spec.pcie : *places.switches.front().link;
    Forget(places.gpus, spec.gpuLink.value_or(spec.pcie));
    Forget(places.cards, spec.nicPcie.value_or(spec.pcie));
    Forget(places.switches, spec.pcieUplink);
    spec.gpuAttachments.clear();
    spec.nicAttachments.clear();
    spec.switchAttachments.clear();
    const NodeAttachments even = AttachmentsOf(spec);
    ForgetEven(places.gpus, even.gpus);
    ForgetEven(places.cards, even.cards);
    ForgetEven(places.switches, even.switches);
    spec.gpuAttachments = std::move(places.gpus);
    spec.nicAttachments = std::move(places.cards);
    spec.switchAttachments = std::move(places.switches);
}

} // namespace weir
