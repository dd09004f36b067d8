// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/estimate-provenance.h"

#include "compute-model/kernels/gemm-time.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

bool
Contains(const MeasuredRange& range, uint64_t value)
{
    return range.Contains(static_cast<double>(value));
}

/** Whether all rows of a GEMM's matrices are multiples of WORD_BYTES. */
bool
IsWordAligned(const GemmShape& shape)
{
    const GemmRows rows(shape);
    return rows.a % WORD_BYTES == 0 && rows.b % WORD_BYTES == 0 && rows.c % WORD_BYTES == 0;
}

} // namespace

bool
IsMeasured(const MeasuredShapes& measured, const GemmShape& shape)
{
    if (shape.images.kind != GemmOperands::Matrices || shape.accumulateFp32 || shape.accumulate)
    {
        return false;
    }
    const double flops = 2 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                         static_cast<double>(shape.k) * static_cast<double>(shape.batch);
    const bool isAligned = IsWordAligned(shape);
    return std::any_of(measured.gemms.begin(), measured.gemms.end(), [&](const MeasuredGemms& box) {
        return box.precision == shape.precision && box.layout == shape.layout &&
               box.isWordAligned == isAligned && Contains(box.m, shape.m) &&
               Contains(box.n, shape.n) && Contains(box.k, shape.k) &&
               Contains(box.batch, shape.batch) && box.flops.Contains(flops);
    });
}

bool
IsMeasured(const MeasuredShapes& measured, const AttentionShape& shape)
{
    if (shape.Keys() != shape.sequence || shape.speed != 1 || shape.heads % shape.kvHeads != 0)
    {
        return false;
    }
    const double sequence = static_cast<double>(shape.sequence);
    const double flops = 4 * static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
                         sequence * sequence * static_cast<double>(shape.headDim);
    return std::any_of(
        measured.attention.begin(), measured.attention.end(), [&](const MeasuredAttention& box) {
            return box.precision == shape.precision && box.isCausal == shape.causal &&
                   Contains(box.batch, shape.batch) && Contains(box.heads, shape.heads) &&
                   Contains(box.group, shape.heads / shape.kvHeads) &&
                   Contains(box.sequence, shape.sequence) && Contains(box.headDim, shape.headDim) &&
                   box.flops.Contains(flops);
        });
}

bool
IsMeasured(const MeasuredShapes& measured, MemoryKernel kernel, Bytes bytes, Bytes rowBytes)
{
    const auto index = static_cast<std::size_t>(kernel);
    if (index >= measured.memory.size() || !measured.memory[index])
    {
        return false;
    }
    const MeasuredMemory& box = *measured.memory[index];
    return box.bytes.Contains(bytes.ToDouble()) &&
           (!box.row || box.row->Contains(rowBytes.ToDouble()));
}

bool
IsMeasured(const MeasuredShapes& measured,
           const std::vector<EmbeddingLookup>& batch,
           bool isBackward)
{
    if (batch.size() != 1 || batch.front().shape.shards != 1 ||
        !batch.front().indices.ZipfExponent())
    {
        return false;
    }
    const EmbeddingShape& shape = batch.front().shape;
    const double exponent = *batch.front().indices.ZipfExponent();
    const double rows = batch.front().indices.Rows();
    return std::any_of(
        measured.lookups.begin(), measured.lookups.end(), [&](const MeasuredLookups& box) {
            // The rows are a sum over classes and therefore subject to rounding.
            return box.precision == shape.precision && box.isBackward == isBackward &&
                   box.rows.Contains(std::round(rows)) && Contains(box.dim, shape.dim) &&
                   Contains(box.bags, shape.bags) && Contains(box.pooling, shape.pooling) &&
                   box.zipf.Contains(exponent);
        });
}

} // namespace weir
