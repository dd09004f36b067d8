// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_CONVOLUTION_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_CONVOLUTION_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/layer-table.h"

namespace weir
{

/**
 * Writes the forward kernels of a convolution over images in NCHW layout (PyTorch's default), as
 * cuDNN runs it.
 *
 * The convolution is an implicit GEMM (Chetlur et al. 2014, arXiv 1410.0759, section 3) with
 * samples * output pixels rows, output channels columns, and an inner dimension of input channels *
 * window^2. The input gradient is a GEMM over input pixels and the windows of output channels. The
 * inner dimension of the weight gradient runs over pixels.
 *
 * - Tensor cores need NHWC layout, so images are converted to it before each GEMM and results back
 *   after it (NVIDIA, Convolutional Layers User's Guide, tensor layouts), by passes that read and
 *   write them once.
 * - With 1 x 1 windows and stride 1 each sample is a plain GEMM over its planes without conversion,
 *   if planes are multiples of 16 bytes (7 x 7 pixels are not).
 * - Input gradients of larger strided windows also multiply the zeros between strides. Those of
 *   strided 1 x 1 windows fill an image with zeros and compute only the pixels that windows read.
 * - Plain multiply-adds (fp32) need no conversion.
 *
 * @param writer whose plan gives the micro-batch and the precision of images
 * @param precision of the GEMMs
 */
void WriteConvolutionForward(SegmentWriter& writer, const TableLayer& layer, Precision precision);

/**
 * Writes the kernels of both gradients. See WriteConvolutionForward.
 * @param isFirst the layer's input needs no gradient
 */
void WriteConvolutionBackward(SegmentWriter& writer,
                              const TableLayer& layer,
                              Precision precision,
                              bool isFirst);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_CONVOLUTION_KERNELS_H
