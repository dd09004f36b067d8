// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_FILTER_H
#define WEIR_COLLECTIVES_NCCL_NCCL_FILTER_H

#include "collectives/collective.h"

#include <array>
#include <cstdint>
#include <string>

namespace weir
{

/** @p name as NCCL compares names: lower case, without hyphens and underscores. */
std::string NormalizedNcclName(const std::string& name);

/**
 * Which algorithms and protocols NCCL may choose among, by operation.
 *
 * The syntax is that of NCCL_ALGO and NCCL_PROTO since 2.24 (tuning.cc, parseList): lists of names,
 * divided by commas, for operations, divided by semicolons. "ring,tree" is for all operations;
 * "allreduce:tree;allgather:ring" for these two; the first list alone may lack its operation and
 * is then for those that no later one names. A list that begins with ^ is of what may not be
 * chosen. Case, hyphens and underscores do not count. Sends and receives are no part of it.
 */
class NcclFilter
{
  public:
    /** Everything may be chosen. */
    NcclFilter();

    /** @throws std::invalid_argument that says what was found and expected. */
    void SetAlgorithms(const std::string& text);
    void SetProtocols(const std::string& text);

    /** As they were set; empty: all. */
    const std::string& GetAlgorithms() const
    {
        return m_algorithmsText;
    }

    const std::string& GetProtocols() const
    {
        return m_protocolsText;
    }

    bool Allows(CollectiveOp op, Algorithm algorithm) const;
    bool Allows(CollectiveOp op, Protocol protocol) const;

  private:
    using Masks = std::array<uint32_t, static_cast<std::size_t>(LAST_COLLECTIVE_OP) + 1>;

    Masks m_algorithms; //!< by operation: a bit for each that may be chosen
    Masks m_protocols;  //!< the same
    std::string m_algorithmsText;
    std::string m_protocolsText;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_FILTER_H
