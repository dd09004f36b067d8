// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_FILTER_H
#define WEIR_COLLECTIVES_NCCL_NCCL_FILTER_H

#include "collectives/collective.h"

#include <array>
#include <cstdint>
#include <string>

namespace weir
{

/** @p name normalized as in NCCL's comparisons: lower case, without hyphens and underscores. */
std::string NormalizedNcclName(const std::string& name);

/**
 * The algorithms and protocols that NCCL may choose, by operation.
 *
 * The syntax is that of NCCL_ALGO and NCCL_PROTO since 2.24 (tuning.cc, parseList): lists of names
 * separated by commas, for operations separated by semicolons. "ring,tree" applies to all
 * operations, "allreduce:tree;allgather:ring" to these two. Only the first list may lack its
 * operation; it then applies to those that no later list names. A list that begins with ^ excludes
 * its names. Case, hyphens and underscores are ignored. Sends and receives are not filtered.
 */
class NcclFilter
{
  public:
    /** A filter that allows everything. */
    NcclFilter();

    /** @throws std::invalid_argument that says what was found and expected. */
    void SetAlgorithms(const std::string& text);
    void SetProtocols(const std::string& text);

    /** The text that was set; empty: all allowed. */
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

    Masks m_algorithms; //!< by operation: a bit for each allowed algorithm
    Masks m_protocols;  //!< by operation: a bit for each allowed protocol
    std::string m_algorithmsText;
    std::string m_protocolsText;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_FILTER_H
