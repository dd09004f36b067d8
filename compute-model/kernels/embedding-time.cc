// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/embedding-time.h"

#include "compute-model/kernels/estimate-provenance.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace weir
{

namespace
{

constexpr double SECTOR_BYTES = 32; // the unit in which the L2 is filled and read
constexpr double INDEX_BYTES = 8;   // int64

constexpr double SUM_BYTES = 4; // a bag's sum is kept in 32 bits

// Of sums of 16-bit rows in the L2: a thread that loads eight elements stores their sums as twice
// 16 bytes, so that two stores touch each sector and the first one fetches the rest of it. Of once
// to four times what fits the measurements best.
constexpr double NARROW_SUM_PASSES = 3;

// Fitted to 672 forward and 133 backward runs of table-batched kernels on an H200 (dims 32 to 128,
// 1e5 to 1e8 rows, uniform and Zipf 0.6 to 1.2, 512 to 65536 bags of 1 to 100 rows; scripts/fit-
// kernels). 5-fold, median and 90th percentile: forward 4.8 % and 15.0 % (16-bit rows 7.9 % and
// 17.5 %), backward 6.5 % and 18.4 %.
struct LookupFigures
{
    double l1Share{0};          //!< of an SM's L1 that rows find room in
    double l2Share{0};          //!< of the L2
    double memoryEfficiency{0}; //!< of the datasheet HBM rate
    double l1Rate{0};           //!< bytes per SM and clock
    double l2Rate{0};           //!< bytes per SM and clock
    double addRate{0};          //!< 32-bit elements per SM and clock
    double conversions{0};      //!< factor on elements of 16 bits
    double convertedLatency{0}; //!< factor on the latency of rows of 16 bits
    double sharpness{0};        //!< exponent where limits meet
    double bagsAtOnce{0};       //!< of an SM
    double rowSeconds{0};       //!< latency of one row behind another
    double floorSeconds{0};
    double hottestSeconds{0}; //!< backward: of one addition to a row of 64 elements
    double hottestPower{0};   //!< ... of the row's elements over 64
};

constexpr LookupFigures FORWARD{
    0.8, 0.9, 0.901, 80.7, 39.97, 73.2, 1.795, 1.276, 2.965, 218, 0.2054e-6, 1.692e-6, 0, 0};
constexpr LookupFigures BACKWARD{
    0.8, 0.9, 0.97, 0, 15.35, 0, 1, 1, 1.14, 1889, 0.1e-6, 0.1e-6, 3.56e-9, 0.0768};

double
RowBytes(const EmbeddingShape& shape)
{
    const double bytes = static_cast<double>(shape.dim) * BytesOf(shape.precision);
    return std::ceil(bytes / SECTOR_BYTES) * SECTOR_BYTES;
}

/** Rows that a GPU meets per bag. */
double
RowsPerBag(const EmbeddingShape& shape)
{
    return static_cast<double>(shape.pooling) / shape.shards;
}

/** Indices and offsets read, one row a bag written or read. */
double
StreamedBytes(const EmbeddingShape& shape)
{
    const double bags = static_cast<double>(shape.bags);
    const double dim = static_cast<double>(shape.dim);
    return INDEX_BYTES * bags * (RowsPerBag(shape) + 1) + bags * dim * SUM_BYTES;
}

double
Meet(double a, double b, double c, double sharpness)
{
    return std::pow(std::pow(a, sharpness) + std::pow(b, sharpness) + std::pow(c, sharpness),
                    1 / sharpness);
}

/** What the tables of a batch move together. */
struct BatchTraffic
{
    double dramBytes{0};
    double rowBytes{0}; //!< of dramBytes: rows
    double l2Bytes{0};
    double l1Bytes{0};
    double adds{0};          //!< elements summed
    double convertedAdds{0}; //!< ... counted so many times more where they must be converted
    double bagRows{0};       //!< rows met by all bags
    double longestBag{1};    //!< rows
    double hottestAdds{0};   //!< gradients of the most used row, longer rows counted for more
    double converted{0};     //!< of bagRows, those of 16 bits
};

BatchTraffic
TrafficOf(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch)
{
    constexpr double ELEMENTS = 64;
    if (batch.empty())
    {
        throw std::invalid_argument("EmbeddingTime: there is no table to look up");
    }
    BatchTraffic sum;
    for (const EmbeddingLookup& one : batch)
    {
        const EmbeddingShape& shape = one.shape;
        const EmbeddingTraffic traffic = EmbeddingTrafficOf(gpu, one.indices, shape);
        const bool isNarrow = BytesOf(shape.precision) < BytesOf(Precision::Fp32);
        const double adds = traffic.lookups * static_cast<double>(shape.dim);
        const double wide = std::max(1.0, static_cast<double>(shape.dim) / ELEMENTS);
        double most = 0;
        for (const RowClass& row : one.indices.Classes())
        {
            most = std::max(most, row.probability);
        }
        sum.dramBytes += traffic.dramBytes;
        sum.rowBytes += traffic.dramBytes - StreamedBytes(shape);
        sum.l2Bytes += traffic.l2Bytes;
        if (isNarrow)
        {
            sum.l2Bytes += (NARROW_SUM_PASSES - 1) * SUM_BYTES * static_cast<double>(shape.bags) *
                           static_cast<double>(shape.dim);
        }
        sum.l1Bytes += traffic.l1Bytes;
        sum.adds += adds;
        sum.convertedAdds += adds * (isNarrow ? FORWARD.conversions : 1);
        sum.bagRows += traffic.lookups;
        sum.converted += isNarrow ? traffic.lookups : 0;
        sum.longestBag = std::max(sum.longestBag, RowsPerBag(shape));
        // A shard may hold the hottest row, and then gets all of its gradients.
        sum.hottestAdds =
            std::max(sum.hottestAdds,
                     traffic.lookups * shape.shards * most * std::pow(wide, BACKWARD.hottestPower));
    }
    return sum;
}

double
Latency(const Gpu& gpu, const BatchTraffic& traffic, const LookupFigures& figures)
{
    const double slower = 1 + (figures.convertedLatency - 1) * traffic.converted / traffic.bagRows;
    return figures.rowSeconds * slower *
           std::max(traffic.longestBag, traffic.bagRows / (gpu.sms * figures.bagsAtOnce));
}

KernelEstimate
EstimateEmbedding(
    const Gpu& gpu, const BatchTraffic& traffic, double seconds, double bytes, bool isMeasured)
{
    return {Time::Seconds(seconds),
            Flops(traffic.adds),
            Bytes::Nearest(bytes),
            ProvenanceOf(gpu, isMeasured),
            {false, 0, 1}};
}

} // namespace

EmbeddingTraffic
EmbeddingTrafficOf(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    if (shape.bags == 0 || shape.pooling == 0 || shape.dim == 0 || shape.shards == 0)
    {
        throw std::invalid_argument(
            "EmbeddingTime: bags, pooling, dim and shards must be above zero");
    }
    const double row = RowBytes(shape);
    const double parts = shape.shards;
    const double all = static_cast<double>(shape.bags) * static_cast<double>(shape.pooling);
    EmbeddingTraffic traffic;
    traffic.lookups = all / parts;
    traffic.uniqueRows = indices.UniqueRows(all) / parts;
    const double l2Rows = gpu.l2.ToDouble() * FORWARD.l2Share / row;
    const double l2Misses = indices.Misses(all, l2Rows * parts) / parts;
    // Each SM sees its share of the look-ups, and no other's cache.
    const double perSm = std::max(1.0, all / gpu.sms);
    const double l1Rows = gpu.l1.ToDouble() * FORWARD.l1Share / row;
    const double l1Misses = std::clamp(indices.Misses(perSm, l1Rows * parts) / parts * gpu.sms,
                                       l2Misses,
                                       std::max(l2Misses, traffic.lookups));
    traffic.l1Hits = 1 - l1Misses / traffic.lookups;
    traffic.l2Hits = 1 - l2Misses / l1Misses;
    traffic.dramBytes = l2Misses * row + StreamedBytes(shape);
    traffic.l2Bytes = l1Misses * row + StreamedBytes(shape);
    traffic.l1Bytes = traffic.lookups * row;
    return traffic;
}

KernelEstimate
EmbeddingForwardTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch)
{
    const BatchTraffic traffic = TrafficOf(gpu, batch);
    const double smClocks = gpu.sms * gpu.boostClockHz;
    const double dram =
        traffic.dramBytes / (gpu.memoryRate.ToBytesPerSecond() * FORWARD.memoryEfficiency);
    const double l2 = traffic.l2Bytes / (FORWARD.l2Rate * smClocks);
    const double l1 = std::max(traffic.l1Bytes / (FORWARD.l1Rate * smClocks),
                               traffic.convertedAdds / (FORWARD.addRate * smClocks));
    const double seconds = FORWARD.floorSeconds + std::hypot(Meet(dram, l2, l1, FORWARD.sharpness),
                                                             Latency(gpu, traffic, FORWARD));
    return EstimateEmbedding(
        gpu, traffic, seconds, traffic.dramBytes, IsMeasured(gpu.kernels.measured, batch, false));
}

