// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_PRIMITIVE_KIND_H
#define WEIR_COLLECTIVES_SCHEDULE_PRIMITIVE_KIND_H

#include <cstddef>
#include <cstdint>

namespace weir
{

/** What a primitive does besides waiting; the order of the name's parts is the order of the acts.
 */
enum class PrimitiveKind : uint8_t
{
    Send,               //!< send own data
    RecvReduceSend,     //!< receive, add own data, send the sum
    RecvReduceCopySend, //!< as RecvReduceSend, and keep the sum (it is final)
    RecvCopySend,       //!< receive, keep, send on
    RecvReduceCopy,     //!< receive, add own data, keep (end of a reduce-scatter)
    Recv,               //!< receive and keep
    Copy                //!< own data to own output, no peer
};

bool Receives(PrimitiveKind kind);
bool Sends(PrimitiveKind kind);
bool Reduces(PrimitiveKind kind);

constexpr std::size_t PRIMITIVE_KINDS = static_cast<std::size_t>(PrimitiveKind::Copy) + 1;

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_PRIMITIVE_KIND_H
