// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_MEASURED_SHAPES_H
#define WEIR_SCENARIOS_READERS_READ_MEASURED_SHAPES_H

#include "compute-model/kernels/measured-shapes.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * The map `kernels.measured` of a GPU: lists `gemm`, `attention` and `lookups` of boxes and a map
 * `memory` of them by kind; each range is [least, most].
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
MeasuredShapes ReadMeasuredShapes(const YamlNode& node);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_MEASURED_SHAPES_H