KernelEstimate
EmbeddingForwardTime(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    return EmbeddingForwardTime(gpu, {{indices, shape}});
}

KernelEstimate
EmbeddingBackwardTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch)
{
    const BatchTraffic traffic = TrafficOf(gpu, batch);
    const double bytes = traffic.dramBytes + traffic.rowBytes; // rows come and go back
    const double dram = bytes / (gpu.memoryRate.ToBytesPerSecond() * BACKWARD.memoryEfficiency);
    const double l2 = traffic.l1Bytes / (BACKWARD.l2Rate * gpu.sms * gpu.boostClockHz);
    const double hottest = traffic.hottestAdds * BACKWARD.hottestSeconds;
    const double seconds =
        BACKWARD.floorSeconds +
        std::hypot(Meet(dram, l2, hottest, BACKWARD.sharpness), Latency(gpu, traffic, BACKWARD));
    // The runs behind the fit take 8 us and more: below, what the forward kernel takes at least.
    return EstimateEmbedding(gpu,
                             traffic,
                             std::max(seconds, FORWARD.floorSeconds),
                             bytes,
                             IsMeasured(gpu.kernels.measured, batch, true));
}

KernelEstimate
EmbeddingBackwardTime(const Gpu& gpu, const IndexDistribution& indices, const EmbeddingShape& shape)
{
    return EmbeddingBackwardTime(gpu, {{indices, shape}});
}

