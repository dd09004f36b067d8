// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_UNITS_H
#define WEIR_FABRIC_UNITS_H

#include <cmath>
#include <cstdint>
#include <limits>

/**
 * @file
 * The quantities of Weir as types: Bytes, Rate, Time, Flops, FlopRate.
 *
 * Each is built by a named factory and read by a named accessor, so that every number that enters
 * or leaves a type states its unit. All are small values, passed by value. Time and Bytes are exact
 * integers (picoseconds, bytes); rates are doubles (per second, one direction).
 */
namespace weir
{

/** A number with a unit; quantities of one type compare by their numbers. */
template <typename Self, typename Number>
class Quantity
{
  public:
    constexpr Self& operator+=(Self other)
    {
        return AsSelf() = AsSelf() + other;
    }

    constexpr Self& operator-=(Self other)
    {
        return AsSelf() = AsSelf() - other;
    }

    friend constexpr bool operator==(Self a, Self b)
    {
        return a.m_value == b.m_value;
    }

    friend constexpr bool operator!=(Self a, Self b)
    {
        return a.m_value != b.m_value;
    }

    friend constexpr bool operator<(Self a, Self b)
    {
        return a.m_value < b.m_value;
    }

    friend constexpr bool operator<=(Self a, Self b)
    {
        return a.m_value <= b.m_value;
    }

    friend constexpr bool operator>(Self a, Self b)
    {
        return a.m_value > b.m_value;
    }

    friend constexpr bool operator>=(Self a, Self b)
    {
        return a.m_value >= b.m_value;
    }

  protected:
    constexpr Quantity() = default;

    constexpr explicit Quantity(Number value)
        : m_value(value)
    {
    }

    Number m_value{0};

  private:
    constexpr Self& AsSelf()
    {
        return static_cast<Self&>(*this);
    }
};

/**
 * A point in simulated time or a duration: whole picoseconds, at most 106 days.
 *
 * A byte at 14.4 Tb/s takes 0.56 ps, so the times of single bytes are rounded noticeably and those
 * of messages are not. The sum of a time and Infinite(), and Infinite() minus a time, are infinite.
 * Sums beyond the range are infinite, too. Not defined are sums and differences below the range,
 * differences beyond it, and a finite time minus Infinite().
 */
class Time : public Quantity<Time, int64_t>
{
  public:
    constexpr Time() = default;

    static constexpr Time Picoseconds(int64_t ps)
    {
        return Time(ps);
    }

    static constexpr Time Nanoseconds(double ns)
    {
        return FromDouble(ns * 1e3);
    }

    static constexpr Time Microseconds(double us)
    {
        return FromDouble(us * 1e6);
    }

    static constexpr Time Milliseconds(double ms)
    {
        return FromDouble(ms * 1e9);
    }

    static constexpr Time Seconds(double s)
    {
        return FromDouble(s * 1e12);
    }

    /** Later than every other time; the next event time of an idle engine. */
    static constexpr Time Infinite()
    {
        return Time(std::numeric_limits<int64_t>::max());
    }

    constexpr int64_t ToPicoseconds() const
    {
        return m_value;
    }

    constexpr double ToMicroseconds() const
    {
        return static_cast<double>(m_value) * 1e-6;
    }

    constexpr double ToSeconds() const
    {
        return IsInfinite() ? std::numeric_limits<double>::infinity()
                            : static_cast<double>(m_value) * 1e-12;
    }

    constexpr bool IsInfinite() const
    {
        return m_value == std::numeric_limits<int64_t>::max();
    }

    friend constexpr Time operator+(Time a, Time b)
    {
        const int64_t more = b.m_value > 0 ? b.m_value : 0;
        if (a.IsInfinite() || b.IsInfinite() ||
            a.m_value > std::numeric_limits<int64_t>::max() - more)
        {
            return Infinite();
        }
        return Time(a.m_value + b.m_value);
    }

    friend constexpr Time operator-(Time a, Time b)
    {
        return a.IsInfinite() ? Infinite() : Time(a.m_value - b.m_value);
    }

    /** Scales a duration; rounds to the nearest picosecond. */
    friend constexpr Time operator*(Time a, double factor)
    {
        return a.IsInfinite() ? Infinite() : FromDouble(static_cast<double>(a.m_value) * factor);
    }

    friend constexpr double operator/(Time a, Time b)
    {
        return static_cast<double>(a.m_value) / static_cast<double>(b.m_value);
    }

  private:
    constexpr explicit Time(int64_t ps)
        : Quantity(ps)
    {
    }

    static constexpr Time FromDouble(double ps)
    {
        if (!(ps < 9.2e18))
        {
            return Infinite();
        }
        return Time(static_cast<int64_t>(ps < 0 ? ps - 0.5 : ps + 0.5));
    }
};

/** An amount of data: whole bytes. */
class Bytes : public Quantity<Bytes, int64_t>
{
  public:
    constexpr Bytes() = default;

    constexpr explicit Bytes(int64_t count)
        : Quantity(count)
    {
    }

