// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-corrections.h"

#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/yaml-keys.h"

namespace weir
{

CorrectionSpec
ReadCorrections(const YamlNode& node, const Catalog& catalog)
{
    const bool isName = node.IsScalar();
    const YamlNode map =
        isName ? YamlNode::Load(catalog.Find(CatalogKind::Corrections, node)) : node;
    map.CheckKeys(YamlKeysOf(isName ? "corrections" : "network.corrections"));
    CorrectionSpec spec;
    for (const auto& [key, part] : spec.Parts())
    {
        if (const auto found = map.Find(key))
        {
            ReadParameters(*found, *part);
        }
    }
    return spec;
}

} // namespace weir
