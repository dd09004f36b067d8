// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/row-packets.h"

#include "scenarios/readers/read-packets.h"

namespace weir
{

PacketSpec
ReadRowPackets(const LocatedLines& lines,
               const std::vector<std::string>& columns,
               std::size_t first,
               const YamlNode& network)
{
    YamlNode node = YamlNode::Parse("{}", lines.Path());
    node.Overlay(network);
    try
    {
        for (std::size_t i = first; i < columns.size(); i++)
        {
            if (!lines.Fields()[i].empty())
            {
                node.Set(columns[i], std::string(lines.Fields()[i]));
            }
        }
        return ReadPackets(node);
    }
    catch (const InputError& error)
    {
        throw lines.Error(error.what());
    }
}

} // namespace weir
