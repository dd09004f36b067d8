// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_KERNEL_CALIBRATION_H
#define WEIR_COMPUTE_MODEL_KERNELS_KERNEL_CALIBRATION_H

#include "compute-model/kernels/measured-shapes.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** The part of C that one thread block computes. */
struct GemmTile
{
    uint32_t rows{0};
    uint32_t columns{0};
};

/** Assignment of a GEMM kernel's tiles to SMs. */
enum class GemmGrid : uint8_t
{
    Persistent, //!< one block per SM processes tile after tile: the next tile's loads hide an
                //!< epilogue, and the tiles of an occupied SM wait until another SM has finished
                //!< its own
    Classic     //!< one block per tile, placed on any free SM: neither of the two effects
};

/** Figures specific to a family of GEMM kernels. */
struct GemmFamily
{
    GemmGrid grid{GemmGrid::Classic};
    Time tileOverhead; //!< start of a tile
    std::vector<GemmTile> tiles;
};

/** Figures of a GPU's GEMM kernels, which KernelTimer::Gemm combines. */
struct GemmCalibration
{
    GemmGrid grid{GemmGrid::Persistent};
    std::array<double, 5> tensorEfficiency{}; //!< by Precision: achieved share of the tensor rate
                                              //!< in a long main loop, (0, 1]
    double operandBytesPerSmPerClock{0};      //!< load rate of A and B, multicast included
    double epilogueBytesPerSmPerClock{0};     //!< store rate of C, at the boost clock
    double exposedEpilogue{0};  //!< share of an epilogue that the next tile of a persistent kernel
                                //!< does not hide, [0, 1]
    double memoryEfficiency{0}; //!< achieved share of the datasheet HBM rate, (0, 1]
    double misalignedOutput{
        1}; //!< factor on stores of rows that are not multiples of 128-byte cache lines, >= 1
    double misalignedOperand{1}; //!< factor on loads of such rows, >= 1
    double unalignedLoadsPerSmPerClock{
        0}; //!< word loads of kernels for rows that are not multiples of 16 bytes; a word is the
            //!< widest that divides all rows; the math waits for them
    std::vector<GemmTile> unalignedTiles; //!< tiles of these kernels
    double displacedWaves{
        0}; //!< waves that occupied SMs add to a persistent kernel of several waves, >= 0
    double sharpness{0}; //!< exponent p of (a^p + b^p)^(1/p), which combines two limits, >= 1
    Time tileOverhead;   //!< start of a tile
    Time floor;          //!< time of the shortest kernel
    Time splitFloor;     //!< added when the inner dimension is split and partial sums are reduced
    std::vector<GemmTile> tiles;    //!< tiles of the library
    std::optional<GemmFamily> tf32; //!< kernels with 32-bit operands on tensor cores, where they
                                    //!< differ from those with narrower operands
    std::optional<GemmFamily> fp32; //!< kernels of plain multiply-adds, where they differ
    std::optional<GemmFamily> convolution; //!< implicit GEMMs, where they differ
    double gatheredLoadsPerSmPerClock{
        0}; //!< load rate of 32-bit words in weight gradients of convolutions; 0: no limit

    /** The default family. */
    GemmFamily Narrow() const
    {
        return {grid, tileOverhead, tiles};
    }

    /** Share of an epilogue that no other tile hides with such a grid. */
    double ExposedEpilogue(GemmGrid kind) const
    {
        return kind == GemmGrid::Persistent ? exposedEpilogue : 1;
    }

    /** Waves that occupied SMs add to a kernel of several waves with such a grid. */
    double DisplacedWaves(GemmGrid kind) const
    {
        return kind == GemmGrid::Persistent ? displacedWaves : 0;
    }
};

/** Figures of a fused attention kernel in one direction, which KernelTimer combines. */
struct AttentionPass
{
    double efficiency{0};     //!< achieved share of the tensor rate inside the GEMMs, (0, 1]
    double softmaxColumns{0}; //!< softmax work per score, as head-dim columns at the tensor rate
    double singleTileRate{0}; //!< share of an SM's rate that a lone tile on it reaches, (0, 1]
    double tail{0}; //!< share of the longest tile's time, added where tiles differ (causal)
    double memoryEfficiency{0}; //!< achieved share of the datasheet HBM rate, (0, 1]
    Time tileOverhead;          //!< start and end of a tile
    Time floor; //!< time of the shortest kernel, or kernels where a pass has several
};

