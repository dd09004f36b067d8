// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_PLOT_SVG_TEXT_H
#define WEIR_SCENARIOS_PLOT_SVG_TEXT_H

#include <string>

namespace weir
{

/** A coordinate in pixels, to a tenth. */
std::string SvgNumber(double value);

/** @p text with what XML reserves between tags written as entities. */
std::string SvgEscape(const std::string& text);

} // namespace weir

#endif // WEIR_SCENARIOS_PLOT_SVG_TEXT_H
