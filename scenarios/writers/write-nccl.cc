// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-nccl.h"

#include "scenarios/writers/parameter-writer.h"
#include "scenarios/yaml/quantity.h"

#include <string>

namespace weir
{

namespace
{

void
WriteDimensionWise(YamlWriter& out, const DimensionWiseSettings& settings)
{
    out.BeginMap("dimensionWise");
    if (!settings.algorithms.empty())
    {
        out.BeginList("perDimension");
        for (const DimensionAlgorithm algorithm : settings.algorithms)
        {
            out.Item(ToString(algorithm));
        }
        out.EndList();
    }
    out.Integer("chunks", settings.chunks);
    out.Flag("balanced", settings.balanced);
    if (const auto& dispatch = settings.dispatch)
    {
        out.Text("dispatch",
                 std::to_string(dispatch->expertsOfToken) + "/" +
                     std::to_string(dispatch->experts));
        out.Text("expertGroups",
                 std::to_string(dispatch->groupsOfToken) + "/" + std::to_string(dispatch->groups));
    }
    if (const auto& sparsity = settings.sparsity)
    {
        out.Text("density", FormatNumber(100 * sparsity->density) + "%");
        if (sparsity->selection < Rate::Infinite())
        {
            out.Speed("selectionRate", sparsity->selection);
        }
    }
    if (settings.endpointDelay)
    {
        out.Duration("endpointDelay", *settings.endpointDelay);
    }
    if (settings.memoryRate)
    {
        out.Speed("memoryRate", *settings.memoryRate);
    }
    out.EndMap();
}

} // namespace

void
WriteNccl(YamlWriter& out, const NcclSettings& nccl)
{
    out.BeginMap("nccl");
    out.Text("version", nccl.version);
    if (!nccl.filter.GetAlgorithms().empty())
    {
        out.Text("algorithms", nccl.filter.GetAlgorithms());
    }
    if (!nccl.filter.GetProtocols().empty())
    {
        out.Text("protocols", nccl.filter.GetProtocols());
    }
    ParameterWriter writer(out);
    NcclSettings(nccl).VisitParameters(writer);
    if (nccl.dimensionWise.IsGiven())
    {
        WriteDimensionWise(out, nccl.dimensionWise);
    }
    out.EndMap();
}

} // namespace weir
