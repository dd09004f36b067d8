// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/usual-efficiency.h"

namespace weir
{

UsualEfficiency
UsualNvLink(uint32_t computeCapability)
{
    if (computeCapability >= 100)
    {
        return {0.902, "40.1 GB/s a link of Blackwell (NCCL 2.30.7 topo.h) over 50 x 256/288"};
    }
    if (computeCapability >= 90)
    {
        return {0.927, "20.6 GB/s a link of Hopper (NCCL 2.30.7 topo.h) over 25 x 256/288"};
    }
    if (computeCapability >= 80)
    {
        return {0.887,
                "19.7 GB/s a link, the slope of ring all-reduces on 8 A100 (superbenchmark "
                "700d650), over 25 x 256/288"};
    }
    return {0.976,
            "23.7 GB/s a link, the slope of ring all-reduces on 8 V100 (nccl-tests, 2019), over "
            "25.78 x 256/272"};
}

UsualEfficiency
UsualPcie()
{
    return {0.94,
            "51.2 GB/s each way at once on an H200 (Weir's own measurement) over 32 GT/s x16 with "
            "256-byte TLPs"};
}

UsualEfficiency
UsualPort(NetTransport transport)
{
    switch (transport)
    {
    case NetTransport::Infiniband:
    case NetTransport::Roce:
        return {0.98,
                "between broadcasts of 1 GiB over HDR, 24.07 of 24.84 GB/s (NCCL_Test_Results "
                "83dd17d), and rings over 8 NDR ports, 388 to 391 of 397 GB/s of bus bandwidth "
                "(public nccl-tests logs of H100 and B200 clusters)"};
    case NetTransport::Slingshot:
        return {0.946, "as alps-gh200: rings over 4 ports (nccl-benchmark-on-alps 897cff4)"};
    case NetTransport::Efa:
    case NetTransport::Tcp:
        break;
    }
    return {1, "nothing was measured"};
}

} // namespace weir
