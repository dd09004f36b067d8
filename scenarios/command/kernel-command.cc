// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/describe/describe-kernel.h"
#include "scenarios/readers/read-embeddings.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

namespace
{

/** What the verb's kinds of kernel are asked for. */
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
    std::string indices; //!< file of them, instead
};

constexpr uint64_t MAX_COUNT = uint64_t{1} << 40; //!< of a dimension, a batch, a table's rows
constexpr double MAX_FLOPS = 1e20; //!< three months of a small GPU, which picoseconds can count
constexpr double MAX_BYTES = 1e18;

/** Refuses a kernel that would not end within the time that Weir counts. */
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
                         " beside it, expected one of the two: the file says which rows there are");
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

/** A size given on the command line, named in what is wrong with it. */
Bytes
Size(const char* option, const std::string& text)
{
    try
    {
        return ParseBytes(text);
    }
    catch (const InputError& error)
    {
        throw InputError(std::string(option) + ": " + error.what());
    }
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
    GemmShape shape;
    shape.m = options.gemm[0];
    shape.n = options.gemm[1];
    shape.k = options.gemm[2];
    shape.batch = options.batch;
    shape.layout = ChoiceOf("--layout", options.layout, GemmLayoutNames());
    shape.precision = precision;
    const double m = static_cast<double>(shape.m);
    const double n = static_cast<double>(shape.n);
    const double k = static_cast<double>(shape.k);
    const double each = static_cast<double>(shape.batch) * BytesOf(Precision::Fp32);
    CheckSize(2 * m * n * k * static_cast<double>(shape.batch), (m * k + n * k + m * n) * each);
    return DescribeGemm(gpu, shape);
}

ExitCode
ShowKernel(const KernelOptions& options)
{
    const Catalog catalog;
    const Gpu gpu = LoadGpu(catalog.Find(CatalogKind::Gpus, options.gpu), catalog);
    std::string text;
    try
    {
        text = Describe(gpu, options);
    }
    catch (const std::invalid_argument& error)
    {
        throw InputError(error.what());
    }
    std::cout << gpu.name << "\n" << text;
    return ExitCode::Done;
}

void
AddShape(CLI::App& kind, KernelOptions& options)
{
    kind.add_option("--batch", options.batch, "Products, or samples")
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT))
        ->capture_default_str();
    kind.add_option("--precision", options.precision, "bf16, fp16, tf32, fp32 or fp8")
        ->capture_default_str();
}

} // namespace

Command
AddKernelCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("kernel", "Show one kernel's estimate and its parts");
    auto options = std::make_shared<KernelOptions>();
    verb->add_option("--gpu", options->gpu, "As weir list gpus")->capture_default_str();
    // Before its sub-verbs, which show it, too.
    verb->footer(
        "Examples:\n"
        "  weir kernel gemm 4096 4096 4096\n"
        "  weir kernel --gpu a100-sxm-80g attention --heads 32 --sequence 4096 "
        "--head-dim 128\n"
        "  weir kernel embedding --rows 10000000 --dim 128 --batch 65536 --pooling 32 --zipf 1.0 "
        "--precision fp32\n"
        "  weir kernel memory layerNormForward --bytes 64MiB --row 8KiB");
    verb->require_subcommand(1);

    auto* gemm = verb->add_subcommand("gemm", "C[m,n] = A[m,k] B[k,n]");
    gemm->add_option("SIZES", options->gemm, "m, n and k")
        ->required()
        ->expected(3)
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    gemm->add_option("--layout", options->layout, "tn (forward), nn or nt (gradients)")
        ->capture_default_str();
    AddShape(*gemm, *options);

    auto* attention = verb->add_subcommand("attention", "Fused attention, forward and backward");
    attention->add_option("--heads", options->attention.heads, "Query heads")
        ->required()
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    attention
        ->add_option(
            "--kv-heads", options->attention.kvHeads, "Key and value heads (default: as many)")
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    attention->add_option("--sequence", options->attention.sequence, "Tokens")
        ->required()
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    attention->add_option("--head-dim", options->attention.headDim, "Width of a head")
        ->required()
        ->check(CLI::Range(1, 1 << 16));
    attention->add_flag("--full", options->full, "Without a causal mask");
    AddShape(*attention, *options);

    auto* memory = verb->add_subcommand("memory", "A kernel whose time is memory traffic");
    memory->add_option("KIND", options->memory, "layerNormForward, elementwise, ...")->required();
    memory->add_option("--bytes", options->bytes, "Read and written, 64MiB")->required();
    memory->add_option("--row", options->row, "Of a row that is reduced")->capture_default_str();

    auto* embedding = verb->add_subcommand("embedding", "Sums of rows of a table, and back");
    embedding->add_option("--rows", options->tableRows, "Of the table")
        ->check(CLI::Range(uint64_t{1}, MAX_COUNT));
    embedding->add_option("--dim", options->embedding.dim, "Elements of a row")
        ->required()
        ->check(CLI::Range(1, 1 << 16));
    embedding->add_option("--pooling", options->embedding.pooling, "Rows of a sample")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    embedding->add_option("--zipf", options->zipf, "Exponent of the rows' use; 0: all alike")
        ->capture_default_str();
    embedding->add_option("--indices", options->indices, "File of indices, one a line, instead");
    AddShape(*embedding, *options);

    return {verb, [options] { return ShowKernel(*options); }};
}

} // namespace weir
