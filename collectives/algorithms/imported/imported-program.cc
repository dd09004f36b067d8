// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-program.h"

namespace weir
{

bool
Receives(ImportedStepKind kind)
{
    return kind != ImportedStepKind::Send && kind != ImportedStepKind::Copy &&
           kind != ImportedStepKind::Reduce && kind != ImportedStepKind::Nothing;
}

bool
Sends(ImportedStepKind kind)
{
    return kind == ImportedStepKind::Send || kind == ImportedStepKind::RecvCopySend ||
           kind == ImportedStepKind::RecvReduceSend || kind == ImportedStepKind::RecvReduceCopySend;
}

bool
Reduces(ImportedStepKind kind)
{
    return kind == ImportedStepKind::RecvReduceSend || kind == ImportedStepKind::RecvReduceCopy ||
           kind == ImportedStepKind::RecvReduceCopySend || kind == ImportedStepKind::Reduce;
}

bool
Reads(ImportedStepKind kind)
{
    return kind == ImportedStepKind::Send || kind == ImportedStepKind::Copy || Reduces(kind);
}

bool
Writes(ImportedStepKind kind)
{
    return kind != ImportedStepKind::Send && kind != ImportedStepKind::RecvReduceSend &&
           kind != ImportedStepKind::Nothing;
}

std::string
Located(const ImportedProgram& program, uint32_t line)
{
    return program.file + ":" + std::to_string(line) + ": ";
}

} // namespace weir
