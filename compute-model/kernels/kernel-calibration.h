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

/** How a library's matrix multiplications hand tiles to multiprocessors. */
enum class GemmGrid : uint8_t
{
    Persistent, //!< a block per SM takes tile after tile: the next one's loads hide an epilogue,
                //!< and tiles assigned to an SM that is taken wait for another to end all of its
                //!< own
    Classic     //!< a block per tile, put on whichever SM is free: neither of the two
};

/** What a family of kernels has of its own. */
struct GemmFamily
{
    GemmGrid grid{GemmGrid::Classic};
    Time tileOverhead; //!< start of a tile
    std::vector<GemmTile> tiles;
};

/** Figures of a GPU's matrix multiplications; GemmTime says how they act together. */
struct GemmCalibration
{
    GemmGrid grid{GemmGrid::Persistent};
    std::array<double, 5>
        tensorEfficiency{}; //!< by Precision: of the tensor rate in a long main loop, (0, 1]
    double operandBytesPerSmPerClock{0};  //!< what an SM can load of A and B, multicast included
    double epilogueBytesPerSmPerClock{0}; //!< what an SM can store of C, at the boost clock
    double exposedEpilogue{0};  //!< share of an epilogue that the next tile of a persistent kernel
                                //!< does not hide, [0, 1]
    double memoryEfficiency{0}; //!< of the datasheet HBM rate, (0, 1]
    double misalignedOutput{
        1}; //!< factor on stores of rows that are not whole 128-byte lines, >= 1
    double misalignedOperand{1}; //!< factor on loads of such rows, >= 1
    double unalignedLoadsPerSmPerClock{
        0}; //!< operand words that kernels for rows of no whole 16-byte words load, each as wide as
            //!< all rows are whole multiples of; products wait for them
    std::vector<GemmTile> unalignedTiles; //!< that such kernels have
    double displacedWaves{
        0}; //!< waves that tiles of taken SMs add to a persistent kernel of several, >= 0
    double sharpness{0}; //!< exponent p of (a^p + b^p)^(1/p) where two limits meet, >= 1
    Time tileOverhead;   //!< start of a tile
    Time floor;          //!< the shortest kernel
    Time splitFloor;     //!< more when the inner dimension is split and partial sums are reduced
    std::vector<GemmTile> tiles;           //!< those the library has
    std::optional<GemmFamily> tf32;        //!< kernels of 32-bit operands on tensor cores, where
                                           //!< they are others than those of narrower ones
    std::optional<GemmFamily> fp32;        //!< kernels of plain multiply-adds, similarly
    std::optional<GemmFamily> convolution; //!< implicit matrix products, similarly
    double gatheredLoadsPerSmPerClock{
        0}; //!< 32-bit words of convolutions' weight gradients that an SM can load; 0: no limit

    /** The kernels of no family. */
    GemmFamily Narrow() const
    {
        return {grid, tileOverhead, tiles};
    }

    /** Share of an epilogue that no other tile of such a grid hides. */
    double ExposedEpilogue(GemmGrid kind) const
    {
        return kind == GemmGrid::Persistent ? exposedEpilogue : 1;
    }

    /** Waves that tiles of taken SMs add to a kernel of several. */
    double DisplacedWaves(GemmGrid kind) const
    {
        return kind == GemmGrid::Persistent ? displacedWaves : 0;
    }
};

/** Figures of a fused attention kernel in one direction; AttentionForwardTime says how they act. */
struct AttentionPass
{
    double efficiency{0};       //!< of the tensor rate inside the products, (0, 1]
    double softmaxColumns{0};   //!< softmax work per score, as head-dim columns at the tensor rate
    double singleTileRate{0};   //!< share of an SM's rate that one tile alone on it reaches, (0, 1]
    double tail{0};             //!< of the longest tile's time, added where tiles differ (causal)
    double memoryEfficiency{0}; //!< of the datasheet HBM rate, (0, 1]
    Time tileOverhead;          //!< start and end of a tile
    Time floor;                 //!< the shortest kernel, or kernels where a pass has several
};

