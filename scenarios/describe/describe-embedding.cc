// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-kernel.h"
#include "scenarios/results/text-table.h"

namespace weir
{

namespace
{

std::string
Percent(double share)
{
    return FormatFixed(share * 100, 1) + " %";
}

const char*
ToText(EstimateProvenance provenance)
{
    switch (provenance)
    {
    case EstimateProvenance::Measured:
        return "within what was measured on this GPU";
    case EstimateProvenance::Extrapolated:
        return "beyond what was measured on this GPU";
    case EstimateProvenance::Carried:
        return "carried from another GPU's measurements";
    case EstimateProvenance::Roofline:
        return "datasheet";
    }
    return "";
}

/** The reuse factors that are not next to nothing: "1 67 %, to 2 20 %, to 4 9 %". */
std::string
ReuseText(const IndexDistribution& indices, double lookups)
{
    constexpr double MIN_SHARE = 5e-4;
    const auto bins = indices.ReuseFactors(lookups);
    std::string text;
    for (std::size_t bin = 0; bin < bins.size(); bin++)
    {
        if (bins[bin] >= MIN_SHARE)
        {
            const bool isLast = bin + 1 == bins.size();
            text += (text.empty() ? "" : ", ") +
                    std::string(isLast     ? "more"
                                : bin == 0 ? ""
                                           : "to ") +
                    (isLast ? "" : std::to_string(1U << bin)) + ": " + Percent(bins[bin]);
        }
    }
    return text;
}

} // namespace

std::string
DescribeEmbedding(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    const EmbeddingTraffic traffic = EmbeddingTrafficOf(gpu, indices, shape);
    const KernelEstimate forward = EmbeddingForwardTime(gpu, indices, shape);
    const KernelEstimate backward = EmbeddingBackwardTime(gpu, indices, shape);
    TextTable table(2);
    table.Row({"look-ups", FormatFixed(traffic.lookups, 0)});
    table.Row({"distinct rows",
               FormatFixed(traffic.uniqueRows, 0) + ", " +
                   Percent(traffic.uniqueRows / traffic.lookups) + " of the look-ups"});
    table.Row({"rows by how often they occur", ReuseText(indices, traffic.lookups)});
    table.Row({"found in L1", Percent(traffic.l1Hits)});
    table.Row({"of the others found in L2", Percent(traffic.l2Hits)});
    table.Row({"from memory", FormatDecimalBytes(traffic.dramBytes)});
    table.Row({"forward", FormatSeconds(forward.time.ToSeconds())});
    table.Row({"backward with update", FormatSeconds(backward.time.ToSeconds())});
    table.Row({"estimate", ToText(forward.provenance)});
    return table.Print(2);
}

} // namespace weir
