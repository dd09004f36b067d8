// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/gradient-buckets.h"

namespace weir
{

std::vector<GradientBucket>
PackGradients(const std::vector<GradientPiece>& pieces, Bytes bucket)
{
    std::vector<GradientBucket> buckets;
    GradientBucket open;
    for (const GradientPiece& piece : pieces)
    {
        open.bytes += piece.bytes;
        open.position = piece.position;
        if (open.bytes >= bucket)
        {
            buckets.push_back(open);
            open = GradientBucket();
        }
    }
    if (open.bytes > Bytes())
    {
        buckets.push_back(open);
    }
    return buckets;
}

} // namespace weir
