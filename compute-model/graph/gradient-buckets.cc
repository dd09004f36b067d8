// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/gradient-buckets.h"

namespace weir
{

std::vector<GradientBucket>
PackGradients(const std::vector<GradientPiece>& pieces, Bytes bucket)
{
    std::vector<GradientBucket> buckets;
    GradientBucket open[2]; // of dense weights, of experts
    open[1].ofExperts = true;
    for (const GradientPiece& piece : pieces)
    {
        GradientBucket& mine = open[piece.ofExperts ? 1 : 0];
        mine.bytes += piece.bytes;
        mine.position = piece.position;
        if (mine.bytes >= bucket)
        {
            buckets.push_back(mine);
            mine.bytes = Bytes();
        }
    }
    for (const GradientBucket& last : open)
    {
        if (last.bytes > Bytes())
        {
            buckets.push_back(last);
        }
    }
    return buckets;
}

} // namespace weir
