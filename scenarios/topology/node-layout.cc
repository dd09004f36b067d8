// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/node-layout.h"

#include "fabric/nodes/node-wiring.h"
#include "scenarios/readers/attachments.h"
#include "scenarios/topology/topology-style.h"

#include <algorithm>
#include <vector>

namespace weir
{

namespace
{

// Pixels.
constexpr double COLUMN = 62; //!< width of one GPU or NIC port
constexpr double NIC_ROW = 30;
constexpr double CARD_ROW = 86; //!< height of cards with several ports, and of host bridges
constexpr double TREE_ROW = 66; //!< height between NICs, sockets, each level of switches, and GPUs
constexpr double NVSWITCH_ROW = 84;
constexpr double BELOW = 40;
constexpr double BRIDGE_HALF = 17; //!< from a host bridge's center to its two boxes

class Layout
{
  public:
    explicit Layout(const NodeSpec& spec)
        : m_spec(spec),
          m_attachments(AttachmentsOf(spec)),
          m_hasCards(spec.nics > 0 && (spec.portsPerNic > 1 || spec.nicHostBridge)),
          m_depth(m_attachments.switches.size(), 0)
    {
        for (std::size_t i = 0; i < m_attachments.switches.size(); i++)
        {
            const PcieAttachment& attachment = m_attachments.switches[i];
            m_depth[i] =
                attachment.parent == PcieParent::Switch ? m_depth[attachment.index] + 1 : 0;
            m_levels = std::max(m_levels, m_depth[i] + 1);
        }
    }

    NodeLayout Run()
    {
        for (uint32_t socket = 0; socket < m_spec.sockets; socket++)
        {
            LayOutSocket(socket);
        }
        const double gpuRow = TreeRow(m_levels) + (m_levels > 1 ? 0 : TREE_ROW * 0.35);
        for (uint32_t i = 0; i < m_spec.gpus; i++)
        {
            At("gpu", i).y = gpuRow;
        }
        m_layout.width = m_cursor + MARGIN;
        m_layout.height = gpuRow + BELOW;
        if (m_spec.wiring == NvLinkWiring::Switched)
        {
            At("nvswitch", 0) = {m_layout.width / 2, gpuRow + NVSWITCH_ROW};
            m_layout.height += NVSWITCH_ROW;
        }
        return m_layout;
    }

  private:
    SvgPoint& At(const char* name, uint32_t index)
    {
        return m_layout.positions[name + std::to_string(index)];
    }

    /** Vertical position of a tree level; sockets and the switches attached to them are level 0. */
    double TreeRow(uint32_t level) const
    {
        const double first = m_hasCards ? CARD_ROW + TREE_ROW : NIC_ROW + TREE_ROW;
        return first + level * TREE_ROW;
    }

    void LayOutSocket(uint32_t socket)
    {
        const auto switches = IndicesOn(PcieParent::Socket, socket, m_attachments.switches);
        for (std::size_t i = 0; i < (switches.size() + 1) / 2; i++)
        {
            LayOutSwitch(switches[i]);
        }
        At("cpu", socket) = {LayOutDevices(PcieParent::Socket, socket), TreeRow(0)};
        for (std::size_t i = (switches.size() + 1) / 2; i < switches.size(); i++)
        {
            LayOutSwitch(switches[i]);
        }
    }

    void LayOutSwitch(uint32_t index)
    {
        At("pcie", index) = {LayOutDevices(PcieParent::Switch, index), TreeRow(m_depth[index])};
        for (const uint32_t below : IndicesOn(PcieParent::Switch, index, m_attachments.switches))
        {
            LayOutSwitch(below);
        }
    }

    /** Lays out the GPUs and ports attached to one device side by side. @return their center. */
    double LayOutDevices(PcieParent parent, uint32_t index)
    {
        const auto gpus = IndicesOn(parent, index, m_attachments.gpus);
        const auto cards = IndicesOn(parent, index, m_attachments.cards);
        const std::size_t ports = cards.size() * m_spec.portsPerNic;
        const double columns = std::max<double>(1, std::max(gpus.size(), ports));
        const double middle = m_cursor + columns * COLUMN / 2;
        const auto column = [&](std::size_t i, std::size_t count) {
            return middle +
                   (static_cast<double>(i) - (static_cast<double>(count) - 1) / 2) * COLUMN;
        };
        for (std::size_t i = 0; i < gpus.size(); i++)
        {
            At("gpu", gpus[i]).x = column(i, gpus.size());
        }
        for (std::size_t i = 0; i < ports; i++)
        {
            const uint32_t card = cards[i / m_spec.portsPerNic];
            const uint32_t port = card * m_spec.portsPerNic + i % m_spec.portsPerNic;
            const SvgPoint at{column(i, ports), NIC_ROW};
            At("nic", port) = at;
            const double share = 1.0 / m_spec.portsPerNic;
            SvgPoint& position = At("card", card);
            position = {position.x + at.x * share, CARD_ROW};
            m_layout.positions["bridge" + std::to_string(card) + "-in"] = {position.x - BRIDGE_HALF,
                                                                           CARD_ROW};
            m_layout.positions["bridge" + std::to_string(card) + "-out"] = {
                position.x + BRIDGE_HALF, CARD_ROW};
        }
        m_cursor += columns * COLUMN;
        return middle;
    }

    const NodeSpec& m_spec;
    NodeAttachments m_attachments;
    bool m_hasCards;
    std::vector<uint32_t> m_depth; //!< by switch: levels below the switch attached to the socket
    uint32_t m_levels{1};
    NodeLayout m_layout;
    double m_cursor{MARGIN};
};

} // namespace

NodeLayout
LayOutNode(const NodeSpec& spec)
{
    return Layout(spec).Run();
}

} // namespace weir
