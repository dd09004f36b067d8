// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/nccl-xml-tree.h"

#include "scenarios/topology/nccl-link-defaults.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <set>

namespace weir
{
namespace
{

constexpr int64_t MAX_DEVICES = 1 << 16;
constexpr int64_t MAX_LANES = 32;
constexpr uint32_t UNKNOWN_GENERATION = 3; //!< topo.cc: text that it does not know counts as 8 GT/s
constexpr uint32_t UNKNOWN_WIDTH = 16;     //!< topo.cc, ncclTopoAddPci

/** "16 GT/s" and "16.0 GT/s PCIe" are 4. */
uint32_t
Generation(const XmlElement& pci)
{
    const std::string text = pci.TextOr("link_speed");
    char* rest = nullptr;
    const double speed = std::strtod(text.c_str(), &rest);
    if (rest == text.c_str()) // empty, "Unknown speed"
    {
        return UNKNOWN_GENERATION;
    }
    constexpr std::array<double, 6> SPEEDS{2.5, 5, 8, 16, 32, 64};
    const auto found = std::find(SPEEDS.begin(), SPEEDS.end(), speed);
    if (found == SPEEDS.end() || std::string(rest).rfind(" GT/s", 0) != 0)
    {
        pci.Fail("link_speed",
                 "found '" + text + "', expected 2.5, 5, 8, 16, 32 or 64 GT/s, or nothing");
    }
    return static_cast<uint32_t>(found - SPEEDS.begin()) + 1;
}

LinkProfile
SlotOf(const HostFigures& host, const XmlElement& pci)
{
    const bool hasWidth = !pci.TextOr("link_width").empty();
    const auto width =
        hasWidth ? static_cast<uint32_t>(pci.Integer("link_width", 0, MAX_LANES)) : 0;
    return DefaultPcieSlot(host, Generation(pci), width == 0 ? UNKNOWN_WIDTH : width);
}

bool
IsClass(const XmlElement& pci, const char* prefix)
{
    return pci.TextOr("class").rfind(prefix, 0) == 0;
}

/** Walks the file; fills the tree. */
class Walk
{
  public:
    Walk(NcclXmlTree& tree, const HostFigures& host)
        : m_tree(tree),
          m_host(host)
    {
    }

    /** What is in a cpu, or in a pci that is a switch. */
    void Inside(const XmlElement& parent, const PciePlace& place)
    {
        for (const XmlElement& child : parent.Children())
        {
            if (child.Name() == "pci")
            {
                Pci(child, place);
            }
            else if (child.Name() == "nic" && child.Children("net").size() > 0)
            {
                PciePlace slot = place; // a network device without a PCI address
                slot.link = DefaultPcieSlot(m_host, UNKNOWN_GENERATION, UNKNOWN_WIDTH);
                AddCard(child, child.Children("net"), slot);
            }
            else if (child.Name() == "pcilink")
            {
                child.Fail("", "found a link between PCIe switches, expected a tree of them");
            }
        }
    }

  private:
    void Pci(const XmlElement& pci, PciePlace place)
    {
        const std::string bus = BusId(pci.Text("busid"));
        if (!m_buses.insert(bus).second)
        {
            pci.Fail("busid", "found '" + bus + "' again, expected each once");
        }
        place.link = SlotOf(m_host, pci);
        const auto gpus = pci.Children("gpu");
        const auto nics = pci.Children("nic");
        if (!gpus.empty() || (nics.empty() && IsClass(pci, "0x03")))
        {
            AddGpu(pci, gpus, place);
        }
        else if (!nics.empty() || IsClass(pci, "0x02"))
        {
            std::vector<XmlElement> nets;
            for (const XmlElement& nic : nics)
            {
                const auto inside = nic.Children("net");
                nets.insert(nets.end(), inside.begin(), inside.end());
            }
            if (nics.empty() || !nets.empty()) // a nic without nets is not used
            {
                AddCard(pci, nets, place);
            }
        }
        else if (!IsClass(pci, "0x0680")) // an NVSwitch only is a target
        {
            m_tree.otherBuses.push_back(bus);
            m_tree.switches.push_back(place);
            const auto index = static_cast<uint32_t>(m_tree.switches.size() - 1);
            Inside(pci, {PcieParent::Switch, index, std::nullopt});
        }
    }

    void AddGpu(const XmlElement& pci, const std::vector<XmlElement>& gpus, const PciePlace& place)
    {
        if (gpus.size() > 1)
        {
            gpus[1].Fail("", "found a second GPU at one address, expected one");
        }
        std::optional<XmlElement> gpu;
        auto order = static_cast<int64_t>(m_tree.gpus.size());
        if (!gpus.empty())
        {
            gpu = gpus.front();
            order = gpu->Integer("dev", 0, MAX_DEVICES);
            for (const XmlGpu& other : m_tree.gpus)
            {
                if (other.gpu && other.order == order)
                {
                    gpu->Fail("dev", "found '" + gpu->Text("dev") + "' again, expected each once");
                }
            }
        }
        m_tree.gpus.push_back({pci, gpu, place, order});
    }

    void AddCard(const XmlElement& element,
                 const std::vector<XmlElement>& nets,
                 const PciePlace& place)
    {
        auto order = static_cast<int64_t>(m_tree.cards.size());
        for (std::size_t i = 0; i < nets.size(); i++)
        {
            const int64_t dev = nets[i].Integer("dev", 0, MAX_DEVICES);
            if (!m_nets.insert(dev).second)
            {
                nets[i].Fail("dev",
                             "found '" + nets[i].Text("dev") + "' again, expected each once");
            }
            order = i == 0 ? dev : std::min(order, dev);
        }
        m_tree.cards.push_back({element, nets, place, order});
    }

    NcclXmlTree& m_tree;
    const HostFigures& m_host;
    std::set<std::string> m_buses;
    std::set<int64_t> m_nets;
};

} // namespace

std::string
BusId(std::string text)
{
    std::transform(
        text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

NcclXmlTree
ReadNcclXmlTree(const XmlElement& system, const HostFigures& host)
{
    NcclXmlTree tree;
    tree.cpus = system.Children("cpu");
    if (tree.cpus.empty())
    {
        system.Fail("", "found no cpu elements, expected at least one");
    }
    Walk walk(tree, host);
    for (std::size_t i = 0; i < tree.cpus.size(); i++)
    {
        walk.Inside(tree.cpus[i], {PcieParent::Socket, static_cast<uint32_t>(i), std::nullopt});
    }
    const auto byOrder = [](const auto& a, const auto& b) { return a.order < b.order; };
    std::stable_sort(tree.gpus.begin(), tree.gpus.end(), byOrder);
    std::stable_sort(tree.cards.begin(), tree.cards.end(), byOrder);
    if (tree.gpus.empty())
    {
        system.Fail("", "found no GPUs, expected gpu elements or pci elements of class 0x03");
    }
    return tree;
}

} // namespace weir
