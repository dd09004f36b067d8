// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/embedding-time.h"

#include "compute-model/kernels/estimate-provenance.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr double SECTOR_BYTES = 32; // the unit in which the L2 is filled and read
constexpr double INDEX_BYTES = 8;   // int64

// Fitted to 672 forward and 133 backward runs of table-batched kernels on an H200 (dims 32 to 128,
// 1e5 to 1e8 rows, uniform and Zipf 0.6 to 1.2, 512 to 65536 bags of 1 to 100 rows): median errors
// 4.9 % and 6.3 %, 90th percentiles 23 % and 18 % (16-bit rows forward: 15 % and 47 %).
struct LookupFigures
{
    double l1Share{0};          //!< of an SM's L1 that rows find room in
    double l2Share{0};          //!< of the L2
    double memoryEfficiency{0}; //!< of the datasheet HBM rate
    double l1Rate{0};           //!< bytes per SM and clock
    double l2Rate{0};           //!< bytes per SM and clock
    double addRate{0};          //!< 32-bit elements per SM and clock
    double conversions{0};      //!< factor on elements of 16 bits
    double sharpness{0};        //!< exponent where limits meet
    double bagsAtOnce{0};       //!< of an SM
    double rowSeconds{0};       //!< latency of one row behind another
    double floorSeconds{0};
    double hottestSeconds{0}; //!< backward: of one addition to a row of 64 elements
    double hottestPower{0};   //!< ... of the row's elements over 64
};

constexpr LookupFigures FORWARD{
    0.8, 0.9, 0.895, 99.2, 39.7, 54.9, 1.97, 2.92, 200, 0.208e-6, 1.69e-6, 0, 0};
constexpr LookupFigures BACKWARD{
    0.8, 0.9, 0.95, 0, 14.74, 0, 1, 1.256, 606, 0.158e-6, 0.166e-6, 3.61e-9, 0.126};

// L1 and shared memory of an SM: 128, 192 and 256 KiB on compute capability 7.0, 8.0 and from 9.0
// on (CUDA programming guide, technical specifications).
double
L1Bytes(const Gpu& gpu)
{
    constexpr double KIB = 1024;
    constexpr uint32_t HOPPER = 90;
    constexpr uint32_t AMPERE = 80;
    return KIB * (gpu.computeCapability >= HOPPER   ? 256
                  : gpu.computeCapability >= AMPERE ? 192
                                                    : 128);
}

double
RowBytes(const EmbeddingShape& shape)
{
    const double bytes = static_cast<double>(shape.dim) * BytesOf(shape.precision);
    return std::ceil(bytes / SECTOR_BYTES) * SECTOR_BYTES;
}

/** Indices and offsets read, one row a bag written or read. */
double
StreamedBytes(const EmbeddingShape& shape)
{
    const double bags = static_cast<double>(shape.bags);
    const double dim = static_cast<double>(shape.dim);
    return INDEX_BYTES * bags * (static_cast<double>(shape.pooling) + 1) +
           bags * dim * BytesOf(shape.precision);
}

double
Meet(double a, double b, double c, double sharpness)
{
    return std::pow(std::pow(a, sharpness) + std::pow(b, sharpness) + std::pow(c, sharpness),
                    1 / sharpness);
}

double
Latency(const Gpu& gpu, const EmbeddingShape& shape, const LookupFigures& figures)
{
    const double rounds =
        std::max(1.0, static_cast<double>(shape.bags) / (gpu.sms * figures.bagsAtOnce));
    return figures.rowSeconds * static_cast<double>(shape.pooling) * rounds;
}

KernelEstimate
Estimate(const Gpu& gpu, const EmbeddingShape& shape, double seconds, double bytes)
{
    constexpr uint64_t LEAST_DIM = 32; // of the runs above
    constexpr uint64_t MOST_DIM = 128;
    const bool isInside = shape.dim >= LEAST_DIM && shape.dim <= MOST_DIM;
    const double adds = static_cast<double>(shape.bags) * static_cast<double>(shape.pooling) *
                        static_cast<double>(shape.dim);
    return {Time::Seconds(seconds),
            Flops(adds),
            Bytes::Nearest(bytes),
            ProvenanceOf(gpu, isInside),
            {false, 0, 1}};
}

} // namespace

