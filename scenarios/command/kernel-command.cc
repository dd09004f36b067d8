// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/embedding-time.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/kernels/kernel-time.h"
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-layer-table.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** The shares of reuse factors that are not negligible: "1: 67 %, to 2: 20 %, to 4: 9 %". */
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

/** How an estimate relates to measurements. */
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
        return "scaled from measurements on " + gpu.kernels.measuredOn;
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

/** Time, rate and clock of a GEMM in both clock regimes, and its tiling. */
std::string
DescribeGemm(const Gpu& gpu, const GemmShape& shape)
{
    TextTable table(1);
    table.Row({"clock", "time", "TFLOP/s", "TB/s", "SM clock, GHz", "tensor busy"});
    for (const auto& [name, regime] : REGIMES)
    {
        const GemmPlan plan = PlanGemm(gpu, regime, shape);
        const KernelEstimate estimate = KernelTimer(gpu, regime).Gemm(shape);
        auto row = TimeRow(name, estimate);
        row.push_back(FormatFixed(plan.clockHz / GIGAHERTZ, 3));
        row.push_back(FormatPercent(estimate.tensorBusy));
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

/** Time and rate of fused attention, forward and backward, in both clock regimes. */
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
    const bool isKnown = BytesOf(shape.precision) < FP32_BYTES;
    return table.Print(2) + "  kernel " + gpu.kernels.attention.kernel +
           (isKnown ? "; " : ", extrapolated to four-byte elements; ") +
           Grounds(gpu, estimate.provenance) + "\n";
}

/** Time and rate of a memory-bound kernel, which has one regime. */
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

/** Cache hits of look-ups in an embedding table, and their time forward and backward. */
std::string
DescribeEmbedding(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    const EmbeddingTraffic traffic = EmbeddingTrafficOf(gpu, indices, shape);
    const KernelEstimate forward = EmbeddingForwardTime(gpu, {{indices, shape}});
    const KernelEstimate backward = EmbeddingBackwardTime(gpu, {{indices, shape}});
    TextTable table(2);
    table.Row({"look-ups", FormatFixed(traffic.lookups, 0)});
    table.Row({"distinct rows",
               FormatFixed(traffic.uniqueRows, 0) + ", " +
                   FormatPercent(traffic.uniqueRows / traffic.lookups) + " of the look-ups"});
    table.Row({"distinct rows by reuse factor", ReuseText(indices, traffic.lookups)});
    table.Row({"L1 hits", FormatPercent(traffic.l1Hits)});
    table.Row({"L2 hits of L1 misses", FormatPercent(traffic.l2Hits)});
    table.Row({"memory traffic", FormatDecimalBytes(traffic.dramBytes)});
    table.Row({"forward", FormatSeconds(forward.time.ToSeconds())});
    table.Row({"backward with update", FormatSeconds(backward.time.ToSeconds())});
    table.Row({"estimate", Grounds(gpu, forward.provenance)});
    return table.Print(2);
}

struct KernelOptions
{
    std::string gpu{"h200-sxm"};
    std::vector<uint64_t> gemm; //!< m, n, k
    uint64_t batch{1};
    std::string layout{"tn"};
    std::string precision{"bf16"};
    AttentionShape attention;
    bool full{false};
    std::string memory; //!< kind of memory-bound kernel
    std::string bytes;
    std::string row{"0B"};
    EmbeddingShape embedding;
    uint64_t tableRows{0};
    double zipf{0};      //!< exponent; 0: uniform
    std::string indices; //!< file of indices, instead
};

constexpr uint64_t MAX_COUNT = uint64_t{1} << 40; //!< of a dimension, a batch, or a table's rows
constexpr double MAX_FLOPS = 1e20; //!< three months of a small GPU, within the range of Time
constexpr double MAX_BYTES = 1e18;

/** Refuses a kernel that would not end within the range of Time. */
void
CheckSize(double flops, double bytes)
{
    if (flops > MAX_FLOPS || bytes > MAX_BYTES)
    {
        std::ostringstream text;
        text << "found a kernel of " << std::setprecision(3) << flops << " FLOPs and " << bytes
             << " bytes, expected at most " << MAX_FLOPS << " and " << MAX_BYTES;
        throw InputError(text.str());
    }
}

std::string
DescribeLookups(const Gpu& gpu, const KernelOptions& options)
{
    EmbeddingShape shape = options.embedding;
    shape.bags = options.batch;
    shape.precision = ChoiceOf("--precision", options.precision, PrecisionNames());
    if (options.indices.empty() && options.tableRows == 0)
    {
        throw InputError("embedding: found neither --rows nor --indices, expected one of the two");
    }
    if (!options.indices.empty() && (options.tableRows != 0 || options.zipf != 0))
    {
        throw InputError("--indices: found " +
                         std::string(options.tableRows != 0 ? "--rows" : "--zipf") +
                         " beside it, expected one of the two: the file determines the rows");
    }
    CheckSize(0,
              static_cast<double>(shape.bags) * static_cast<double>(shape.pooling) *
                  static_cast<double>(shape.dim) * BytesOf(shape.precision));
    const IndexDistribution indices =
        !options.indices.empty()
            ? IndexDistribution::Observed(ReadIndices(options.indices, "--indices"))
            : IndexDistribution::Zipf(options.tableRows, options.zipf);
    return DescribeEmbedding(gpu, indices, shape);
}

/** Parses a size given on the command line; errors name the option. */
Bytes
Size(const char* option, const std::string& text)
{
    return LocateErrors(option, [&] { return ParseBytes(text); });
}

std::string
Describe(const Gpu& gpu, const KernelOptions& options)
{
    if (!options.memory.empty())
    {
        const Bytes bytes = Size("--bytes", options.bytes);
        CheckSize(0, bytes.ToDouble());
        return DescribeMemoryKernel(gpu,
                                    ChoiceOf("KIND", options.memory, MemoryKernelNames()),
                                    bytes,
                                    Size("--row", options.row));
    }
    if (options.embedding.dim > 0)
    {
        return DescribeLookups(gpu, options);
    }
    const Precision precision = ChoiceOf("--precision", options.precision, PrecisionNames());
    const std::string wrong = WrongPrecision(gpu, precision);
    if (!wrong.empty())
    {
        throw InputError("--precision: " + wrong);
    }
    if (options.gemm.empty())
    {
        AttentionShape shape = options.attention;
        shape.batch = options.batch;
        shape.kvHeads = shape.kvHeads == 0 ? shape.heads : shape.kvHeads;
        if (shape.heads % shape.kvHeads != 0)
        {
            throw InputError("--kv-heads: found " + std::to_string(shape.kvHeads) +
                             ", expected a divisor of the " + std::to_string(shape.heads) +
                             " heads");
        }
        shape.causal = !options.full;
        shape.precision = precision;
        const double operand = static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
                               static_cast<double>(shape.sequence) *
                               static_cast<double>(shape.headDim);
        CheckSize(10 * operand * static_cast<double>(shape.sequence),
                  4 * operand * BytesOf(precision));
        return DescribeAttention(gpu, shape);
    }
    const GemmShape shape{options.gemm[0],
                          options.gemm[1],
                          options.gemm[2],
                          options.batch,
                          precision,
                          ChoiceOf("--layout", options.layout, GemmLayoutNames())};
    const double m = static_cast<double>(shape.m);
    const double n = static_cast<double>(shape.n);
    const double k = static_cast<double>(shape.k);
    const double each = static_cast<double>(shape.batch) * FP32_BYTES;
    CheckSize(2 * m * n * k * static_cast<double>(shape.batch), (m * k + n * k + m * n) * each);
    return DescribeGemm(gpu, shape);
}

ExitCode
ShowKernel(const KernelOptions& options)
{
    const Catalog catalog;
    const Gpu gpu = LoadGpu(catalog.Find(CatalogKind::Gpus, options.gpu), catalog);
    const std::string text = ConvertErrors("", [&] { return Describe(gpu, options); });
    std::cout << gpu.name << "\n" << text;
    return ExitCode::Done;
}

void
AddShape(CLI::App& kind, KernelOptions& options)
{
    kind.add_option("--batch", options.batch, "Number of GEMMs, or of samples")
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT))
        ->capture_default_str();
    kind.add_option("--precision", options.precision, "Precision: bf16, fp16, tf32, fp32 or fp8")
        ->capture_default_str();
}

} // namespace

