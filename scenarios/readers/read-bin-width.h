// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_BIN_WIDTH_H
#define WEIR_SCENARIOS_READERS_READ_BIN_WIDTH_H

#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/** The width of the bins of a series, above zero and at least @p least. @throws InputError. */
inline Time
ReadBinWidth(const YamlNode& series, Time least = Time())
{
    const Time width = series.AsTime();
    if (width == Time() || width < least)
    {
        series.Fail("found '" + series.AsString() + "', expected " +
                    (width == Time() ? "a time above zero" : "at least " + FormatTime(least)));
    }
    return width;
}

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_BIN_WIDTH_H
