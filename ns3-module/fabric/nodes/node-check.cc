// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/nodes/node-wiring.h"
#include "fabric/topology/link-profile.h"

#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

void
CheckNvLink(const NodeSpec& spec)
{
    if (spec.wiring == NvLinkWiring::None)
    {
        return;
    }
    CheckProfile(spec.nvlink, "node.nvlink");
    if (spec.wiring == NvLinkWiring::Switched)
    {
        if (spec.nvlinksPerGpu == 0)
        {
            throw std::invalid_argument(
                "node.nvlinksPerGpu: 0, expected at least 1 for switched NVLink wiring");
        }
        return;
    }
    for (std::size_t i = 0; i < spec.meshLinks.size(); i++)
    {
        const MeshLink& mesh = spec.meshLinks[i];
        const std::string field = "node.meshLinks[" + std::to_string(i) + "]: ";
        if (mesh.a >= spec.gpus || mesh.b >= spec.gpus || mesh.a == mesh.b)
        {
            throw std::invalid_argument(
                field + "joins GPUs " + std::to_string(mesh.a) + " and " + std::to_string(mesh.b) +
                ", expected two different ones of 0 to " + std::to_string(spec.gpus - 1));
        }
        if (mesh.links == 0)
        {
            throw std::invalid_argument(field + "0 NVLinks, expected at least 1");
        }
    }
}

/** Throws unless @p places is empty or names a parent that exists for each of @p items. */
void
CheckPlaces(const NodeSpec& spec,
            const std::vector<PciePlace>& places,
            uint32_t items,
            const std::string& field)
{
    if (!places.empty() && places.size() != items)
    {
        throw std::invalid_argument(field + ": " + std::to_string(places.size()) +
                                    " places, expected " + std::to_string(items));
    }
    const bool areSwitches = &places == &spec.switchPlaces;
    for (std::size_t i = 0; i < places.size(); i++)
    {
        const PciePlace& place = places[i];
        const std::string which = field + "[" + std::to_string(i) + "]";
        const bool inSwitch = place.parent == PcieParent::Switch;
        const auto parents = !inSwitch     ? spec.sockets
                             : areSwitches ? static_cast<uint32_t>(i)
                                           : spec.pcieSwitches;
        if (place.index >= parents)
        {
            throw std::invalid_argument(
                which + ": is attached to " + (inSwitch ? "PCIe switch " : "socket ") +
                std::to_string(place.index) + ", of which there are " + std::to_string(parents) +
                (inSwitch && areSwitches ? " before it" : ""));
        }
        if (place.link)
        {
            CheckProfile(*place.link, which + ".link");
        }
    }
}

void
CheckCards(const NodeSpec& spec)
{
    if (spec.nics == 0)
    {
        return;
    }
    if (spec.portsPerNic == 0 || spec.nics % spec.portsPerNic != 0)
    {
        throw std::invalid_argument("node.portsPerNic: " + std::to_string(spec.portsPerNic) +
                                    ", expected a divisor of node.nics, " +
                                    std::to_string(spec.nics));
    }
    CheckPlaces(spec, spec.nicPlaces, spec.NicCards(), "node.nicPlaces");
    if (spec.nicPcie)
    {
        CheckProfile(*spec.nicPcie, "node.nicPcie");
    }
    if (spec.nicHostBridge)
    {
        CheckProfile(*spec.nicHostBridge, "node.nicHostBridge");
    }
}

void
CheckSockets(const NodeSpec& spec)
{
    if (spec.sockets == 0)
    {
        throw std::invalid_argument("node.sockets: 0, expected at least 1");
    }
    if (spec.socketsPerBoard > 0 && spec.sockets % spec.socketsPerBoard != 0)
    {
        throw std::invalid_argument(
            "node.socketsPerBoard: " + std::to_string(spec.socketsPerBoard) +
            ", expected a divisor of node.sockets, " + std::to_string(spec.sockets));
    }
    if (spec.sockets > 1 && spec.socketsPerBoard != 1)
    {
        CheckProfile(spec.interSocket, "node.interSocket");
    }
}

} // namespace

void
CheckNodeSpec(const NodeSpec& spec)
{
    if (spec.gpus == 0)
    {
        throw std::invalid_argument("node.gpus: 0, expected at least 1");
    }
    CheckSockets(spec);
    CheckNvLink(spec);
    CheckProfile(spec.pcie, "node.pcie");
    if (spec.gpuLink)
    {
        CheckProfile(*spec.gpuLink, "node.gpuLink");
    }
    if (spec.pcieSwitches > 0)
    {
        CheckProfile(spec.pcieUplink, "node.pcieUplink");
    }
    CheckPlaces(spec, spec.switchPlaces, spec.pcieSwitches, "node.switchPlaces");
    CheckPlaces(spec, spec.gpuPlaces, spec.gpus, "node.gpuPlaces");
    CheckCards(spec);
}

} // namespace weir
