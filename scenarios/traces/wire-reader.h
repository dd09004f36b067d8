// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_WIRE_READER_H
#define WEIR_SCENARIOS_TRACES_WIRE_READER_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/yaml/input-error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir
{

/** Wire type of a field of a protobuf message (protobuf.dev, Encoding). */
enum class WireType : uint8_t
{
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5
};

/** Iterates over the fields of one protobuf message without a schema. */
class WireReader
{
  public:
    /** @param location for messages @param bytes must outlive the reader */
    WireReader(std::string_view bytes, std::string location)
        : m_bytes(bytes),
          m_location(std::move(location))
    {
    }

    /**
     * Moves to the next field.
     * @return whether there is one.
     * @throws InputError when the message is malformed.
     */
    bool Next()
    {
        if (m_bytes.empty())
        {
            return false;
        }
        const uint64_t key = Varint();
        m_field = key >> 3;
        m_type = static_cast<WireType>(key & 7);
        switch (m_type)
        {
        case WireType::Varint:
            m_number = Varint();
            break;
        case WireType::Fixed64:
            m_number = LittleEndian(Take(8));
            break;
        case WireType::Fixed32:
            m_number = LittleEndian(Take(4));
            break;
        case WireType::Bytes:
            m_text = Take(Varint());
            break;
        default:
            Fail("a field of wire type " + std::to_string(key & 7));
        }
        return true;
    }

    uint64_t Field() const
    {
        return m_field;
    }

    WireType Type() const
    {
        return m_type;
    }

    /** Bits of a number; 0 for a bytes field. */
    uint64_t Number() const
    {
        return m_type == WireType::Bytes ? 0 : m_number;
    }

    /** Content of a bytes field; empty for a number. */
    std::string_view Text() const
    {
        return m_type == WireType::Bytes ? m_text : std::string_view();
    }

    /**
     * Reads a varint outside of a field, such as a message length in a stream or a packed number.
     */
    uint64_t Varint()
    {
        uint64_t number = 0;
        constexpr unsigned BITS = 7; // payload bits per byte
        constexpr unsigned MAX_SHIFT = 63;
        for (unsigned shift = 0; shift <= MAX_SHIFT; shift += BITS)
        {
            const auto byte = static_cast<unsigned char>(Take(1)[0]);
            number |= static_cast<uint64_t>(byte & 0x7fU) << shift;
            if ((byte & 0x80U) == 0)
            {
                return number;
            }
        }
        Fail("a varint of more than 10 bytes");
    }

    /** Reads the next @p count bytes. @throws InputError when fewer are left. */
    std::string_view Take(uint64_t count)
    {
        if (count > m_bytes.size())
        {
            Fail(std::to_string(m_bytes.size()) + " bytes where " + std::to_string(count) +
                 " should follow");
        }
        const std::string_view taken = m_bytes.substr(0, count);
        m_bytes.remove_prefix(count);
        return taken;
    }

    bool IsEmpty() const
    {
        return m_bytes.empty();
    }

  private:
    [[noreturn]] void Fail(const std::string& found) const
    {
        throw InputError(m_location + ": found " + found + ", expected a protobuf message");
    }

    std::string_view m_bytes;
    std::string m_location;
    uint64_t m_field{0};
    WireType m_type{WireType::Varint};
    uint64_t m_number{0};
    std::string_view m_text;
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_WIRE_READER_H
