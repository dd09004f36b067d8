// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/grouped-kernels.h"

#include "compute-model/layers/fp8-operands.h"
#include "compute-model/layers/gradient-add.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace weir
{

namespace
{

constexpr uint64_t TILE_ROWS = 128; // of a grouped GEMM: no tile spans two experts

/** Rows of each of equal GEMMs, one for an expert, with as many tiles as those of @p rows. */
uint64_t
EqualRows(const std::vector<uint64_t>& rows)
{
    if (std::adjacent_find(rows.begin(), rows.end(), std::not_equal_to<>()) == rows.end())
    {
        return rows.front();
    }
    uint64_t tiles = 0;
    for (const uint64_t count : rows)
    {
        tiles += (count + TILE_ROWS - 1) / TILE_ROWS;
    }
    return (tiles * TILE_ROWS + rows.size() - 1) / rows.size();
}

} // namespace

void
WriteGroupedGemm(SegmentWriter& writer,
                 const ExpertShape& shape,
                 const ParallelPlan& plan,
                 const GroupedProduct& product)
{
    const bool isForward = product.layout == GemmLayout::Tn;
    WriteFp8Cast(writer,
                 product.name + " rows",
                 shape.received,
                 product.inner,
                 isForward ? Fp8Use::NowAndBackward : Fp8Use::Twice,
                 plan);
    GemmShape gemm;
    gemm.m = std::max<uint64_t>(1, EqualRows(shape.expertRows));
    gemm.n = product.columns;
    gemm.k = product.inner;
    gemm.batch = shape.expertRows.size();
    gemm.layout = product.layout;
    gemm.precision = plan.precision;
    writer.Gemm(product.name, gemm);
}

void
WriteGroupedWeightGradient(SegmentWriter& writer,
                           const ExpertShape& shape,
                           const ParallelPlan& plan,
                           const GroupedProduct& product)
{
    GemmShape gemm;
    gemm.m = product.inner;
    gemm.n = product.columns;
    gemm.k = std::max<uint64_t>(1, shape.received / shape.expertRows.size());
    gemm.batch = shape.expertRows.size();
    gemm.layout = product.layout;
    gemm.precision = plan.precision;
    WriteFp8Recast(writer, product.name + " rows", shape.received, product.columns, plan);
    WriteGradientProduct(writer, plan, product.name, gemm);
}

} // namespace weir
