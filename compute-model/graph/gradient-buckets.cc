// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/gradient-buckets.h"

namespace weir
{

GradientPacker::GradientPacker(Bytes bucket)
    : m_bucket(bucket)
{
    m_experts.ofExperts = true;
}

std::optional<GradientBucket>
GradientPacker::Add(const GradientPiece& piece)
{
    GradientBucket& mine = piece.ofExperts ? m_experts : m_dense;
    mine.bytes += piece.bytes;
    mine.position = piece.position;
    if (mine.bytes < m_bucket)
    {
        return std::nullopt;
    }
    const GradientBucket closed = mine;
    mine.bytes = Bytes();
    return closed;
}

std::vector<GradientBucket>
GradientPacker::TakeRest()
{
    std::vector<GradientBucket> rest;
    for (GradientBucket* last : {&m_dense, &m_experts})
    {
        if (last->bytes > Bytes())
        {
            rest.push_back(*last);
            last->bytes = Bytes();
        }
    }
    return rest;
}

} // namespace weir
