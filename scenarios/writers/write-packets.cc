// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-packets.h"

#include "scenarios/writers/parameter-writer.h"

namespace weir
{

void
WritePackets(YamlWriter& out, PacketSpec spec)
{
    ParameterWriter writer(out);
    spec.VisitParameters(writer);
    for (const auto& [key, part] : spec.Parts())
    {
        out.BeginMap(key);
        part->VisitParameters(writer);
        out.EndMap();
    }
    out.BeginMap("congestionControl");
    out.Text("kind", spec.congestionControl->Name());
    spec.congestionControl->VisitParameters(writer);
    out.EndMap();
}

} // namespace weir
