// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_NCCL_XML_TREE_H
#define WEIR_SCENARIOS_TOPOLOGY_NCCL_XML_TREE_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/yaml/xml-element.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** The most NVLinks that one element may count. */
constexpr int64_t MAX_LINKS = 1 << 10;

/** A PCI bus id in the form in which ids are compared: in lower case. */
std::string BusId(std::string text);

/** A GPU of the file: its pci element and, in a full dump, the gpu element in it. */
struct XmlGpu
{
    XmlElement pci;
    std::optional<XmlElement> gpu;
    PciePlace place;
    int64_t order; //!< `dev`, or the place in the file
};

/** A network card: its nets are ports; none in a template. */
struct XmlCard
{
    XmlElement element;
    std::vector<XmlElement> nets;
    PciePlace place;
    int64_t order;
};

/** What is attached where in an NCCL topology file, before it is understood. */
struct NcclXmlTree
{
    std::vector<XmlElement> cpus;
    std::vector<PciePlace> switches;     //!< in file order, parents first
    std::vector<XmlGpu> gpus;            //!< by order
    std::vector<XmlCard> cards;          //!< by order
    std::vector<std::string> otherBuses; //!< bus ids of switches
};

/**
 * Reads the tree; every place has its link, of which the efficiency is that of @p host.
 * @throws InputError on missing or repeated bus ids and links without a meaning.
 */
NcclXmlTree ReadNcclXmlTree(const XmlElement& system, const HostFigures& host);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_NCCL_XML_TREE_H
