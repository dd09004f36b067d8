// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-kernel.h"

#include "compute-model/kernels/gemm-time.h"
#include "scenarios/results/text-table.h"

#include <utility>

namespace weir
{
namespace
{

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
                    (isLast ? "" : std::to_string(1U << bin)) + ": " + FormatPercent(bins[bin]);
        }
    }
    return text;
}

constexpr double TERA = 1e12;
constexpr double GIGAHERTZ = 1e9;

const std::pair<const char*, ClockRegime> REGIMES[] = {{"burst", ClockRegime::Burst},
                                                       {"sustained", ClockRegime::Sustained}};

/** Whether measurements stand behind an estimate. */
std::string
Grounds(const Gpu& gpu, EstimateProvenance provenance)
{
    switch (provenance)
    {
    case EstimateProvenance::Measured:
        return "inside the shapes measured on this GPU";
    case EstimateProvenance::Extrapolated:
        return "outside the shapes measured on this GPU";
    case EstimateProvenance::Carried:
        return "carried over from " + gpu.kernels.measuredOn;
    case EstimateProvenance::Roofline:
        return "datasheet only";
    }
    return "";
}

std::vector<std::string>
TimeRow(const std::string& name, const KernelEstimate& estimate)
{
    const double seconds = estimate.time.ToSeconds();
    return {name,
            FormatSeconds(seconds),
            FormatFixed(estimate.flops.ToDouble() / seconds / TERA, 1),
            FormatFixed(estimate.bytes.ToDouble() / seconds / TERA, 3)};
}

} // namespace

std::string
DescribeGemm(const Gpu& gpu, const GemmShape& shape)
{
    TextTable table(1);
    table.Row({"clock", "time", "TFLOP/s", "TB/s", "SM clock, GHz", "tensor busy"});
    for (const auto& [name, regime] : REGIMES)
    {
        const GemmPlan plan = PlanGemm(gpu, regime, shape);
        auto row = TimeRow(name, KernelTimer(gpu, regime).Gemm(shape));
        row.push_back(FormatFixed(plan.clockHz / GIGAHERTZ, 3));
        row.push_back(FormatPercent(plan.utilization));
        table.Row(row);
    }
    const GemmPlan plan = PlanGemm(gpu, ClockRegime::Burst, shape);
    const auto estimate = KernelTimer(gpu, ClockRegime::Burst).Gemm(shape);
    return table.Print(2) + "  tiles of " + std::to_string(plan.tile.rows) + " x " +
           std::to_string(plan.tile.columns) + ", inner dimension in " +
           std::to_string(plan.splits) + (plan.splits == 1 ? " part, " : " parts, ") +
           std::to_string(plan.waves) + (plan.waves == 1 ? " tile" : " tiles") +
           " on the busiest SM; " + Grounds(gpu, estimate.provenance) + "\n";
}

std::string
DescribeAttention(const Gpu& gpu, const AttentionShape& shape)
{
    TextTable table(1);
    table.Row({"pass, clock", "time", "TFLOP/s", "TB/s"});
    for (const auto& [name, regime] : REGIMES)
    {
        const KernelTimer timer(gpu, regime);
        table.Row(TimeRow(std::string("forward, ") + name, timer.AttentionForward(shape)));
        table.Row(TimeRow(std::string("backward, ") + name, timer.AttentionBackward(shape)));
    }
    const auto estimate = KernelTimer(gpu, ClockRegime::Burst).AttentionForward(shape);
    const bool isKnown = BytesOf(shape.precision) < BytesOf(Precision::Fp32);
    return table.Print(2) + "  kernel " + gpu.kernels.attention.kernel +
           (isKnown ? "; " : ", as if it knew four bytes; ") + Grounds(gpu, estimate.provenance) +
           "\n";
}

std::string
DescribeMemoryKernel(const Gpu& gpu, MemoryKernel kernel, Bytes bytes, Bytes rowBytes)
{
    const auto estimate = KernelTimer(gpu).Memory(kernel, bytes, rowBytes);
    const double seconds = estimate.time.ToSeconds();
    const double share = bytes.ToDouble() / seconds / gpu.memoryRate.ToBytesPerSecond() * 100;
    return "  " + std::string(ToString(kernel)) + ": " + FormatSeconds(seconds) + ", " +
           FormatFixed(bytes.ToDouble() / seconds / TERA, 3) + " TB/s, " + FormatFixed(share, 1) +
           " % of the memory rate; " + Grounds(gpu, estimate.provenance) + "\n";
}

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
                   FormatPercent(traffic.uniqueRows / traffic.lookups) + " of the look-ups"});
    table.Row({"rows by how often they occur", ReuseText(indices, traffic.lookups)});
    table.Row({"found in L1", FormatPercent(traffic.l1Hits)});
    table.Row({"of the others found in L2", FormatPercent(traffic.l2Hits)});
    table.Row({"from memory", FormatDecimalBytes(traffic.dramBytes)});
    table.Row({"forward", FormatSeconds(forward.time.ToSeconds())});
    table.Row({"backward with update", FormatSeconds(backward.time.ToSeconds())});
    table.Row({"estimate", ToText(forward.provenance)});
    return table.Print(2);
}

} // namespace weir
