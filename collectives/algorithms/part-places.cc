// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/part-places.h"

namespace weir
{

std::vector<CollNetBlocks>
AddPartNetworks(ScheduleWiring& wiring,
                const AlgorithmInputs& inputs,
                const PartPlaces& places,
                const std::vector<std::vector<CollNetPath>>& paths,
                bool gathers,
                Rate cap)
{
    const uint32_t nodes = places.nodes;
    const CollNetEnds ends = gathers ? CollNetEnds{1, nodes} : CollNetEnds{nodes, 1};
    std::vector<CollNetBlocks> networks;
    for (uint32_t node = 0; node < nodes; ++node)
    {
        for (uint32_t head = 0; head < places.heads; ++head)
        {
            // A head's parts of all nodes load its port as one channel of a ring does.
            const CollNetPipe pipe{paths[head][node], cap / nodes, 1.0 / nodes};
            networks.push_back(AddCollNet(wiring, inputs, places.At(node, head), ends, pipe));
        }
    }
    return networks;
}

} // namespace weir
