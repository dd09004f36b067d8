// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/embedding-time.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr double SECTOR_BYTES = 32; // the unit in which the L2 is filled and read
constexpr double INDEX_BYTES = 8;   // int64

constexpr double SUM_BYTES = 4; // a bag's sum is kept in 32 bits

double
RowBytes(const EmbeddingShape& shape)
{
    const double bytes = static_cast<double>(shape.dim) * BytesOf(shape.precision);
    return std::ceil(bytes / SECTOR_BYTES) * SECTOR_BYTES;
}

/** Rows that a GPU looks up per bag. */
double
RowsPerBag(const EmbeddingShape& shape)
{
    return static_cast<double>(shape.pooling) / shape.shards;
}

/** Bytes of indices and offsets read, and of one row per bag written or read. */
double
StreamedBytes(const EmbeddingShape& shape)
{
    const double bags = static_cast<double>(shape.bags);
    const double dim = static_cast<double>(shape.dim);
    return INDEX_BYTES * bags * (RowsPerBag(shape) + 1) + bags * dim * SUM_BYTES;
}

double
PNormOf(double a, double b, double c, double sharpness)
{
    return std::pow(std::pow(a, sharpness) + std::pow(b, sharpness) + std::pow(c, sharpness),
                    1 / sharpness);
}

/** Total traffic of the tables of a batch. */
struct BatchTraffic
{
    double dramBytes{0};
    double rowBytes{0}; //!< part of dramBytes that moves rows
    double l2Bytes{0};
    double l1Bytes{0};
    double adds{0};          //!< elements summed
    double convertedAdds{0}; //!< the same, with elements that are converted counted several times
    double bagRows{0};       //!< rows looked up by all bags
    double longestBag{1};    //!< rows of the longest bag
    double hottestAdds{0};   //!< gradients of the most used row, weighted by row length
    double converted{0};     //!< part of bagRows with 16-bit elements
};

BatchTraffic
TrafficOf(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch)
{
    constexpr double ELEMENTS = 64;
    if (batch.empty())
    {
        throw std::invalid_argument("EmbeddingTime: there is no table to look up");
    }
    const LookupCalibration& lookups = gpu.kernels.lookups;
    BatchTraffic sum;
    for (const EmbeddingLookup& one : batch)
    {
        const EmbeddingShape& shape = one.shape;
        const EmbeddingTraffic traffic = EmbeddingTrafficOf(gpu, one.indices, shape);
        const bool isNarrow = BytesOf(shape.precision) < FP32_BYTES;
        const double adds = traffic.lookups * static_cast<double>(shape.dim);
        const double wide = std::max(1.0, static_cast<double>(shape.dim) / ELEMENTS);
        double max = 0;
        for (const RowClass& row : one.indices.Classes())
        {
            max = std::max(max, row.probability);
        }
        sum.dramBytes += traffic.dramBytes;
        sum.rowBytes += traffic.dramBytes - StreamedBytes(shape);
        sum.l2Bytes += traffic.l2Bytes;
        if (isNarrow)
        {
            sum.l2Bytes += (lookups.narrowSumPasses - 1) * SUM_BYTES *
                           static_cast<double>(shape.bags) * static_cast<double>(shape.dim);
        }
        sum.l1Bytes += traffic.l1Bytes;
        sum.adds += adds;
        sum.convertedAdds += adds * (isNarrow ? lookups.forward.conversions : 1);
        sum.bagRows += traffic.lookups;
        sum.converted += isNarrow ? traffic.lookups : 0;
        sum.longestBag = std::max(sum.longestBag, RowsPerBag(shape));
        // A shard may hold the hottest row and then receives all of its gradients.
        sum.hottestAdds = std::max(sum.hottestAdds,
                                   traffic.lookups * shape.shards * max *
                                       std::pow(wide, lookups.backward.hottestPower));
    }
    return sum;
}

double
Latency(const Gpu& gpu, const BatchTraffic& traffic, const LookupPass& figures)
{
    const double slower = 1 + (figures.convertedLatency - 1) * traffic.converted / traffic.bagRows;
    return figures.rowLatency.ToSeconds() * slower *
           std::max(traffic.longestBag, traffic.bagRows / (gpu.sms * figures.bagsAtOnce));
}

/**
 * Seconds of a kernel that moves @p bytes to and from memory.
 * @param l2 seconds of the L2 traffic
 * @param adds seconds of the L1 traffic or the additions
 */
