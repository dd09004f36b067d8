// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-packets.h"

#include "scenarios/writers/parameter-writer.h"

namespace weir
{

namespace
{

/** The keys of each part of @p spec. */
template <typename Spec>
void
WriteParts(YamlWriter& out, ParameterWriter& writer, Spec& spec)
{
    for (const auto& [key, part] : spec.Parts())
    {
        out.BeginMap(key);
        part->VisitParameters(writer);
        out.EndMap();
    }
}

} // namespace

void
WriteCorrections(YamlWriter& out, CorrectionSpec spec)
{
    ParameterWriter writer(out);
    WriteParts(out, writer, spec);
}

void
WritePackets(YamlWriter& out, PacketSpec spec)
{
    ParameterWriter writer(out);
    spec.VisitParameters(writer);
    WriteParts(out, writer, spec);
    out.BeginMap("congestionControl");
    out.Text("kind", spec.congestionControl->Name());
    spec.congestionControl->VisitParameters(writer);
    out.EndMap();
}

} // namespace weir
