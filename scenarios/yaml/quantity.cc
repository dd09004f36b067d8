// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/quantity.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

namespace weir
{

namespace
{

__extension__ typedef unsigned __int128 Wide; // -Wpedantic rejects other spellings

/** A non-negative number as an exact fraction. */
struct Ratio
{
    Wide numerator{0};
    Wide denominator{1};

    long double Value() const
    {
        return static_cast<long double>(numerator) / static_cast<long double>(denominator);
    }

    /** @return false when the result is too large to represent. */
    bool Multiply(uint64_t factor)
    {
        return !__builtin_mul_overflow(numerator, factor, &numerator);
    }

    /** @return false when the denominator is too large to represent. */
    bool Divide(uint64_t divisor)
    {
        return !__builtin_mul_overflow(denominator, divisor, &denominator);
    }

    /** Multiplies by 10^@p powerOfTen. @return false when the result cannot be represented. */
    bool Scale(int powerOfTen)
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
};

/** The parts of a number with a unit: "-1.5e3 GB". */
struct QuantityParts
{
    bool negative{false};
    std::string_view mantissa; //!< digits and decimal points, possibly none
    int exponent{0};
    std::string_view unit; //!< the rest of the text
};

/** Splits @p text, which must outlive the parts; an e starts an exponent only before digits. */
QuantityParts
CutQuantity(std::string_view text)
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

/** Reads the decimal "12.50" exactly. @return false when it is not a decimal or too long. */
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

/** A unit of numerator / denominator base units (B, ps, B/s, Hz). */
struct Unit
{
    const char* name;
    int64_t numerator;
    int64_t denominator{1};
};

/** A kind of quantity: its name and an example for messages, and its units. */
struct Kind
{
    const char* name;
    const char* example;
    std::vector<Unit> units;
};

constexpr int64_t KILO = 1'000;
constexpr int64_t MEGA = 1'000'000;
constexpr int64_t GIGA = 1'000'000'000;
constexpr int64_t TERA = 1'000'000'000'000;
constexpr int MAX_EXPONENT = 30; // 1e30 of any unit exceeds every limit

Kind
Sizes()
{
    return {"a size",
            "40MiB",
            {{"B", 1},
             {"kB", KILO},
             {"KB", KILO},
             {"MB", MEGA},
             {"GB", GIGA},
             {"TB", TERA},
             {"KiB", int64_t{1} << 10},
             {"MiB", int64_t{1} << 20},
             {"GiB", int64_t{1} << 30},
             {"TiB", int64_t{1} << 40}}};
}

Kind
Times()
{
    return {"a time", "150ns", {{"ps", 1}, {"ns", KILO}, {"us", MEGA}, {"ms", GIGA}, {"s", TERA}}};
}

Kind
Rates()
{
    return {"a rate",
            "400Gbps",
            {{"Gbps", GIGA, 8},
             {"Mbps", MEGA, 8},
             {"Tbps", TERA, 8},
             {"kbps", KILO, 8},
             {"bps", 1, 8},
             {"GB/s", GIGA},
             {"MB/s", MEGA},
             {"TB/s", TERA},
             {"kB/s", KILO},
             {"B/s", 1},
             {"MiB/s", int64_t{1} << 20},
             {"GiB/s", int64_t{1} << 30}}};
}

Kind
Frequencies()
{
    return {"a frequency", "1.98GHz", {{"Hz", 1}, {"kHz", KILO}, {"MHz", MEGA}, {"GHz", GIGA}}};
}

[[noreturn]] void
Refuse(const std::string& text, const std::string& expected)
{
    throw InputError("found '" + text + "', expected " + expected);
}

std::vector<std::string>
UnitNames(const Kind& kind)
{
    return Mapped<std::string>(kind.units, &Unit::name);
}

/** Parses @p text to base units of @p kind. */
Ratio
Read(const std::string& text, const Kind& kind)
{
    const std::string example = std::string(kind.name) + " with a unit, such as " + kind.example;
    const QuantityParts parts = CutQuantity(text);
    Ratio ratio;
    if (parts.mantissa.empty() || !ReadDecimal(parts.mantissa, ratio))
    {
        Refuse(text, example);
    }
    if (parts.negative && ratio.numerator != 0)
    {
        Refuse(text, std::string(kind.name) + " of at least zero");
    }
    if (parts.unit.empty())
    {
        throw InputError("found '" + text + "' without a unit, expected " + example);
    }
    for (const Unit& unit : kind.units)
    {
        if (parts.unit == unit.name)
        {
            if (std::abs(parts.exponent) > MAX_EXPONENT || !ratio.Scale(parts.exponent) ||
                !ratio.Multiply(static_cast<uint64_t>(unit.numerator)) ||
                !ratio.Divide(static_cast<uint64_t>(unit.denominator)))
            {
                Refuse(text, std::string(kind.name) + " that fits in 128 bits");
            }
            return ratio;
        }
    }
    const std::string found(parts.unit);
    throw InputError("found '" + text + "' with the unit '" + found +
                     "', expected one of the units " + JoinNames(UnitNames(kind)) +
                     DidYouMean(found, UnitNames(kind)));
}

/** Formats @p count in the largest of @p units (ascending) that divides it. */
std::string
FormatWhole(int64_t count, const std::vector<Unit>& units)
{
    const Unit* best = &units.front();
    for (const Unit& unit : units)
    {
        if (count != 0 && count % unit.numerator == 0)
        {
            best = &unit;
        }
    }
    return std::to_string(count / best->numerator) + best->name;
}

} // namespace

Bytes
ParseBytes(const std::string& text)
{
    const Ratio ratio = Read(text, Sizes());
    if (ratio.numerator % ratio.denominator != 0)
    {
        Refuse(text, "a whole number of bytes");
    }
    const Wide count = ratio.numerator / ratio.denominator;
    if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    {
        Refuse(text, "a size below 2^63 bytes");
    }
    return Bytes(static_cast<int64_t>(count));
}

Time
ParseTime(const std::string& text)
{
    const Ratio ratio = Read(text, Times());
    const Wide half = ratio.denominator / 2; // rounds to the nearest picosecond
    const Wide whole = ratio.numerator / ratio.denominator;
    const Wide rest = ratio.numerator % ratio.denominator;
    const Wide count =
        whole + ((rest > half || (rest == half && ratio.denominator % 2 == 0)) ? 1 : 0);
    if (count >= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    {
        Refuse(text, "a time below 2^63 ps (106 days)");
    }
    return Time::Picoseconds(static_cast<int64_t>(count));
}

Rate
ParseRate(const std::string& text)
{
    return Rate::BytesPerSecond(static_cast<double>(Read(text, Rates()).Value()));
}

double
ParseHertz(const std::string& text)
{
    return static_cast<double>(Read(text, Frequencies()).Value());
}

double
ParsePercent(const std::string& text)
{
    const Kind percentages{"a percentage", "3%", {{"%", 1}}};
    return static_cast<double>(Read(text, percentages).Value()) / 100;
}

std::string
FormatBytes(Bytes bytes)
{
    return FormatWhole(bytes.Count(),
                       {{"B", 1},
                        {"KiB", int64_t{1} << 10},
                        {"MiB", int64_t{1} << 20},
                        {"GiB", int64_t{1} << 30},
                        {"TiB", int64_t{1} << 40}});
}

std::string
FormatTime(Time time)
{
    return FormatWhole(time.ToPicoseconds(), Times().units);
}

std::string
FormatRate(Rate rate)
{
    const double value = rate.ToBytesPerSecond();
    std::string best = FormatNumber(value) + "B/s";
    for (const Unit& unit : Rates().units)
    {
        const double scaled =
            value * static_cast<double>(unit.denominator) / static_cast<double>(unit.numerator);
        const std::string text = FormatNumber(scaled) + unit.name;
        if (text.size() < best.size() && ParseRate(text) == rate)
        {
            best = text;
        }
    }
    return best;
}

std::string
FormatNumber(double value)
{
    std::array<char, 32> text{}; // a shortest double has at most 24 characters
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return std::string(text.data(), end);
}

std::string
FormatNodes(std::size_t count)
{
    return std::to_string(count) + (count == 1 ? " node" : " nodes");
}

} // namespace weir