double
SecondsOf(const Gpu& gpu,
          const BatchTraffic& traffic,
          const LookupPass& pass,
          double bytes,
          double l2,
          double adds)
{
    const double dram = bytes / (gpu.memoryRate.ToBytesPerSecond() * pass.memoryEfficiency);
    return pass.floor.ToSeconds() +
           std::hypot(PNormOf(dram, l2, adds, pass.sharpness), Latency(gpu, traffic, pass));
}

/**
 * Whether every feature of a look-up lies within the measured range of its kind. False for all but
 * one unsharded table with uniform or Zipf-distributed indices.
 */
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
                   box.rows.Contains(std::round(rows)) && box.dim.Contains(shape.dim) &&
                   box.bags.Contains(shape.bags) && box.pooling.Contains(shape.pooling) &&
                   box.zipf.Contains(exponent);
        });
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
    const double l2Rows = gpu.l2.ToDouble() * gpu.kernels.lookups.l2Share / row;
    const double l2Misses = indices.Misses(all, l2Rows * parts) / parts;
    // Each SM has its share of the look-ups and its own L1.
    const double perSm = std::max(1.0, all / gpu.sms);
    const double l1Rows = gpu.l1.ToDouble() * gpu.kernels.lookups.l1Share / row;
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
    const LookupPass& forward = gpu.kernels.lookups.forward;
    const BatchTraffic traffic = TrafficOf(gpu, batch);
    const double smClocks = gpu.sms * gpu.boostClockHz;
    const double l2 = traffic.l2Bytes / (forward.l2Rate * smClocks);
    const double l1 = std::max(traffic.l1Bytes / (forward.l1Rate * smClocks),
                               traffic.convertedAdds / (forward.addRate * smClocks));
    const double seconds = SecondsOf(gpu, traffic, forward, traffic.dramBytes, l2, l1);
    return EstimateEmbedding(
        gpu, traffic, seconds, traffic.dramBytes, IsMeasured(gpu.kernels.measured, batch, false));
}

KernelEstimate
EmbeddingBackwardTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch)
{
    const LookupPass& forward = gpu.kernels.lookups.forward;
    const LookupPass& backward = gpu.kernels.lookups.backward;
    const BatchTraffic traffic = TrafficOf(gpu, batch);
    const double bytes = traffic.dramBytes + traffic.rowBytes; // rows are read and written back
    const double l2 = traffic.l1Bytes / (backward.l2Rate * gpu.sms * gpu.boostClockHz);
    const double hottest = traffic.hottestAdds * backward.hottestAdd.ToSeconds();
    const double seconds = SecondsOf(gpu, traffic, backward, bytes, l2, hottest);
    // The fit covers runs of 8 us and more. Shorter estimates are at least the forward kernel's
    // floor.
    return EstimateEmbedding(gpu,
                             traffic,
                             std::max(seconds, forward.floor.ToSeconds()),
                             bytes,
                             IsMeasured(gpu.kernels.measured, batch, true));
}

KernelEstimate
EmbeddingExactUpdateTime(const Gpu& gpu, const std::vector<EmbeddingLookup>& batch)
{
    const LookupPass& forward = gpu.kernels.lookups.forward;
    const BatchTraffic traffic = TrafficOf(gpu, batch);
    double bytes = 0;
    for (const EmbeddingLookup& one : batch)
    {
        const double row = RowBytes(one.shape);
        const EmbeddingTraffic lookups = EmbeddingTrafficOf(gpu, one.indices, one.shape);
        const double l2Rows = gpu.l2.ToDouble() * gpu.kernels.lookups.l2Share / row;
        // Look-ups that are sorted by row read the bags' gradients in random order.
        const double gradients =
            IndexDistribution::Uniform(one.shape.bags).Misses(lookups.lookups, l2Rows);
        const double state = one.rowState > 0 ? std::max(SECTOR_BYTES, one.rowState) : 0;
        bytes += gradients * row + 2 * lookups.uniqueRows * (row + state) +
                 INDEX_BYTES * lookups.lookups;
    }
    const double smClocks = gpu.sms * gpu.boostClockHz;
    const double l2 = traffic.l1Bytes / (forward.l2Rate * smClocks);
    const double adds = traffic.convertedAdds / (forward.addRate * smClocks);
    const double seconds = SecondsOf(gpu, traffic, forward, bytes, l2, adds);
    return EstimateEmbedding(gpu, traffic, seconds, bytes, false);
}

} // namespace weir
