// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/check-overruled.h"

#include "scenarios/topology/slot-list.h"

#include <algorithm>
#include <initializer_list>

namespace weir
{
namespace
{

bool
IsSameMesh(const std::vector<MeshLink>& a, const std::vector<MeshLink>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& two) {
        return one.a == two.a && one.b == two.b && one.links == two.links;
    });
}

/** Refuses those of @p keys that were written in the map @p name of @p node, or in it itself. */
void
Refuse(const YamlNode& node, const char* name, std::initializer_list<const char*> keys)
{
    const auto map = name ? node.Find(name) : node;
    if (!map)
    {
        return;
    }
    for (const char* key : keys)
    {
        const auto value = map->Find(key);
        const bool isList = value && value->IsSequence();
        const bool isWritten =
            value && (isList ? value->Items().empty() || !value->Items().front().IsInherited()
                             : !value->IsInherited());
        if (isWritten)
        {
            value->Fail(
                "found it beside `topology`, whose file has it otherwise, expected it "
                "left out");
        }
    }
}

} // namespace

void
CheckOverruled(const YamlNode& node, const NodeSpec& given, const NodeSpec& wired)
{
    if (given.gpus != wired.gpus)
    {
        Refuse(node, nullptr, {"gpus"});
    }
    if (given.gpuModel != wired.gpuModel)
    {
        Refuse(node, nullptr, {"gpu"});
    }
    if (given.wiring != wired.wiring || given.nvlinksPerGpu != wired.nvlinksPerGpu ||
        !IsSameMesh(given.meshLinks, wired.meshLinks))
    {
        Refuse(node, "nvlink", {"wiring", "linksPerGpu", "linksPerPair", "links"});
    }
    if (!IsSameLink(given.nvlink, wired.nvlink))
    {
        Refuse(node, "nvlink", {"rate", "measured", "latency", "framing", "headerFlits"});
    }
    if (given.sockets != wired.sockets || given.cpu != wired.cpu)
    {
        Refuse(node, "sockets", {"count", "cpu"});
    }
    if (!IsSameLink(given.interSocket, wired.interSocket))
    {
        Refuse(node, "sockets", {"rate", "measured", "latency"});
    }
    if (given.pcieSwitches != wired.pcieSwitches || given.pcie.rawRate != wired.pcie.rawRate)
    {
        Refuse(node, "pcie", {"switches", "generation", "lanes", "rate", "uplink", "uplinkLanes"});
    }
    if (given.pcieUplink.rawRate != wired.pcieUplink.rawRate)
    {
        Refuse(node, "pcie", {"uplink", "uplinkLanes"});
    }
    Refuse(node, "pcie", {"gpusOn"});
    if (given.nics != wired.nics || given.portsPerNic != wired.portsPerNic ||
        given.nic.rawRate != wired.nic.rawRate)
    {
        Refuse(node, "nic", {"count", "ports", "rate"});
    }
    Refuse(node, "nic", {"on", "pcie"});
}

} // namespace weir
