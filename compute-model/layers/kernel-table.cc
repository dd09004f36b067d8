// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/kernel-table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace weir
{
namespace
{

/** Columns of the matrix that represents a buffer; only its area matters. */
constexpr uint64_t BUFFER_COLUMNS = 1024;

constexpr double MAX_BYTES = 4.6e18; // 2^62, within the range of 64-bit integers

/** Number of bags and of tables. */
std::array<uint32_t, 4>
ShapeOf(const std::vector<EmbeddingLookup>& batch)
{
    const uint64_t bags = batch.empty() ? 0 : batch.front().shape.bags;
    return {static_cast<uint32_t>(bags), static_cast<uint32_t>(batch.size()), 0, 0};
}

} // namespace

void
WriteBufferKernel(KernelTable& kernels,
                  const char* name,
                  MemoryKernel kernel,
                  double elements,
                  double bytesPerElement)
{
    const auto rows =
        static_cast<uint64_t>(std::ceil(elements / static_cast<double>(BUFFER_COLUMNS)));
    kernels.Memory(name, kernel, {rows, BUFFER_COLUMNS}, bytesPerElement);
}

KernelRange
KernelRange::Then(const KernelRange& next) const
{
    return {first,
            count + next.count,
            duration + next.duration,
            host + next.host,
            std::max(launchBound + next.duration, host + next.launchBound)};
}

KernelTable::KernelTable(KernelRecords& records, const KernelTimer& timer, Time host)
    : m_records(records),
      m_timer(timer),
      m_host(host)
{
    m_open.first = static_cast<uint32_t>(records.kernels.size());
}

uint32_t
KernelTable::Label(const std::string& text)
{
    const auto [entry, isNew] =
        m_labels.emplace(text, static_cast<uint32_t>(m_records.labels.size()));
    if (isNew)
    {
        m_records.labels.push_back(text);
    }
    return entry->second;
}

void
KernelTable::Gemm(const std::string& name, const GemmShape& shape)
{
    Add(name,
        m_timer.Gemm(shape),
        {static_cast<uint32_t>(shape.m),
         static_cast<uint32_t>(shape.n),
         static_cast<uint32_t>(shape.k),
         static_cast<uint32_t>(shape.batch)});
}

void
KernelTable::Attention(const std::string& name, const AttentionShape& shape, bool isBackward)
{
    Add(name,
        isBackward ? m_timer.AttentionBackward(shape) : m_timer.AttentionForward(shape),
        {static_cast<uint32_t>(shape.sequence),
         static_cast<uint32_t>(shape.headDim),
         static_cast<uint32_t>(shape.heads),
         static_cast<uint32_t>(shape.batch)});
}

void
KernelTable::Memory(const std::string& name,
                    MemoryKernel kernel,
                    const MatrixSize& size,
                    double bytesPerElement,
                    uint32_t elementBytes)
{
    const auto [rows, columns] = size;
    const double elements = static_cast<double>(rows) * static_cast<double>(columns);
    if (!(elements * bytesPerElement < MAX_BYTES))
    {
        throw std::invalid_argument("kernel '" + name + "': found " + std::to_string(rows) + " x " +
                                    std::to_string(columns) +
                                    " elements, expected fewer than 2^62 bytes");
    }
    Add(name,
        m_timer.Memory(kernel,
                       Bytes::Nearest(elements * bytesPerElement),
                       Bytes(static_cast<int64_t>(columns * elementBytes))),
        {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns), 0, 0});
}

void
KernelTable::EmbeddingForward(const std::string& name, const std::vector<EmbeddingLookup>& batch)
{
    Add(name, EmbeddingForwardTime(m_timer.GetGpu(), batch), ShapeOf(batch));
}

void
KernelTable::EmbeddingUpdate(const std::string& name,
                             const std::vector<EmbeddingLookup>& batch,
                             bool isExact)
{
    const Gpu& gpu = m_timer.GetGpu();
    Add(name,
        isExact ? EmbeddingExactUpdateTime(gpu, batch) : EmbeddingBackwardTime(gpu, batch),
        ShapeOf(batch));
}

KernelRange
KernelTable::Close()
{
    const KernelRange closed = m_open;
    m_open = KernelRange();
    m_open.first = static_cast<uint32_t>(m_records.kernels.size());
    return closed;
}

KernelRange
KernelTable::Concatenate(const KernelRange& a, const KernelRange& b)
{
    if (a.count == 0 || b.count == 0)
    {
        return a.count == 0 ? b : a;
    }
    if (m_open.count != 0)
    {
        throw std::logic_error("KernelTable: a range is open");
    }
    const auto [entry, isNew] = m_joined.try_emplace({a.first, a.count, b.first, b.count});
    if (isNew)
    {
        auto& kernels = m_records.kernels;
        KernelRange& joined = entry->second;
        joined = a.Then(b);
        joined.first = static_cast<uint32_t>(kernels.size());
        for (const KernelRange& part : {a, b})
        {
            for (uint32_t i = 0; i < part.count; i++)
            {
                const KernelRecord record = kernels[part.first + i];
                kernels.push_back(record);
            }
        }
        m_open.first = static_cast<uint32_t>(kernels.size());
    }
    return entry->second;
}

void
KernelTable::Add(const std::string& name,
                 const KernelEstimate& estimate,
                 const std::array<uint32_t, 4>& shape)
{
    if (m_open.count == std::numeric_limits<uint16_t>::max())
    {
        throw std::logic_error("KernelTable: too many kernels in one range");
    }
    KernelRecord record;
    record.name = Label(name);
    record.flops = estimate.flops;
    record.bytes = estimate.bytes;
    record.duration = estimate.time;
    record.provenance = static_cast<uint8_t>(estimate.provenance);
    record.overlap = estimate.overlap;
    record.tensorBusy = static_cast<float>(estimate.tensorBusy);
    record.shape = shape;
    m_records.kernels.push_back(record);
    const Time duration = estimate.time + m_timer.KernelGap();
    m_open = m_open.Then({m_open.first, 1, duration, m_host, m_host + duration});
}

} // namespace weir
