// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/read-nccl-nvlinks.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace weir
{
namespace
{

/** The NVLinks of one GPU: into switches, and to each other GPU. */
struct NvLinks
{
    uint32_t toSwitches{0};
    std::map<uint32_t, uint32_t> toGpus;
};

class NvLinkReader
{
  public:
    explicit NvLinkReader(const NcclXmlTree& tree)
        : m_tree(tree)
    {
        for (std::size_t i = 0; i < tree.gpus.size(); i++)
        {
            m_gpuAt[BusId(tree.gpus[i].pci.Text("busid"))] = static_cast<uint32_t>(i);
        }
    }

    void Read(NodeSpec& spec)
    {
        for (std::size_t i = 0; i < m_tree.gpus.size(); i++)
        {
            m_links.push_back(LinksOf(static_cast<uint32_t>(i)));
        }
        const bool isSwitched = std::any_of(
            m_links.begin(), m_links.end(), [](const NvLinks& l) { return l.toSwitches > 0; });
        const bool isMesh = std::any_of(
            m_links.begin(), m_links.end(), [](const NvLinks& l) { return !l.toGpus.empty(); });
        spec.wiring = isSwitched ? NvLinkWiring::Switched
                      : isMesh   ? NvLinkWiring::Mesh
                                 : NvLinkWiring::None;
        if (isSwitched)
        {
            ReadSwitched(spec);
        }
        else
        {
            ReadMesh(spec);
        }
    }

  private:
    NvLinks LinksOf(uint32_t gpu) const
    {
        NvLinks links;
        for (const XmlElement& child : m_tree.gpus[gpu].gpu->Children())
        {
            if (child.Name() == "xgmi")
            {
                child.Fail("", "found a link of AMD GPUs, expected nvlink");
            }
            if (child.Name() != "nvlink")
            {
                continue;
            }
            const auto count = static_cast<uint32_t>(child.Integer("count", 1, MAX_LINKS));
            const std::string target = BusId(child.Text("target"));
            const std::string kind = child.TextOr("tclass");
            if (kind.rfind("0x068001", 0) == 0)
            {
                child.Fail("tclass", "found an NVLink to a CPU, expected one to a GPU or NVSwitch");
            }
            const auto found = m_gpuAt.find(target);
            const bool hidden = target.rfind("fffffff:", 0) == 0;
            if (found == m_gpuAt.end() && (hidden || kind.rfind("0x0680", 0) == 0))
            {
                links.toSwitches += count;
                continue;
            }
            if (found == m_gpuAt.end())
            {
                child.Fail("target",
                           "found '" + target +
                               "', which no GPU of the file has, expected the "
                               "busid of a GPU, or tclass 0x068000 for an NVSwitch");
            }
            if (found->second == gpu)
            {
                child.Fail("target", "found '" + target + "', the GPU itself, expected another");
            }
            links.toGpus[found->second] += count;
        }
        return links;
    }

    void ReadSwitched(NodeSpec& spec) const
    {
        spec.nvlinksPerGpu = m_links.front().toSwitches;
        for (std::size_t i = 0; i < m_links.size(); i++)
        {
            const XmlElement& gpu = *m_tree.gpus[i].gpu;
            if (!m_links[i].toGpus.empty())
            {
                gpu.Fail("", "found NVLinks to GPUs beside NVSwitches, expected one of both");
            }
            if (m_links[i].toSwitches != spec.nvlinksPerGpu)
            {
                gpu.Fail("",
                         "found " + std::to_string(m_links[i].toSwitches) +
                             " NVLinks into switches, expected " +
                             std::to_string(spec.nvlinksPerGpu) + " as the first GPU has");
            }
        }
    }

    void ReadMesh(NodeSpec& spec) const
    {
        for (uint32_t a = 0; a < m_links.size(); a++)
        {
            for (const auto& [b, count] : m_links[a].toGpus)
            {
                const auto back = m_links[b].toGpus.find(a);
                const uint32_t other = back == m_links[b].toGpus.end() ? 0 : back->second;
                if (other != count)
                {
                    m_tree.gpus[a].gpu->Fail("",
                                             "found " + std::to_string(count) + " NVLinks to GPU " +
                                                 std::to_string(b) + ", which has " +
                                                 std::to_string(other) + " back, expected as many");
                }
                if (a < b)
                {
                    spec.meshLinks.push_back({a, b, count});
                }
            }
        }
    }

    const NcclXmlTree& m_tree;
    std::map<std::string, uint32_t> m_gpuAt; //!< by bus id
    std::vector<NvLinks> m_links;            //!< by GPU
};

} // namespace

void
ReadNcclNvLinks(const NcclXmlTree& tree, NodeSpec& spec)
{
    NvLinkReader(tree).Read(spec);
}

} // namespace weir
