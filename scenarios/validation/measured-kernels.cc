// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/measured-kernels.h"

#include "scenarios/readers/located-lines.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"

#include <initializer_list>
#include <map>
#include <utility>

namespace weir
{

namespace
{

constexpr int64_t LONGEST = int64_t{1} << 40; //!< of a dimension, or bytes

/** Reads the rows of one table field by field, in the order of the columns. */
class KernelRows
{
  public:
    KernelRows(const YamlNode& file, std::initializer_list<const char*> columns)
        : m_columns(columns),
          m_lines(file.AsPathBesideFile(), file.Where())
    {
        m_lines.NextHeader({m_columns.begin(), m_columns.end()});
    }

    bool Next()
    {
        m_field = 0;
        return m_lines.NextRow(m_columns.size());
    }

    std::string Text()
    {
        return std::string(m_lines.Fields()[m_field++]);
    }

    uint64_t Count(int64_t min = 1)
    {
        const std::size_t field = m_field++;
        return static_cast<uint64_t>(m_lines.Whole(field, m_columns[field], min, LONGEST));
    }

    double Number(double min, double max)
    {
        const std::size_t field = m_field++;
        const double value = m_lines.Decimal(field, m_columns[field]);
        if (!(value >= min && value <= max))
        {
            throw m_lines.Refusal(m_columns[field],
                                  m_lines.Fields()[field],
                                  "a number from " + FormatFixed(min, 0) + " to " +
                                      FormatFixed(max, 0));
        }
        return value;
    }

    /** Reads a time in microseconds. @return seconds */
    double Microseconds()
    {
        const std::size_t field = m_field++;
        return m_lines.Positive(field, m_columns[field], "a time") * 1e-6;
    }

    template <typename E>
    E Choice(const NamedChoices<E>& choices)
    {
        const std::size_t field = m_field++;
        if (const std::optional<E> value = FindChoice(choices, m_lines.Fields()[field]))
        {
            return *value;
        }
        throw m_lines.Refusal(
            m_columns[field], m_lines.Fields()[field], "one of " + JoinNames(ChoiceNames(choices)));
    }

