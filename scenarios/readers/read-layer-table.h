// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_LAYER_TABLE_H
#define WEIR_SCENARIOS_READERS_READ_LAYER_TABLE_H

#include "compute-model/models/layer-table.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Whether a model is a table of layers (it has `network:`), not a transformer. */
bool IsLayerTable(const YamlNode& reference, const Catalog& catalog);

/**
 * Reads a model that is a table of layers: {name, title, source, input: [channels, height, width],
 * network: [...]}, where an entry of `network` is one of
 *
 *     batchNorm | relu | add | dropout | globalAveragePool | embeddings | dot | loss
 *     {convolution: CHANNELS, size, stride, padding, groups, bias}
 *     {linear: FEATURES, bias}
 *     {maxPool: SIZE, stride, padding}            averagePool similarly
 *     {bottleneck: WIDTH, stride, times}          basicBlock similarly: ResNet's residual blocks,
 *                                                 the stride being the first one's
 *     {cross: RANK, times}
 *     {repeat: TIMES, layers: [...]}
 *     {layer: OP, in: [c, h, w], out: [c, h, w], window: [size, stride, padding], groups, rank,
 *      bias}
 *
 * Defaults: a convolution's stride and groups are 1 and its padding 0, a pool's stride is its size,
 * and layers with weights have biases. With `embeddings: {...}` beside `network` the entry
 * `embeddings` is where pooled rows join. The last form states
 * explicitly what the other forms deduce from the preceding layer; results write models in it.
 * @throws InputError with the location of what is missing, unknown, out of range or does not fit.
 */
LayerTable ReadLayerTable(const YamlNode& reference, const Catalog& catalog);

constexpr uint64_t MAX_TABLE_ROWS = uint64_t{1} << 40; //!< of an embedding table

/**
 * Reads a file of indices, one per line.
 * @param location of the key that names the file, for messages
 * @param rows of the table: upper bound (exclusive) of the indices
 * @throws InputError at a line that is not an index, or when there is none.
 */
std::vector<uint64_t> ReadIndices(const std::string& path,
                                  const std::string& location,
                                  uint64_t rows = MAX_TABLE_ROWS);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_LAYER_TABLE_H
