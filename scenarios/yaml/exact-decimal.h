// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_EXACT_DECIMAL_H
#define WEIR_SCENARIOS_YAML_EXACT_DECIMAL_H

#include <cstdint>
#include <string_view>

namespace weir
{

__extension__ typedef unsigned __int128 Wide; // -Wpedantic knows no other spelling

/** A number of at least zero as a fraction, before any rounding. */
struct Ratio
{
    Wide numerator{0};
    Wide denominator{1};

    long double Value() const
    {
        return static_cast<long double>(numerator) / static_cast<long double>(denominator);
    }

    /** @return false when @p factor makes it too large to hold. */
    bool Multiply(uint64_t factor);

    /** @return false when @p divisor makes it too fine to hold. */
    bool Divide(uint64_t divisor);

    /** Times ten to @p powerOfTen. @return false when it cannot be held. */
    bool Scale(int powerOfTen);
};

/** A number with a unit, cut into its parts: "-1.5e3 GB". */
struct QuantityParts
{
    bool negative{false};
    std::string_view mantissa; //!< digits and points, maybe none
    int exponent{0};
    std::string_view unit; //!< all the rest

    /** Cuts @p text, which must outlive the parts; an e is an exponent only before digits. */
    static QuantityParts Cut(std::string_view text);
};

/** Reads the decimal "12.50" exactly. @return false when it is none, or too long to hold. */
bool ReadDecimal(std::string_view mantissa, Ratio& ratio);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_EXACT_DECIMAL_H