    static constexpr Bytes KiB(int64_t n)
    {
        return Bytes(n << 10);
    }

    static constexpr Bytes MiB(int64_t n)
    {
        return Bytes(n << 20);
    }

    static constexpr Bytes GiB(int64_t n)
    {
        return Bytes(n << 30);
    }

    /** The nearest whole number of bytes. */
    static constexpr Bytes Nearest(double count)
    {
        return Bytes(static_cast<int64_t>(count + 0.5));
    }

    constexpr int64_t Count() const
    {
        return m_value;
    }

    constexpr double ToDouble() const
    {
        return static_cast<double>(m_value);
    }

    friend constexpr Bytes operator+(Bytes a, Bytes b)
    {
        return Bytes(a.m_value + b.m_value);
    }

    friend constexpr Bytes operator-(Bytes a, Bytes b)
    {
        return Bytes(a.m_value - b.m_value);
    }

    friend constexpr Bytes operator*(Bytes a, int64_t n)
    {
        return Bytes(a.m_value * n);
    }

    /** Rounds down. */
    friend constexpr Bytes operator/(Bytes a, int64_t n)
    {
        return Bytes(a.m_value / n);
    }
};

/**
 * Data per time in one direction, in bytes per second: half of a datasheet's bidirectional number.
 */
class Rate : public Quantity<Rate, double>
{
  public:
    constexpr Rate() = default;

    static constexpr Rate BytesPerSecond(double v)
    {
        return Rate(v);
    }

    static constexpr Rate BitsPerSecond(double v)
    {
        return Rate(v / 8);
    }

    /** 1 GB/s is 1e9 bytes per second. */
    static constexpr Rate GBps(double v)
    {
        return Rate(v * 1e9);
    }

    /** 1 Gb/s is 1e9 bits per second. */
    static constexpr Rate Gbps(double v)
    {
        return Rate(v * 1e9 / 8);
    }

    /** No limit. */
    static constexpr Rate Infinite()
    {
        return Rate(std::numeric_limits<double>::infinity());
    }

    constexpr double ToBytesPerSecond() const
    {
        return m_value;
    }

    constexpr double ToGBps() const
    {
        return m_value * 1e-9;
    }

    constexpr double ToGbps() const
    {
        return m_value * 8e-9;
    }

    constexpr bool IsInfinite() const
    {
        return m_value == std::numeric_limits<double>::infinity();
    }

    friend constexpr Rate operator+(Rate a, Rate b)
    {
        return Rate(a.m_value + b.m_value);
    }

    friend constexpr Rate operator*(Rate a, double factor)
    {
        return Rate(a.m_value * factor);
    }

    friend constexpr Rate operator/(Rate a, double divisor)
    {
        return Rate(a.m_value / divisor);
    }

    friend constexpr double operator/(Rate a, Rate b)
    {
        return a.m_value / b.m_value;
    }

  private:
    constexpr explicit Rate(double bytesPerSecond)
        : Quantity(bytesPerSecond)
    {
    }
};

/**
 * The time that @p bytes take at @p rate. Zero bytes take no time; any other amount at rate zero
 * takes Time::Infinite().
 */
constexpr Time
operator/(Bytes bytes, Rate rate)
{
    return bytes.Count() == 0 ? Time() : Time::Seconds(bytes.ToDouble() / rate.ToBytesPerSecond());
}

/** Floating-point operations; a fused multiply-add counts as two. */
class Flops : public Quantity<Flops, double>
{
  public:
    constexpr Flops() = default;

    constexpr explicit Flops(double count)
        : Quantity(count)
    {
    }

    constexpr double ToDouble() const
    {
        return m_value;
    }

    friend constexpr Flops operator+(Flops a, Flops b)
    {
        return Flops(a.m_value + b.m_value);
    }

    friend constexpr Flops operator*(Flops a, double factor)
    {
        return Flops(a.m_value * factor);
    }
};

/** Floating-point operations per second. */
class FlopRate : public Quantity<FlopRate, double>
{
  public:
    constexpr FlopRate() = default;

    static constexpr FlopRate FlopsPerSecond(double v)
    {
        return FlopRate(v);
    }

    constexpr double ToFlopsPerSecond() const
    {
        return m_value;
    }

    constexpr double ToTeraFlops() const
    {
        return m_value * 1e-12;
    }

    friend constexpr FlopRate operator*(FlopRate a, double factor)
    {
        return FlopRate(a.m_value * factor);
    }

    friend constexpr double operator/(FlopRate a, FlopRate b)
    {
        return a.m_value / b.m_value;
    }

  private:
    constexpr explicit FlopRate(double flopsPerSecond)
        : Quantity(flopsPerSecond)
    {
    }
};

constexpr Time
operator/(Flops flops, FlopRate rate)
{
    return flops.ToDouble() == 0 ? Time()
                                 : Time::Seconds(flops.ToDouble() / rate.ToFlopsPerSecond());
}

} // namespace weir

#endif // WEIR_FABRIC_UNITS_H
