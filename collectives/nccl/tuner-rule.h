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
 * One line of the CSV file that NCCL's example tuner plug-in reads
 * (plugins/tuner/example/nccl_tuner.conf): the calls that it applies to, and its decision for them.
 * Open conditions (-1 in the file) fit any call; open decisions stay NCCL's choice.
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
 * two optional columns, numPipeOps and regBuff, which are checked and have no effect. Empty lines,
 * lines that begin with # and a header line are skipped.
 *
 * @param file its name, for error messages
 * @throws std::invalid_argument with file, line, column, and what was found and expected.
 */
std::vector<TunerRule> ParseTunerRules(const std::string& text, const std::string& file);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_TUNER_RULE_H
