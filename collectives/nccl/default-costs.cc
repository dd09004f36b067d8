// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/default-costs.h"

#include <limits>

namespace weir
{

namespace
{

using Kind = NodeCostKind;

void
Set(NodeCostArray& costs, Kind kind, double value, const char* source)
{
    costs[static_cast<std::size_t>(kind)] = {kind, value, source};
}

/** How much slower than Hopper's the SMs' clocks are: 1.98 GHz, 1.41 on an A100, 1.53 on a V100. */
double
ClockFactor(uint32_t computeCapability)
{
    return computeCapability >= 90 ? 1 : computeCapability >= 80 ? 1.98 / 1.41 : 1.98 / 1.53;
}

/** What thread blocks take, beside those of a GH200 (see MeasuredBlockTimes). */
void
AddBlockFactors(uint32_t computeCapability, NodeCostArray& costs)
{
    const char* blocks =
        "measured by NPKit on GH200 (spcl/atlahs 8837294), slower by the SMs' clocks: 1.98 GHz "
        "there, 1.41 on an A100, 1.53 on a V100";
    const double slower = ClockFactor(computeCapability);
    Set(costs, Kind::BlockFloor, slower, blocks);
    Set(costs, Kind::BlockTime, slower, blocks);
    if (computeCapability >= 100)
    {
        // 14 MiB in the 21.554 + 6 x 28.117 + 44.987 + 6 x 38.244 + 22.044 = 486.75 us of Hopper's
        // primitives are 30.16 GB/s.
        Set(costs,
            Kind::BlockTime,
            30.16 / 29.4,
            "fitted: a ring of 8 B300 on one channel has 29.4 GB/s of bus bandwidth at 128 MiB "
            "(eunomia-bpf/nccl-eBPF 14f9bca), where a GH200's blocks would give 30.16");
    }
}

} // namespace

void
AddGpuCosts(uint32_t computeCapability, NodeCostArray& costs)
{
    const double slower = ClockFactor(computeCapability);
    Set(costs,
        Kind::LlCall,
        5.0 * slower,
        "fitted: all-reduce of 8 bytes on 8 H100, 13.0 to 13.7 us of 14 steps (dgxc-benchmarking "
        "841f546), and on 4 GH200, 7.8 us of 6 steps (nccl-benchmark-on-alps 897cff4); inferred: "
        "other GPUs by the SMs' clocks: with 2 steps of 0.83 to 1.43 us the 8.7 to 10.4 us that "
        "calls of 8 bytes to 8 KiB take on 2 A100 (NetX-lab/Echo 15f0d12)");
    const char* pass =
        "fitted: all-reduce on 8 H100: steps of 0.59 us with one line, 1.02 with a full pass of "
        "512 threads, in between by the logarithm of the lines (dgxc-benchmarking 841f546); the "
        "same on 4 GH200 less an NVSwitch (nccl-benchmark-on-alps 897cff4); other GPUs by the "
        "SMs' clocks";
    Set(costs, Kind::LlStep, 0.59 * slower, pass);
    Set(costs, Kind::LlPass, 0.43 * slower, pass);
    const char* pcie =
        "fitted: two A100 of one socket (NCCL_Test_Results 83dd17d): all-reduce takes two steps "
        "and all-gather one, 14.3 and 12.3 us under LL, under Simple at 256 KiB 44 and 32 us less "
        "what the wire takes";
    Set(costs, Kind::LlPcieStep, 1.9, pcie);
    Set(costs, Kind::SimplePcieStep, 11, pcie);
    Set(costs,
        Kind::PcieEnd,
        3.2,
        "inferred: a kernel ends when its stores are acknowledged, over PCIe a way there and "
        "back later: a step of 1.9 us less 0.3 of the GPUs' own, twice. Broadcasts of 8 bytes to "
        "1 KiB between two A100 of one socket, repeated so that their hop does not count, take "
        "10.0 to 10.4 us (NCCL_Test_Results 83dd17d), a call on an A100 without it 7.0");
    // NCCL's llMaxBws for one channel of a node: 5.9, 3.65 and 3.25 GB/s of bus bandwidth.
    const double ll = computeCapability >= 90   ? 1
                      : computeCapability >= 80 ? 3.65 / 5.9
                                                : 3.25 / 5.9;
    Set(costs,
        Kind::LlBlockRate,
        6.3 * ll,
        "fitted: Hopper and Blackwell: 4 KiB in 0.65 us (as llPass; B300, 5.3 us for a step of "
        "32 KiB on 1 to 16 channels, nccl-eBPF 14f9bca); Ampere, Volta: slower by NCCL's llMaxBws");
    AddBlockFactors(computeCapability, costs);
    const bool isBlackwell = computeCapability >= 100;
    Set(costs,
        Kind::NvlsSync,
        isBlackwell ? 10.1 : 4.5,
        isBlackwell
            ? "inferred: NCCL 2.28.3 tuning.cc, nvlsEfficiency, has .74 where Hopper has .85: a "
              "pass of 24 channels x 8 heads x 128 KiB takes 52.1 us where Hopper's 60.5 us are 16 "
              "MiB, 42 of them at twice Hopper's rate; all-reduces of 64 to 512 MiB on 8 B200, "
              "21.2 and 29.6 us a pass of 6 and 12 MiB, bear it out"
            : "fitted: NVLS all-reduce on 8 H100, chunks of 16 to 128 KiB (see NvlsSyncLatency)");
    Set(costs,
        Kind::NvlsNetworkSync,
        6.5,
        "inferred: NCCL 2.30.7 tuning.cc: 57.7 GB/s a head on 2 nodes of 8 H100 (246.2 GB/s of "
        "all-reduced data), 2 x 40 x .85 x 7/8 = 59.5 on one (272); a pass of 16 channels x 8 "
        "heads x 128 KiB takes 68.1 and 61.7 us");
    Set(costs,
        Kind::NvlsEfficiency,
        1,
        "what flits and packets leave of the links (see MulticastGroup), on 8 GPUs of Hopper and "
        "Blackwell");
    Set(costs,
        Kind::CollNetEfficiency,
        computeCapability >= 90 ? 0.85 : 1,
        "NCCL 2.30.7 tuning.cc: CollNet direct x .85 from Hopper on; 8, 16, 32 GiB on 2 nodes of 8 "
        "B200 take 29.5, 55.7, 107.7 ms: 8 GiB more take 26.1 ms, "
        "0.85 "
        "of eight ports");
}

void
AddHostCosts(HostCpu cpu, NodeCostArray& costs)
{
    Set(costs,
        Kind::KernelLaunch,
        4.2,
        "fitted: small-message floor of nccl-tests with one process: 8.6 us on 2 A100, 16.1 on "
        "4, 31 on 8 (NetX-lab/Echo 15f0d12), 34.5 on other 8 (superbenchmark 700d650)");
    Set(costs,
        Kind::BlockLaunch,
        1.55,
        "fitted: one process for 2, 4 and 8 A100: calls of 4 to 24 blocks take 1.43, 1.6 and 1.6 "
        "us more for each (Echo as kernelLaunch), 1.57 on other 8, the same in all-reduce, "
        "all-gather, reduce-scatter and broadcast (superbenchmark 700d650, NCCL 2.10)");
    Set(costs,
        Kind::BlockLaunchSince19,
        0.2,
        "fitted: 8 H100 with NCCL 2.26, 24 blocks (together-nccl-tests 6698e53); from 2.19 the "
        "work is handed over with the kernel");
    Set(costs,
        Kind::IdleLaunch,
        29,
        "inferred: torch's all_reduce, a pair of events around each call, on 8 B200: 47 to 49 us "
        "from 32 to 512 KiB, of which NCCL's kernel has 18 to 20 (ml-engineering 744d01e)");
    Set(costs,
        Kind::ProxyPost,
        cpu == HostCpu::Amd ? 1.5 : 1,
        cpu == HostCpu::Amd
            ? "inferred: NCCL 2.30.7 tuning.cc, network post overhead, has 2 us on AMD; all-gather "
              "of 1 KiB on 8 nodes of Polaris, 31 messages one after the other, takes 59.8 us with "
              "7 for the call and 4 for the last hop: less than 1.6 (alcf-nccl-tests 385be33)"
            : "NCCL 2.30.7 tuning.cc, network post overhead: 1 us on other than AMD");
    Set(costs,
        Kind::ProxyLine,
        cpu == HostCpu::Intel ? 0.0003
        : cpu == HostCpu::Amd ? 0.0025
                              : 0.004,
        cpu == HostCpu::Intel
            ? "estimate: 16 bytes at the 50 GB/s that one core reads from the last-level cache, "
              "where what a GPU stores goes; trees under LL on 2 and 4 nodes of 8 H100 to 128 KiB "
              "bear it out (nccl-tests issue 309)"
        : cpu == HostCpu::Amd
            ? "inferred: what devices store goes to memory: the geometric mean of 1.6 ns on "
              "Polaris and 4 on another EPYC, which their systems have"
            : "inferred: what devices store goes to memory: as on Alps, whose system has it");
}

namespace
{

/** What a step over the network takes more than over verbs, whatever the protocol. */
void
AddMessageFetch(NetTransport transport, NodeCostArray& costs)
{
    switch (transport)
    {
    case NetTransport::Slingshot:
        Set(costs,
            Kind::MessageFetch,
            1,
            "fitted: all-reduce by tree under LL on 4 and 16 nodes of Alps: 1.0 to 1.2 us more "
            "for each of 4 and 8 hops from 64 to 256 bytes (nccl-benchmark-on-alps 897cff4)");
        return;
    case NetTransport::Efa:
        Set(costs,
            Kind::MessageFetch,
            20,
            "inferred: all-reduce of 8 bytes on 2 nodes of 8 H100 takes 63 to 65 us over EFA "
            "(public nccl-tests logs of p5 nodes), 24.9 over InfiniBand; 2 hops");
        return;
    case NetTransport::Tcp:
        Set(costs,
            Kind::MessageFetch,
            49,
            "inferred: all-reduce of 8 bytes on 2 nodes of 8 H100 takes 123 us over "
            "GPUDirect-TCPX (public nccl-tests logs of A3 nodes), 24.9 over InfiniBand; 2 hops");
        return;
    case NetTransport::Infiniband:
    case NetTransport::Roce:
        break;
    }
    Set(costs,
        Kind::MessageFetch,
        3.7,
        "fitted: the median of five clusters over verbs. All-reduces of 8 to 16 bytes by tree take "
        "0.4 us a "
        "hop over the network more than NCCL's steps (nccl-tests issue 309, 2 and 4 nodes of 8 "
        "H100), 3.3 "
        "(29.9 us on 2 nodes of 8 H100, Nebius), 3.7 (34.7, 53.0, 76.9, 96.8 us on 2 to 16 nodes "
        "of 8 A100 "
        "in virtual machines, NetX-lab/Echo); sends of 1 KiB to 1 MiB between 8 B200 7 "
        "(together-nccl-tests "
        "280e4df); rings under LL128 on 2 nodes of 8 H100 12 (nccl-tests issue 309, another "
        "cluster)");
}

} // namespace

void
AddNicCosts(NetTransport transport, Rate port, NodeCostArray& costs)
{
    constexpr double NO_BOUND = std::numeric_limits<double>::infinity();
    const bool slingshot = transport == NetTransport::Slingshot;
    const char* verbs = "verbs write into memory that the receiver has named before";
    Set(costs,
        Kind::MessageInline,
        slingshot ? 192 : 0,
        slingshot ? "Cassini's immediate data commands carry up to 192 bytes (libfabric, fi_cxi.7)"
                  : verbs);
    AddMessageFetch(transport, costs);
    Set(costs,
        Kind::MessageEager,
        slingshot ? 4096 : std::numeric_limits<int32_t>::max(),
        slingshot ? "inferred: all-reduce by tree under LL on 4 nodes of Alps takes 42 us with "
                    "messages of 4 KiB and 74 us with 8 KiB (as messageFetch)"
                  : verbs);
    Set(costs,
        Kind::MessageRendezvous,
        slingshot ? 4.5 : 0,
        slingshot ? "fitted: all-reduce by tree under LL on 2 and 8 nodes of Polaris, 4 KiB: 14 "
                    "and 27 us more over 2 and 6 hops than 1 KiB takes (alcf-nccl-tests 385be33)"
                  : verbs);
    Set(costs,
        Kind::MessageHandling,
        slingshot ? 5.5 : 0,
        slingshot
            ? "fitted: rings with more slices than slots: 23 us a step however small the slice, "
              "to 128 KiB, where a process serves two channels' sends and receives (Polaris, 4 "
              "channels on 2 NICs; Alps, 8 on 4), 9.9 where it serves one channel's, 5.8 with one "
              "channel in all"
            : verbs);
    constexpr double FAST_PORT = 50;         // GB/s: 400 Gb/s
    constexpr double FAST_QUEUE_PAIR = 21.4; // GB/s there
    const bool isVerbs = transport == NetTransport::Infiniband || transport == NetTransport::Roce;
    const bool bound = isVerbs && port.ToGBps() >= FAST_PORT;
    Set(costs,
        Kind::QueuePairRate,
        bound ? FAST_QUEUE_PAIR * port.ToGBps() / FAST_PORT : NO_BOUND,
        bound ? "inferred: rings over 8 x 400 Gb/s, two channels a port, one queue pair a channel: "
                "307 to 320 GB/s on some H100 clusters (8 nodes), 366 on another (4 nodes, "
                "nccl-tests issue 309); 3 channels of 2 queue pairs 384 to 391; the middle of 320 "
                "/ 16 and 366 / 16; faster ports in proportion: estimate"
              : "inferred: rings over 100 and 200 Gb/s ports reach their ports' rate with one");
}

} // namespace weir