EmbeddingTraffic
EmbeddingTrafficOf(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    if (shape.bags == 0 || shape.pooling == 0 || shape.dim == 0)
    {
        throw std::invalid_argument("EmbeddingTime: bags, pooling and dim must be above zero");
    }
    const double row = RowBytes(shape);
    EmbeddingTraffic traffic;
    traffic.lookups = static_cast<double>(shape.bags) * static_cast<double>(shape.pooling);
    traffic.uniqueRows = indices.UniqueRows(traffic.lookups);
    const double l2Misses =
        indices.Misses(traffic.lookups, gpu.l2.ToDouble() * FORWARD.l2Share / row);
    // Each SM sees its share of the look-ups, and no other's cache.
    const double perSm = std::max(1.0, traffic.lookups / gpu.sms);
    const double l1Rows = L1Bytes(gpu) * FORWARD.l1Share / row;
    const double l1Misses = std::clamp(
        indices.Misses(perSm, l1Rows) * gpu.sms, l2Misses, std::max(l2Misses, traffic.lookups));
    traffic.l1Hits = 1 - l1Misses / traffic.lookups;
    traffic.l2Hits = 1 - l2Misses / l1Misses;
    traffic.dramBytes = l2Misses * row + StreamedBytes(shape);
    traffic.l2Bytes = l1Misses * row + StreamedBytes(shape);
    traffic.l1Bytes = traffic.lookups * row;
    return traffic;
}

KernelEstimate
EmbeddingForwardTime(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    const EmbeddingTraffic traffic = EmbeddingTrafficOf(gpu, indices, shape);
    const double smClocks = gpu.sms * gpu.boostClockHz;
    const double elements = traffic.lookups * static_cast<double>(shape.dim);
    const double adds =
        elements * (BytesOf(shape.precision) < BytesOf(Precision::Fp32) ? FORWARD.conversions : 1);
    const double dram =
        traffic.dramBytes / (gpu.memoryRate.ToBytesPerSecond() * FORWARD.memoryEfficiency);
    const double l2 = traffic.l2Bytes / (FORWARD.l2Rate * smClocks);
    const double l1 = std::max(traffic.l1Bytes / (FORWARD.l1Rate * smClocks),
                               adds / (FORWARD.addRate * smClocks));
    const double seconds = FORWARD.floorSeconds + std::hypot(Meet(dram, l2, l1, FORWARD.sharpness),
                                                             Latency(gpu, shape, FORWARD));
    return Estimate(gpu, shape, seconds, traffic.dramBytes);
}

KernelEstimate
EmbeddingBackwardTime(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    const EmbeddingTraffic traffic = EmbeddingTrafficOf(gpu, indices, shape);
    const double rows = traffic.dramBytes - StreamedBytes(shape);
    const double bytes = 2 * rows + StreamedBytes(shape); // rows come and go back
    const double dram = bytes / (gpu.memoryRate.ToBytesPerSecond() * BACKWARD.memoryEfficiency);
    const double l2 = traffic.l1Bytes / (BACKWARD.l2Rate * gpu.sms * gpu.boostClockHz);
    double most = 0;
    for (const RowClass& one : indices.Classes())
    {
        most = std::max(most, one.probability);
    }
    constexpr double ELEMENTS = 64;
    const double wide = std::max(1.0, static_cast<double>(shape.dim) / ELEMENTS);
    const double hottest =
        traffic.lookups * most * BACKWARD.hottestSeconds * std::pow(wide, BACKWARD.hottestPower);
    const double seconds =
        BACKWARD.floorSeconds +
        std::hypot(Meet(dram, l2, hottest, BACKWARD.sharpness), Latency(gpu, shape, BACKWARD));
    return Estimate(gpu, shape, seconds, bytes);
}

} // namespace weir