KernelEstimate
EmbeddingExactUpdateTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch)
{
    const BatchTraffic traffic = TrafficOf(gpu, batch);
    double bytes = 0;
    for (const EmbeddingLookup& one : batch)
    {
        const double row = RowBytes(one.shape);
        const EmbeddingTraffic lookups = EmbeddingTrafficOf(gpu, one.indices, one.shape);
        const double l2Rows = gpu.l2.ToDouble() * FORWARD.l2Share / row;
        // Sorted by row, look-ups meet the bags in no order.
        const double gradients =
            IndexDistribution::Uniform(one.shape.bags).Misses(lookups.lookups, l2Rows);
        const double state = one.rowState > 0 ? std::max(SECTOR_BYTES, one.rowState) : 0;
        bytes += gradients * row + 2 * lookups.uniqueRows * (row + state) +
                 INDEX_BYTES * lookups.lookups;
    }
    const double smClocks = gpu.sms * gpu.boostClockHz;
    const double dram = bytes / (gpu.memoryRate.ToBytesPerSecond() * FORWARD.memoryEfficiency);
    const double l2 = traffic.l1Bytes / (FORWARD.l2Rate * smClocks);
    const double adds = traffic.convertedAdds / (FORWARD.addRate * smClocks);
    const double seconds =
        FORWARD.floorSeconds +
        std::hypot(Meet(dram, l2, adds, FORWARD.sharpness), Latency(gpu, traffic, FORWARD));
    return EstimateEmbedding(gpu, traffic, seconds, bytes, false);
}

} // namespace weir
