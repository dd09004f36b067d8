// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_TUNER_RULE_H
#define WEIR_COLLECTIVES_NCCL_TUNER_RULE_H

#include "collectives/collective.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * One line of the CSV that NCCL's example tuner plug-in reads
 * (plugins/tuner/example/nccl_tuner.conf): which calls it means and what it decides for them. What
 * is left open (-1 in the file) fits any call, or stays NCCL's choice.
 */
struct TunerRule
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Bytes least;
    Bytes most; //!< inclusive
    std::optional<Algorithm> algorithm;
    std::optional<Protocol> protocol;
    std::optional<uint32_t> channels;
    std::optional<uint32_t> nodes;
    std::optional<uint32_t> ranks;

    bool Fits(CollectiveOp op, Bytes bytes, uint32_t nodes, uint32_t ranks) const;
};

/**
 * Reads lines `collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks` with
 * two optional columns, numPipeOps and regBuff, which are checked and have no effect. Lines that
 * are empty or begin with # are skipped, a header line too.
 *
 * @param file its name, for errors
 * @throws std::invalid_argument that says file, line, column, what was found and expected.
 */
std::vector<TunerRule> ParseTunerRules(const std::string& text, const std::string& file);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_TUNER_RULE_H