/** Figures of a GPU's fused attention. */
struct AttentionCalibration
{
    std::string kernel;      //!< implementation: "cudnn-9", "flash-2"
    uint32_t tileRows{0};    //!< query rows of one tile
    uint32_t headDimStep{0}; //!< head dims are padded to multiples of this
    AttentionPass forward;
    AttentionPass backward;
};

/** The rate of a row-wise kernel at one row length. */
struct RowRate
{
    double rowBytes{0};
    double bytesPerSmPerClock{0}; //!< at the boost clock
};

/** Figures of one kind of memory-bound kernel; see KernelTimer::Memory. */
struct MemoryKernelCalibration
{
    double efficiency{
        0}; //!< achieved share of the datasheet HBM rate where memory is the limit, (0, 1]
    std::vector<RowRate>
        rates;  //!< instruction-limited rates by growing row length; one entry where the row length
                //!< does not matter, none where memory is the limit
    Time floor; //!< time of the shortest kernel
    Time latency;          //!< serial latency of one thread block's work
    Time rowLatencyPerKiB; //!< additional latency per 1024 bytes of a row
};

/**
 * Figures of table-batched look-ups in one direction, which EmbeddingForwardTime and
 * EmbeddingBackwardTime combine.
 */
struct LookupPass
{
    double memoryEfficiency{0}; //!< achieved share of the datasheet HBM rate, (0, 1]
    double l1Rate{0};           //!< bytes per SM and clock
    double l2Rate{0};           //!< bytes per SM and clock
    double addRate{0};          //!< 32-bit elements per SM and clock
    double conversions{1};      //!< factor on additions of 16-bit elements
    double convertedLatency{1}; //!< factor on the latency of 16-bit rows
    double sharpness{1};        //!< exponent that combines limits
    double bagsAtOnce{1};       //!< concurrent bags of an SM
    Time rowLatency;            //!< latency of each row of a bag
    Time floor;                 //!< time of the shortest kernel
    Time hottestAdd;            //!< backward: time of one addition to a row of 64 elements
    double hottestPower{
        0}; //!< backward: exponent of (row elements / 64) in the time of one addition
};

/** Figures of look-ups in embedding tables. */
struct LookupCalibration
{
    double l1Share{0};         //!< share of an SM's L1 available to rows
    double l2Share{0};         //!< share of the L2 available to rows
    double narrowSumPasses{1}; //!< L2 accesses per store of a sum of 16-bit rows
    LookupPass forward;
    LookupPass backward;
};

/** Factors of kernels relative to a similar kernel, and rates that limit kernels. */
struct OperatorCalibration
{
    double batchNormForwardBlockRate{
        0}; //!< bytes per clock of a thread block, which processes one channel
    double batchNormBackwardBlockRate{0}; //!< the same, backward
    double batchNormBlocksPerSm{1};
    double maxPoolForward{1};   //!< traffic relative to that of its operands
    double maxPoolBackward{1};  //!< the same, backward
    double columnSum{1};        //!< sum over rows, relative to a sum over columns
    double trianglePick{1};     //!< selection of the dot interaction's triangle, relative to a copy
    double trianglePutBytes{0}; //!< scattering a gradient by index: bytes per element, as in a copy
    double transposedSum{1};    //!< sum of two matrices, one of them transposed, relative to a copy
    double sortPass{1};         //!< one pass of a radix sort, relative to a copy
    double tensorPower{
        0}; //!< power of fully utilized tensor cores over the power of everything else
    double copyBytesPerBlockPerClock{0};   //!< payload rate of a block of a copying collective
    double reduceBytesPerBlockPerClock{0}; //!< payload rate of a block of a reducing collective
};

/** Measured efficiencies of a GPU's kernels; see the fields for range and meaning. */
struct KernelCalibration
{
    std::string measuredOn; //!< GPU on which the figures were measured; if it has another name,
                            //!< they are carried over
    std::string source;
    Time gap; //!< between two queued kernels of one stream
    double fullLoadUtilization{
        0}; //!< tensor utilization at which the GPU's clocks under load were measured
    GemmCalibration gemm;
    AttentionCalibration attention;
    std::vector<MemoryKernelCalibration> memory; //!< by MemoryKernel
    LookupCalibration lookups;
    OperatorCalibration operators;
    MeasuredShapes measured;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_KERNEL_CALIBRATION_H