/** Figures of a GPU's fused attention. */
struct AttentionCalibration
{
    std::string kernel;      //!< which implementation: "cudnn-9", "flash-2"
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

/** Figures of one kind of kernel whose time is memory traffic; see MemoryKernelTime. */
struct MemoryKernelCalibration
{
    double efficiency{0};       //!< of the datasheet HBM rate where memory limits it, (0, 1]
    std::vector<RowRate> rates; //!< what its instructions allow, by growing row length; one entry
                                //!< where rows do not matter, none where memory is the limit
    Time floor;                 //!< the shortest kernel
    Time latency;               //!< of one thread block's work that no parallelism shortens
    Time rowLatencyPerKiB;      //!< more of it per 1024 bytes of a row
};

/** Figures of table-batched look-ups in one direction; EmbeddingForwardTime and
 * EmbeddingBackwardTime say how they act. */
struct LookupPass
{
    double memoryEfficiency{0}; //!< of the datasheet HBM rate, (0, 1]
    double l1Rate{0};           //!< bytes per SM and clock
    double l2Rate{0};           //!< bytes per SM and clock
    double addRate{0};          //!< 32-bit elements per SM and clock
    double conversions{1};      //!< factor on elements of 16 bits
    double convertedLatency{1}; //!< factor on the latency of rows of 16 bits
    double sharpness{1};        //!< exponent where limits meet
    double bagsAtOnce{1};       //!< of an SM
    Time rowLatency;            //!< of one row behind another
    Time floor;                 //!< the shortest kernel
    Time hottestAdd;            //!< backward: of one addition to a row of 64 elements
    double hottestPower{0};     //!< ... of the row's elements over 64
};

/** Figures of look-ups in embedding tables. */
struct LookupCalibration
{
    double l1Share{0};         //!< of an SM's L1 that rows find room in
    double l2Share{0};         //!< of the L2
    double narrowSumPasses{1}; //!< accesses of the L2 for one store of sums of 16-bit rows
    LookupPass forward;
    LookupPass backward;
};

/** Figures of kernels that are like another one but for a factor, and of what sets their pace. */
struct OperatorCalibration
{
    double batchNormForwardBlockRate{0}; //!< bytes per clock of a thread block, which has a channel
    double batchNormBackwardBlockRate{0}; //!< similarly
    double batchNormBlocksPerSm{1};
    double maxPoolForward{1};   //!< traffic over that of its operands
    double maxPoolBackward{1};  //!< similarly
    double columnSum{1};        //!< a sum over rows, over one over columns
    double trianglePick{1};     //!< picks of the dot interaction, over a copy
    double trianglePutBytes{0}; //!< a gradient put back by index: as a copy of so many bytes
    double transposedSum{1};    //!< a sum of two matrices, one of them transposed, over a copy
    double sortPass{1};         //!< a pass of a radix sort, over a copy
    double tensorPower{0};      //!< power of tensor cores that never wait over that of all else
    double copyBytesPerBlockPerClock{0};   //!< payload that a copying collective's block moves
    double reduceBytesPerBlockPerClock{0}; //!< a reducing one's
};

/** Measured efficiencies of a GPU's kernels; see the fields for range and meaning. */
struct KernelCalibration
{
    std::string measuredOn; //!< the GPU the figures were measured on; another name: carried over
    std::string source;
    Time gap; //!< between two queued kernels of one stream
    double fullLoadUtilization{
        0}; //!< tensor utilization at which the GPU's loaded clocks were read
    GemmCalibration gemm;
    AttentionCalibration attention;
    std::vector<MemoryKernelCalibration> memory; //!< by MemoryKernel
    LookupCalibration lookups;
    OperatorCalibration operators;
    MeasuredShapes measured;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_KERNEL_CALIBRATION_H
