// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/node-capacity.h"

#include <algorithm>

/**
 * @file
 * Paths of NodeCapacity over NVLink relayed by a third GPU (NCCL's NVB).
 */
namespace weir
{

void
NodeCapacity::JoinByGpus()
{
    const auto n = static_cast<uint32_t>(m_localGpus.size());
    for (uint32_t from = 0; from < n; ++from)
    {
        for (uint32_t to = 0; to < n; ++to)
        {
            if (from == to || IsNvLink(from, to))
            {
                continue;
            }
            double widest = 0;
            std::vector<LinkId> path;
            for (uint32_t middle = 0; middle < n; ++middle)
            {
                if (!IsNvLink(from, middle) || !IsNvLink(middle, to))
                {
                    continue;
                }
                auto links = BetweenGpus(from, middle);
                const auto& on = BetweenGpus(middle, to);
                links.insert(links.end(), on.begin(), on.end());
                if (Width(links) > widest)
                {
                    widest = Width(links);
                    path = std::move(links);
                }
            }
            if (widest > 0)
            {
                m_gpuToGpu[from * n + to] = std::move(path);
                m_isByGpu[from * n + to] = true;
            }
        }
    }
}

bool
NodeCapacity::IsNvLinkByGpu(uint32_t from, uint32_t to) const
{
    return m_isByGpu[from * m_localGpus.size() + to];
}

bool
NodeCapacity::HasNvLinkByGpu() const
{
    return std::find(m_isByGpu.begin(), m_isByGpu.end(), true) != m_isByGpu.end();
}

} // namespace weir