Command
AddKernelCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand(
        "kernel", "Show the time estimate of one kernel and its components");
    auto options = std::make_shared<KernelOptions>();
    verb->add_option("--gpu", options->gpu, "GPU, as listed by weir list gpus")
        ->capture_default_str();
    // Before its sub-verbs, which inherit it.
    verb->footer(R"(Examples:
  weir kernel gemm 4096 4096 4096
  weir kernel --gpu a100-sxm-80g attention --heads 32 --sequence 4096 --head-dim 128
  weir kernel embedding --rows 10000000 --dim 128 --batch 65536 --pooling 32 --zipf 1.0 --precision fp32
  weir kernel memory layerNormForward --bytes 64MiB --row 8KiB)");
    verb->require_subcommand(1);

    auto* gemm = verb->add_subcommand("gemm", "C[m,n] = A[m,k] B[k,n]");
    gemm->add_option("SIZES", options->gemm, "m, n and k")
        ->required()
        ->expected(3)
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    gemm->add_option(
            "--layout", options->layout, "Operand layout: tn (forward), nn or nt (gradients)")
        ->capture_default_str();
    AddShape(*gemm, *options);

    auto* attention = verb->add_subcommand("attention", "Fused attention, forward and backward");
    attention->add_option("--heads", options->attention.heads, "Number of query heads")
        ->required()
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    attention
        ->add_option("--kv-heads",
                     options->attention.kvHeads,
                     "Number of key and value heads (default: as many as query heads)")
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    attention->add_option("--sequence", options->attention.sequence, "Tokens")
        ->required()
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    attention->add_option("--head-dim", options->attention.headDim, "Width of a head")
        ->required()
        ->check(CLI::Range(1, 1 << 16));
    attention->add_flag("--full", options->full, "Attention without a causal mask");
    AddShape(*attention, *options);

    auto* memory = verb->add_subcommand("memory", "A memory-bound kernel");
    memory->add_option("KIND", options->memory, "Kernel kind: layerNormForward, elementwise, ...")
        ->required();
    memory->add_option("--bytes", options->bytes, "Bytes read and written, such as 64MiB")
        ->required();
    memory->add_option("--row", options->row, "Bytes of a row that is reduced")
        ->capture_default_str();

    auto* embedding = verb->add_subcommand(
        "embedding", "Embedding look-ups (sums of table rows) and their backward pass");
    embedding->add_option("--rows", options->tableRows, "Number of rows of the table")
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    embedding->add_option("--dim", options->embedding.dim, "Elements of a row")
        ->required()
        ->check(CLI::Range(1, 1 << 16));
    embedding->add_option("--pooling", options->embedding.pooling, "Rows looked up per sample")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    embedding
        ->add_option("--zipf", options->zipf, "Zipf exponent of the row frequencies; 0: uniform")
        ->check([](const std::string& text) {
            char* end = nullptr;
            const double exponent = std::strtod(text.c_str(), &end);
            return *end == '\0' && std::isfinite(exponent) && exponent >= 0
                       ? std::string()
                       : "found '" + text + "', expected a finite number of at least 0";
        })
        ->capture_default_str();
    embedding->add_option("--indices",
                          options->indices,
                          "File of row indices, one per line, instead of --rows and --zipf");
    AddShape(*embedding, *options);

    return {verb, [options] { return ShowKernel(*options); }};
}

} // namespace weir