  private:
    std::vector<const char*> m_columns;
    LocatedLines m_lines;
    std::size_t m_field{0}; //!< index of the next field to read
};

void
ReadGemms(const YamlNode& file, std::vector<MeasuredKernel>& kernels)
{
    KernelRows rows(file,
                    {"set", "m", "n", "k", "batch", "layout", "precision", "output", "time_us"});
    while (rows.Next())
    {
        MeasuredKernel one;
        const std::string set = rows.Text();
        GemmShape shape;
        shape.m = rows.Count();
        shape.n = rows.Count();
        shape.k = rows.Count();
        shape.batch = rows.Count();
        shape.layout = rows.Choice(GemmLayoutNames());
        shape.precision = rows.Choice(PrecisionNames());
        shape.accumulateFp32 = rows.Text() == "accumulate-fp32";
        one.measured = rows.Microseconds();
        one.name = std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
                   std::to_string(shape.k) +
                   (shape.batch > 1 ? " x " + std::to_string(shape.batch) : "") + " " +
                   NameOf(GemmLayoutNames(), shape.layout) + " " +
                   NameOf(PrecisionNames(), shape.precision);
        one.classes = {"gemm", "gemm " + set};
        one.call = shape;
        kernels.push_back(one);
    }
}

void
ReadAttention(const YamlNode& file, std::vector<MeasuredKernel>& kernels)
{
    const NamedChoices<bool> phases{{"forward", false}, {"backward", true}};
    const NamedChoices<bool> masks{{"causal", true}, {"full", false}};
    KernelRows rows(
        file, {"phase", "mask", "batch", "heads", "kvHeads", "sequence", "headDim", "time_us"});
    while (rows.Next())
    {
        MeasuredKernel one;
        AttentionCall call;
        call.isBackward = rows.Choice(phases);
        call.shape.causal = rows.Choice(masks);
        call.shape.batch = rows.Count();
        call.shape.heads = rows.Count();
        call.shape.kvHeads = rows.Count();
        call.shape.sequence = rows.Count();
        call.shape.headDim = rows.Count();
        one.measured = rows.Microseconds();
        one.name = std::to_string(call.shape.batch) + " x " + std::to_string(call.shape.heads) +
                   " (" + std::to_string(call.shape.kvHeads) + ") heads x " +
                   std::to_string(call.shape.sequence) + " x " +
                   std::to_string(call.shape.headDim) + (call.shape.causal ? " causal" : " full") +
                   (call.isBackward ? " backward" : " forward");
        one.classes = {"attention", call.isBackward ? "attention backward" : "attention forward"};
        one.call = call;
        kernels.push_back(one);
    }
}

void
ReadMemory(const YamlNode& file, std::vector<MeasuredKernel>& kernels)
{
    const NamedChoices<MemoryKernel> names = MemoryKernelNames();
    KernelRows rows(file, {"kernel", "bytes", "rowBytes", "time_us"});
    while (rows.Next())
    {
        MeasuredKernel one;
        MemoryCall call;
        call.kernel = rows.Choice(names);
        call.bytes = Bytes(static_cast<int64_t>(rows.Count()));
        call.rowBytes = Bytes(static_cast<int64_t>(rows.Count(0)));
        one.measured = rows.Microseconds();
        one.name = std::string(ToString(call.kernel)) + " " + std::to_string(call.bytes.Count()) +
                   " B, rows of " + std::to_string(call.rowBytes.Count()) + " B";
        one.classes = {"memory-bound", ToString(call.kernel)};
        one.call = call;
        kernels.push_back(one);
    }
}

void
ReadEmbeddings(const YamlNode& file, std::vector<MeasuredKernel>& kernels)
{
    constexpr double MAX_ZIPF = 16;
    const NamedChoices<bool> phases{{"forward", false}, {"backward", true}};
    std::map<std::pair<uint64_t, double>, IndexDistribution> known;
    KernelRows rows(file,
                    {"phase", "precision", "rows", "dim", "bags", "pooling", "zipf", "time_us"});
    while (rows.Next())
    {
        MeasuredKernel one;
        const bool isBackward = rows.Choice(phases);
        EmbeddingShape shape;
        shape.precision = rows.Choice(PrecisionNames());
        const uint64_t tableRows = rows.Count();
        shape.dim = rows.Count();
        shape.bags = rows.Count();
        shape.pooling = rows.Count();
        const double zipf = rows.Number(0, MAX_ZIPF);
        one.measured = rows.Microseconds();
        const auto indices =
            known.try_emplace(std::pair(tableRows, zipf), IndexDistribution::Zipf(tableRows, zipf))
                .first;
        const char* const precision = NameOf(PrecisionNames(), shape.precision);
        one.name = std::to_string(shape.bags) + " bags of " + std::to_string(shape.pooling) +
                   " of " + std::to_string(tableRows) + " rows of " + std::to_string(shape.dim) +
                   " " + precision + ", Zipf " + FormatFixed(zipf, 1) +
                   (isBackward ? " backward" : " forward");
        one.classes = {"embedding",
                       std::string(isBackward ? "embedding backward " : "embedding forward ") +
                           precision};
        one.call = EmbeddingCall{indices->second, shape, isBackward};
        kernels.push_back(one);
    }
}

/** Estimates the time of a call of any kind. */
struct CallTimer
{
    const KernelTimer& timer;

    KernelEstimate operator()(const GemmShape& shape) const
    {
        return timer.Gemm(shape);
    }

    KernelEstimate operator()(const AttentionCall& call) const
    {
        return call.isBackward ? timer.AttentionBackward(call.shape)
                               : timer.AttentionForward(call.shape);
    }

    KernelEstimate operator()(const MemoryCall& call) const
    {
        return timer.Memory(call.kernel, call.bytes, call.rowBytes);
    }

    KernelEstimate operator()(const EmbeddingCall& call) const
    {
        const Gpu& gpu = timer.GetGpu();
        return call.isBackward ? EmbeddingBackwardTime(gpu, {{call.indices, call.shape}})
                               : EmbeddingForwardTime(gpu, {{call.indices, call.shape}});
    }
};

} // namespace

MeasuredKernels
ReadMeasuredKernels(const YamlNode& node, const Catalog& catalog)
{
    node.CheckKeys(YamlKeysOf("suite.kernels"));
    MeasuredKernels measured;
    measured.gpu = LoadGpu(catalog.Find(CatalogKind::Gpus, node.Get("gpu")), catalog);
    if (const auto clock = node.Find("clock"))
    {
        measured.clock = clock->AsEnum<ClockRegime>(
            {{"burst", ClockRegime::Burst}, {"sustained", ClockRegime::Sustained}});
    }
    if (const auto file = node.Find("gemm"))
    {
        ReadGemms(*file, measured.kernels);
    }
    if (const auto file = node.Find("attention"))
    {
        ReadAttention(*file, measured.kernels);
    }
    if (const auto file = node.Find("memory"))
    {
        ReadMemory(*file, measured.kernels);
    }
    if (const auto file = node.Find("embedding"))
    {
        ReadEmbeddings(*file, measured.kernels);
    }
    return measured;
}

KernelEstimate
Predict(const KernelTimer& timer, const MeasuredKernel& kernel)
{
    return std::visit(CallTimer{timer}, kernel.call);
}

} // namespace weir
