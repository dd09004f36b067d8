// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/sharing-solver.h"

#include <numeric>

namespace weir
{

void
SharingSolver::Solve()
{
    m_allVariables.clear();
    m_allLinks.clear();
    if (!m_local)
    {
        m_lines->Solve();
    }
    else if (!m_local->Solve())
    {
        HandOver();
    }
}

void
SharingSolver::KeepLoads(bool keep)
{
    m_keepsLoads = keep;
    if (m_lines)
    {
        m_lines->KeepLoads(keep); // the other knows no bounds
    }
}

/** Goes on with MaxMin, under the same indices. */
void
SharingSolver::HandOver()
{
    std::vector<double> capacities;
    for (uint32_t link = 0; link < m_local->LinkCount(); link++)
    {
        capacities.push_back(m_local->Capacity(link));
    }
    m_lines = std::make_unique<MaxMin>(capacities);
    m_lines->KeepLoads(m_keepsLoads);
    const auto count = static_cast<uint32_t>(m_local->VariableCount());
    for (uint32_t v = 0; v < count; v++)
    {
        const auto path = m_local->PathOf(v);
        m_lines->Add({path.data(), path.data() + path.size()}, m_local->Cap(v));
    }
    for (uint32_t v = 0; v < count; v++)
    {
        if (m_local->IsRemoved(v))
        {
            m_lines->Remove(v);
        }
        else if (m_local->Weight(v) > 0)
        {
            m_lines->SetWeight(v, m_local->Weight(v));
        }
    }
    m_lines->Solve();
    m_allVariables.resize(count);
    std::iota(m_allVariables.begin(), m_allVariables.end(), 0U);
    m_allLinks.resize(m_local->LinkCount());
    std::iota(m_allLinks.begin(), m_allLinks.end(), 0U);
    m_local.reset();
}

} // namespace weir
