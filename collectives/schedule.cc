// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule.h"

namespace weir
{

bool
Receives(PrimitiveKind kind)
{
    return kind != PrimitiveKind::Send && kind != PrimitiveKind::Copy;
}

bool
Sends(PrimitiveKind kind)
{
    return kind == PrimitiveKind::Send || kind == PrimitiveKind::RecvReduceSend ||
           kind == PrimitiveKind::RecvReduceCopySend || kind == PrimitiveKind::RecvCopySend;
}

bool
Reduces(PrimitiveKind kind)
{
    return kind == PrimitiveKind::RecvReduceSend || kind == PrimitiveKind::RecvReduceCopySend ||
           kind == PrimitiveKind::RecvReduceCopy;
}

} // namespace weir
