// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_CONVOLUTION_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_CONVOLUTION_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/layer-table.h"

namespace weir
{

/**
 * The kernels of a convolution over images whose pixels of one channel lie side by side (NCHW,
 * PyTorch's default), as cuDNN runs it.
 *
 * It is an implicit matrix product (Chetlur et al. 2014, arXiv 1410.0759, section 3) of
 * samples * pixels out rows, channels out columns and channels in * window^2 inside; the input
 * gradient one over pixels in and the windows of channels out, the weight gradient one over pixels.
 *
 * - Tensor cores ask for channels side by side (NHWC), so images are brought into that layout
 *   before and results back after each product (NVIDIA, Convolutional Layers User's Guide, tensor
 *   layouts): passes that read and write them once.
 * - With 1 x 1 windows without stride each sample is a plain product over the planes as they lie,
 *   if those are whole 16-byte words (7 x 7 pixels are not).
 * - Input gradients of strided larger windows multiply the zeros between strides, too; those of
 *   strided 1 x 1 windows fill an image with zeros and compute the pixels that are met.
 * - Plain multiply-adds (fp32) take images as they lie.
 *
 * @param plan whose micro-batch is convolved; it has the precision of images
 * @param precision of the products
 */
void WriteConvolutionForward(SegmentWriter& writer,
                             const TableLayer& layer,
                             const ParallelPlan& plan,
                             Precision precision);

/**
 * Both gradients; @p isFirst: of a layer whose input needs none. See WriteConvolutionForward.
 */
void WriteConvolutionBackward(SegmentWriter& writer,
                              const TableLayer& layer,
                              const ParallelPlan& plan,
                              Precision precision,
                              bool isFirst);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_CONVOLUTION_KERNELS_H
