// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_KNOWN_BALANCES_H
#define WEIR_FABRIC_KNOWN_BALANCES_H

#include "fabric/routing/path-table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace weir
{

/**
 * How loads share ways that were balanced before: the same paths in the same order, with weights in
 * the same proportions. Calls of one group differ in bytes, or run beside others like them, and
 * load links alike: twice the weight everywhere moves no load elsewhere.
 */
class KnownBalances
{
  public:
    using Balancing =
        std::function<std::unique_ptr<PathSharing>(const std::vector<PathLoad>& loads)>;

    /**
     * What @p balance makes of @p loads, or has made of the like; it lasts until the next Forget,
     * or until 2^16 paths are kept. O(loads x log of those kept), and what balancing takes.
     */
    PathSharing& Of(const std::vector<PathLoad>& loads, const Balancing& balance);

    void Forget();

  private:
    /** Paths, and weights over the first one's; closer ones than a float tells are the same. */
    using Key = std::vector<std::pair<uint32_t, float>>;

    std::map<Key, std::unique_ptr<PathSharing>> m_known;
    std::size_t m_paths{0}; //!< in all keys
};

} // namespace weir

#endif // WEIR_FABRIC_KNOWN_BALANCES_H
