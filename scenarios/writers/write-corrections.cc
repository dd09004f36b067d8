// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-corrections.h"

#include "scenarios/writers/parameter-writer.h"

namespace weir
{

void
WriteCorrections(YamlWriter& out, CorrectionSpec spec)
{
    ParameterWriter writer(out);
    for (const auto& [key, part] : spec.Parts())
    {
        out.BeginMap(key);
        part->VisitParameters(writer);
        out.EndMap();
    }
}

} // namespace weir
