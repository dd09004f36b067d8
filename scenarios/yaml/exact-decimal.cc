// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/exact-decimal.h"

#include <charconv>

namespace weir
{

bool
Ratio::Multiply(uint64_t factor)
{
    return !__builtin_mul_overflow(numerator, factor, &numerator);
}

bool
Ratio::Divide(uint64_t divisor)
{
    return !__builtin_mul_overflow(denominator, divisor, &denominator);
}

bool
Ratio::Scale(int powerOfTen)
{
    bool fits = true;
    for (; powerOfTen > 0 && fits; --powerOfTen)
    {
        fits = numerator == 0 || Multiply(10);
    }
    for (; powerOfTen < 0 && fits; ++powerOfTen)
    {
        fits = Divide(10);
    }
    return fits;
}

QuantityParts
QuantityParts::Cut(std::string_view text)
{
    QuantityParts parts;
    if (!text.empty() && (text[0] == '-' || text[0] == '+'))
    {
        parts.negative = text[0] == '-';
        text.remove_prefix(1);
    }
    const std::size_t end = text.find_first_not_of("0123456789.");
    parts.mantissa = text.substr(0, end);
    text.remove_prefix(parts.mantissa.size());
    if (text.size() > 1 && (text[0] == 'e' || text[0] == 'E'))
    {
        const char* first = text.data() + (text[1] == '+' ? 2 : 1);
        const auto [last, error] =
            std::from_chars(first, text.data() + text.size(), parts.exponent);
        if (error == std::errc())
        {
            text.remove_prefix(static_cast<std::size_t>(last - text.data()));
        }
    }
    while (!text.empty() && text[0] == ' ')
    {
        text.remove_prefix(1);
    }
    parts.unit = text;
    return parts;
}

bool
ReadDecimal(std::string_view mantissa, Ratio& ratio)
{
    bool digits = false;
    bool point = false;
    for (const char c : mantissa)
    {
        if (c == '.')
        {
            if (point)
            {
                return false;
            }
            point = true;
            continue;
        }
        digits = true;
        const auto digit = static_cast<unsigned>(c - '0');
        if (!ratio.Multiply(10) || (point && !ratio.Divide(10)) ||
            __builtin_add_overflow(ratio.numerator, digit, &ratio.numerator))
        {
            return false;
        }
    }
    return digits;
}

} // namespace weir
