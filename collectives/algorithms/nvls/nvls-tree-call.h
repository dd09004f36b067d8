// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_CALL_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_CALL_H

#include "collectives/algorithms/nvls/nvls-nodes-call.h"
#include "collectives/algorithms/nvls/nvls-tree-paths.h"

#include <vector>

namespace weir
{

/** What streams and schedule of an NVLSTree all-reduce both need to know. */
struct NvlsTreeCall
{
    explicit NvlsTreeCall(const AlgorithmInputs& inputs);

    NvlsNodesCall inside;
    std::vector<NvlsTreePaths> paths;
    Bytes chunk;       //!< of one head
    double portFactor; //!< bytes on the network per byte of payload
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_CALL_H
