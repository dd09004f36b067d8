// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/lost-keys.h"

#include "fabric/nodes/node-wiring.h"
#include "scenarios/topology/slot-list.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** As a system file has it, with places as a reader of another format would give them. */
YamlNode
AsFile(ClusterSpec cluster)
{
    cluster.name = "x";
    SetPlaces(cluster.node, PlacesOf(cluster.node), cluster.node.gpuLink.has_value());
    YamlWriter out;
    out.BeginMap();
    WriteSystemKeys(out, cluster);
    out.EndMap();
    return YamlNode::Parse(out.GetText(), "topology");
}

/** Keys of one map that differ. */
struct Difference
{
    std::string path; //!< of the map
    std::vector<std::string> keys;
};

class Comparison
{
  public:
    void Compare(const YamlNode& there, const YamlNode& back, const std::string& path)
    {
        const std::size_t mine = m_differences.size();
        m_differences.push_back({path, {}});
        for (const std::string& key : there.Keys())
        {
            const YamlNode value = there.Get(key);
            const auto other = back.Find(key);
            if (other && value.IsMap() && other->IsMap())
            {
                Compare(value, *other, path.empty() ? key : path + "." + key);
            }
            else if (!other || value.Dump() != other->Dump())
            {
                m_differences[mine].keys.push_back(key);
            }
        }
        for (const std::string& key : back.Keys())
        {
            if (!there.Has(key))
            {
                m_differences[mine].keys.push_back(key);
            }
        }
    }

    std::string Text() const
    {
        std::string text;
        for (const Difference& difference : m_differences)
        {
            std::string keys;
            for (const std::string& key : difference.keys)
            {
                keys += (keys.empty() ? "" : ", ") + key;
            }
            if (!keys.empty())
            {
                text += (text.empty() ? "" : "; ") +
                        (difference.path.empty() ? keys : difference.path + " (" + keys + ")");
            }
        }
        return text;
    }

  private:
    std::vector<Difference> m_differences;
};

} // namespace

std::string
LostKeys(const ClusterSpec& there, const ClusterSpec& back)
{
    Comparison comparison;
    comparison.Compare(AsFile(there), AsFile(back), "");
    return comparison.Text();
}

} // namespace weir
