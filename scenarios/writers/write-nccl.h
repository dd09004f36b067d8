// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_NCCL_H
#define WEIR_SCENARIOS_WRITERS_WRITE_NCCL_H

#include "collectives/nccl/nccl-settings.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** Writes the key `nccl` of `network`, as ReadNccl reads it. */
void WriteNccl(YamlWriter& out, const NcclSettings& nccl);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_NCCL_H
