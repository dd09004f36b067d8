// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/known-balances.h"

namespace weir
{

namespace
{

constexpr std::size_t MOST_PATHS = 1 << 16; //!< kept; a balance has some hundred bytes for each

} // namespace

PathSharing&
KnownBalances::Of(const std::vector<PathLoad>& loads, const Balancing& balance)
{
    Key key;
    key.reserve(loads.size());
    for (const PathLoad& load : loads)
    {
        key.emplace_back(static_cast<uint32_t>(load.path.Index()),
                         static_cast<float>(load.weight / loads.front().weight));
    }
    const auto found = m_known.find(key);
    if (found != m_known.end())
    {
        return *found->second;
    }
    if (m_paths + loads.size() > MOST_PATHS)
    {
        Forget();
    }
    m_paths += loads.size();
    return *m_known.emplace(std::move(key), balance(loads)).first->second;
}

void
KnownBalances::Forget()
{
    m_known.clear();
    m_paths = 0;
}

} // namespace weir
