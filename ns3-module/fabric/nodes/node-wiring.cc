// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/nodes/node-wiring.h"

#include "fabric/refuse.h"
#include "fabric/topology/link-profile.h"

#include <algorithm>
#include <limits>
#include <numeric>
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
        WEIR_REFUSE_IF(spec.nvlinksPerGpu == 0,
                       "node.nvlinksPerGpu: 0, expected at least 1 for switched NVLink wiring");
        return;
    }
    for (std::size_t i = 0; i < spec.meshLinks.size(); i++)
    {
        const MeshLink& mesh = spec.meshLinks[i];
        const std::string field = "node.meshLinks[" + std::to_string(i) + "]: ";
        WEIR_REFUSE_IF(mesh.a >= spec.gpus || mesh.b >= spec.gpus || mesh.a == mesh.b,
                       field << "a link between GPUs " << mesh.a << " and " << mesh.b
                             << ", expected two different ones of 0 to " << spec.gpus - 1);
        WEIR_REFUSE_IF(mesh.links == 0, field << "0 NVLinks, expected at least 1");
    }
}

/**
 * Checks that @p attachments is empty or names an existing parent for each of @p items.
 * @throws std::invalid_argument
 */
void
CheckAttachments(const NodeSpec& spec,
                 const std::vector<PcieAttachment>& attachments,
                 uint32_t items,
                 const std::string& field)
{
    WEIR_REFUSE_IF(!attachments.empty() && attachments.size() != items,
                   field << ": " << attachments.size() << " attachments, expected " << items);
    const bool areSwitches = &attachments == &spec.switchAttachments;
    for (std::size_t i = 0; i < attachments.size(); i++)
    {
        const PcieAttachment& attachment = attachments[i];
        const std::string which = field + "[" + std::to_string(i) + "]";
        const bool inSwitch = attachment.parent == PcieParent::Switch;
        const auto parents = !inSwitch     ? spec.sockets
                             : areSwitches ? static_cast<uint32_t>(i)
                                           : spec.pcieSwitches;
        WEIR_REFUSE_IF(attachment.index >= parents,
                       which << ": attachment to " << (inSwitch ? "PCIe switch " : "socket ")
                             << attachment.index << ", expected an index below " << parents
                             << (inSwitch && areSwitches ? " (switches before it)" : ""));
        if (attachment.link)
        {
            CheckProfile(*attachment.link, which + ".link");
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
    WEIR_REFUSE_IF(spec.portsPerNic == 0 || spec.nics % spec.portsPerNic != 0,
                   "node.portsPerNic: " << spec.portsPerNic << ", expected a divisor of node.nics, "
                                        << spec.nics);
    CheckAttachments(spec, spec.nicAttachments, spec.NicCards(), "node.nicAttachments");
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
    WEIR_REFUSE_IF(spec.sockets == 0, "node.sockets: 0, expected at least 1");
    WEIR_REFUSE_IF(spec.socketsPerBoard > 0 && spec.sockets % spec.socketsPerBoard != 0,
                   "node.socketsPerBoard: " << spec.socketsPerBoard
                                            << ", expected a divisor of node.sockets, "
                                            << spec.sockets);
    if (spec.sockets > 1 && spec.socketsPerBoard != 1)
    {
        CheckProfile(spec.interSocket, "node.interSocket");
    }
}

} // namespace

void
CheckNodeSpec(const NodeSpec& spec)
{
    WEIR_REFUSE_IF(spec.gpus == 0, "node.gpus: 0, expected at least 1");
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
    CheckAttachments(spec, spec.switchAttachments, spec.pcieSwitches, "node.switchAttachments");
    CheckAttachments(spec, spec.gpuAttachments, spec.gpus, "node.gpuAttachments");
    CheckCards(spec);
}

namespace
{

/** The block of item @p i of @p items when these are split into @p blocks even parts. */
uint32_t
BlockOf(uint32_t i, uint32_t items, uint32_t blocks)
{
    return static_cast<uint32_t>(static_cast<uint64_t>(i) * blocks / items);
}

/**
 * Spreads @p items contiguously over @p parents if @p attachments is empty, and sets missing links
 * to @p link.
 */
std::vector<PcieAttachment>
Fill(std::vector<PcieAttachment> attachments,
     uint32_t items,
     PcieParent parent,
     uint32_t parents,
     const LinkProfile& link)
{
    if (attachments.empty())
    {
        for (uint32_t i = 0; i < items; i++)
        {
            attachments.push_back({parent, BlockOf(i, items, parents), std::nullopt});
        }
    }
    for (PcieAttachment& attachment : attachments)
    {
        if (!attachment.link)
        {
            attachment.link = link;
        }
    }
    return attachments;
}

std::vector<DeviceId>
AddDevices(
    Topology& topology, DeviceKind kind, const std::string& prefix, uint32_t node, uint32_t count)
{
    std::vector<DeviceId> devices;
    devices.reserve(count);
    for (uint32_t i = 0; i < count; i++)
    {
        devices.push_back(topology.AddDevice(kind, prefix + std::to_string(i), node, i));
    }
    return devices;
}

/** The devices with PCIe slots. */
struct PcieTree
{
    std::vector<DeviceId> roots;    //!< by socket
    std::vector<DeviceId> switches; //!< by PCIe switch

    DeviceId At(const PcieAttachment& attachment) const
    {
        return attachment.parent == PcieParent::Socket ? roots[attachment.index]
                                                       : switches[attachment.index];
    }
};

/**
 * Connects a card to its socket such that both directions share @p bridge:
 *
 *     card --> in --> out --> socket
 *     card <--------- out          and  socket --> in
 */
void
WireBridge(Topology& topology,
           DeviceId card,
           DeviceId root,
           const std::string& name,
           uint32_t node,
           uint32_t index,
           const LinkProfile& slot,
           const LinkProfile& bridge)
{
    const auto in = topology.AddDevice(DeviceKind::PcieSwitch, name + "-in", node, index);
    const auto out = topology.AddDevice(DeviceKind::PcieSwitch, name + "-out", node, index);
    const uint16_t slotName = topology.AddProfileName(slot.name);
    const Rate rate = slot.PayloadRate();
    topology.AddLink(card, in, LinkKind::Pcie, rate, slot.latency, slotName);
    topology.AddLink(root, in, LinkKind::Pcie, rate, slot.latency, slotName);
    topology.AddLink(in,
                     out,
                     LinkKind::Pcie,
                     bridge.PayloadRate(),
                     bridge.latency,
                     topology.AddProfileName(bridge.name));
    topology.AddLink(out, card, LinkKind::Pcie, rate, Time(), slotName);
    topology.AddLink(out, root, LinkKind::Pcie, rate, Time(), slotName);
}

/** Attaches NIC cards, or the ports of one-port cards, to their slots. */
void
WireCards(Topology& topology,
          const NodeSpec& spec,
          uint32_t node,
          const std::vector<DeviceId>& ports,
          const std::vector<PcieAttachment>& attachments,
          const PcieTree& tree)
{
    const std::string prefix = "node" + std::to_string(node) + "/";
    auto cards = ports;
    if (spec.portsPerNic > 1)
    {
        cards =
            AddDevices(topology, DeviceKind::PcieSwitch, prefix + "card", node, attachments.size());
        for (std::size_t port = 0; port < ports.size(); port++)
        {
            const std::size_t card = port / spec.portsPerNic;
            LinkProfile inside =
                *attachments[card].link; // the slot is the bottleneck, not the card
            inside.latency = Time();
            topology.AddDuplexLink(ports[port], cards[card], LinkKind::Pcie, inside);
        }
    }
    for (std::size_t i = 0; i < cards.size(); i++)
    {
        const LinkProfile& slot = *attachments[i].link;
        const DeviceId at = tree.At(attachments[i]);
        if (spec.nicHostBridge && attachments[i].parent == PcieParent::Socket)
        {
            const std::string name = prefix + "bridge" + std::to_string(i);
            WireBridge(topology, cards[i], at, name, node, i, slot, *spec.nicHostBridge);
            continue;
        }
        topology.AddDuplexLink(cards[i], at, LinkKind::Pcie, slot);
    }
}

/** Connects the sockets of each board pairwise. */
void
WireSockets(Topology& topology, const NodeSpec& spec, const std::vector<DeviceId>& roots)
{
    const std::size_t board = spec.socketsPerBoard == 0 ? roots.size() : spec.socketsPerBoard;
    for (std::size_t a = 0; a < roots.size(); a++)
    {
        for (std::size_t b = a + 1; b < roots.size() && b / board == a / board; b++)
        {
            topology.AddDuplexLink(roots[a], roots[b], LinkKind::InterSocket, spec.interSocket);
        }
    }
}

void
WireNvLink(Topology& topology,
           const NodeSpec& spec,
           uint32_t node,
           const std::string& prefix,
           const std::vector<DeviceId>& gpus)
{
    if (spec.wiring == NvLinkWiring::Switched)
    {
        const DeviceId nvSwitch =
            topology.AddDevice(DeviceKind::NvSwitch, prefix + "nvswitch0", node, 0);
        for (const DeviceId gpu : gpus)
        {
            topology.AddDuplexLink(
                gpu, nvSwitch, LinkKind::NvLink, spec.nvlink, spec.nvlinksPerGpu);
        }
    }
    else if (spec.wiring == NvLinkWiring::Mesh)
    {
        for (const MeshLink& mesh : spec.meshLinks)
        {
            topology.AddDuplexLink(
                gpus[mesh.a], gpus[mesh.b], LinkKind::NvLink, spec.nvlink, mesh.links);
        }
    }
}

/**
 * The number of hops from @p from over PCIe and between sockets, by device; the maximum value if
 * there is no path.
 */
std::vector<uint32_t>
PcieHopsFrom(const Topology& topology, DeviceId from)
{
    std::vector<uint32_t> hops(topology.DeviceCount(), std::numeric_limits<uint32_t>::max());
    std::vector<DeviceId> queue{from};
    hops[from.Index()] = 0;
    for (std::size_t i = 0; i < queue.size(); i++)
    {
        const DeviceId at = queue[i];
        const DeviceKind kind = topology.GetDevice(at).kind;
        if (i > 0 && (kind == DeviceKind::Gpu || kind == DeviceKind::Nic))
        {
            continue; // end points forward nothing
        }
        for (const LinkId id : topology.LinksFrom(at))
        {
            const Link& link = topology.GetLink(id);
            uint32_t& there = hops[link.to.Index()];
            if (link.kind != LinkKind::NvLink && there == std::numeric_limits<uint32_t>::max())
            {
                there = hops[at.Index()] + 1;
                queue.push_back(link.to);
            }
        }
    }
    return hops;
}

} // namespace

NodeAttachments
AttachmentsOf(const NodeSpec& spec)
{
    const bool hasSwitches = spec.pcieSwitches > 0;
    const auto parent = hasSwitches ? PcieParent::Switch : PcieParent::Socket;
    const uint32_t parents = hasSwitches ? spec.pcieSwitches : spec.sockets;
    return {Fill(spec.switchAttachments,
                 spec.pcieSwitches,
                 PcieParent::Socket,
                 spec.sockets,
                 spec.pcieUplink),
            Fill(spec.gpuAttachments, spec.gpus, parent, parents, spec.gpuLink.value_or(spec.pcie)),
            Fill(spec.nicAttachments,
                 spec.NicCards(),
                 parent,
                 parents,
                 spec.nicPcie.value_or(spec.pcie))};
}

std::vector<const LinkProfile*>
NodeProfiles(const NodeSpec& spec)
{
    std::vector<const LinkProfile*> profiles{
        &spec.nvlink, &spec.pcie, &spec.pcieUplink, &spec.interSocket, &spec.nic};
    for (const auto* optional : {&spec.gpuLink, &spec.nicPcie, &spec.nicHostBridge})
    {
        if (*optional)
        {
            profiles.push_back(&**optional);
        }
    }
    for (const auto* attachments :
         {&spec.switchAttachments, &spec.gpuAttachments, &spec.nicAttachments})
    {
        for (const PcieAttachment& attachment : *attachments)
        {
            if (attachment.link)
            {
                profiles.push_back(&*attachment.link);
            }
        }
    }
    return profiles;
}

NodeDevices
WireNode(Topology& topology, const NodeSpec& spec, uint32_t node)
{
    const std::string prefix = "node" + std::to_string(node) + "/";
    const NodeAttachments attachments = AttachmentsOf(spec);
    NodeDevices devices;
    devices.gpus = AddDevices(topology, DeviceKind::Gpu, prefix + "gpu", node, spec.gpus);
    WireNvLink(topology, spec, node, prefix, devices.gpus);

    devices.nics = AddDevices(topology, DeviceKind::Nic, prefix + "nic", node, spec.nics);
    PcieTree tree;
    tree.switches =
        AddDevices(topology, DeviceKind::PcieSwitch, prefix + "pcie", node, spec.pcieSwitches);
    tree.roots = AddDevices(topology, DeviceKind::RootComplex, prefix + "cpu", node, spec.sockets);
    for (std::size_t i = 0; i < devices.gpus.size(); i++)
    {
        const PcieAttachment& attachment = attachments.gpus[i];
        topology.AddDuplexLink(
            devices.gpus[i], tree.At(attachment), LinkKind::Pcie, *attachment.link);
    }
    WireCards(topology, spec, node, devices.nics, attachments.cards, tree);
    for (std::size_t i = 0; i < tree.switches.size(); i++)
    {
        const PcieAttachment& attachment = attachments.switches[i];
        topology.AddDuplexLink(
            tree.switches[i], tree.At(attachment), LinkKind::Pcie, *attachment.link);
    }
    WireSockets(topology, spec, tree.roots);
    return devices;
}

std::vector<std::vector<uint32_t>>
NearestNicsByGpu(const NodeSpec& spec)
{
    Topology topology; // a single node
    const NodeDevices devices = WireNode(topology, spec, 0);
    std::vector<std::vector<uint32_t>> nearest(spec.gpus);
    std::vector<std::vector<uint32_t>> sets(spec.gpus); // the nearest NICs of each GPU, ascending
    for (uint32_t gpu = 0; gpu < spec.gpus && spec.nics > 0; gpu++)
    {
        const auto hops = PcieHopsFrom(topology, devices.gpus[gpu]);
        const auto hopsTo = [&](uint32_t nic) { return hops[devices.nics[nic].Index()]; };
        auto& nics = nearest[gpu];
        nics.resize(spec.nics);
        std::iota(nics.begin(), nics.end(), 0);
        std::stable_sort(nics.begin(), nics.end(), [&](uint32_t a, uint32_t b) {
            return hopsTo(a) < hopsTo(b);
        });
        const uint32_t min = hopsTo(nics.front());
        const auto end =
            std::find_if(nics.begin(), nics.end(), [&](uint32_t nic) { return hopsTo(nic) > min; });
        sets[gpu].assign(nics.begin(), end);
    }
    for (uint32_t gpu = 0; gpu < spec.gpus && spec.nics > 0; gpu++)
    {
        const auto& set = sets[gpu];
        const std::size_t sharers = std::count(sets.begin(), sets.end(), set);
        const std::size_t before = std::count(sets.begin(), sets.begin() + gpu, set);
        const std::size_t turn =
            before * std::max<std::size_t>(1, set.size() / sharers) % set.size();
        auto& nics = nearest[gpu];
        std::rotate(nics.begin(), nics.begin() + turn, nics.begin() + set.size());
    }
    return nearest;
}

} // namespace weir
