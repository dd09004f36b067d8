// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/plot/chart.h"

#include "scenarios/plot/axis-ticks.h"
#include "scenarios/plot/svg-text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

// Of one diagram, in pixels.
constexpr double WIDTH = 430;
constexpr double HEIGHT = 270;
constexpr double LEFT = 58;
constexpr double RIGHT = 26; // half of a tick's label, as of 128 MiB, fits
constexpr double TOP = 30;
constexpr double BOTTOM = 46;
constexpr double LEGEND_LINE = 14;
constexpr double LEGEND_MARK = 30;  // the mark before a name
constexpr double LEGEND_LETTER = 6; // about, of the font

/** Okabe and Ito's palette: told apart by readers who cannot see all colors. */
constexpr std::array<const char*, 8> PALETTE{
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#888888"};

std::string
Text(double x, double y, const char* anchor, const std::string& text, const char* more = "")
{
    return "<text x=\"" + SvgNumber(x) + "\" y=\"" + SvgNumber(y) + "\" text-anchor=\"" + anchor +
           "\"" + more + ">" + SvgEscape(text) + "</text>\n";
}

std::string
LineFromTo(double x1, double y1, double x2, double y2, const char* stroke)
{
    return "<line x1=\"" + SvgNumber(x1) + "\" y1=\"" + SvgNumber(y1) + "\" x2=\"" + SvgNumber(x2) +
           "\" y2=\"" + SvgNumber(y2) + "\" stroke=\"" + stroke + "\"/>\n";
}

/** What lines are cut to, "frame": where every diagram draws, and the half of a mark on the rim. */
std::string
FrameClip()
{
    constexpr double RIM = 3;
    return "<defs><clipPath id=\"frame\"><rect x=\"" + SvgNumber(LEFT - RIM) + "\" y=\"" +
           SvgNumber(TOP - RIM) + "\" width=\"" + SvgNumber(WIDTH - LEFT - RIGHT + 2 * RIM) +
           "\" height=\"" + SvgNumber(HEIGHT - TOP - BOTTOM + 2 * RIM) + "\"/></clipPath></defs>\n";
}

/** One diagram with its corner at (0, 0). */
class ChartDrawing
{
  public:
    explicit ChartDrawing(const Chart& chart)
        : m_chart(chart),
          m_x(RangeOf(chart.x, Values(true))),
          m_y(RangeOf(chart.y, Values(false)))
    {
    }

    std::string Draw() const
    {
        return Frame() + Series() + Legend();
    }

  private:
    bool IsDrawn(const ChartSeries& series, std::size_t i) const
    {
        const auto fits = [](const ChartAxis& axis, double value) {
            return std::isfinite(value) && (axis.scale == AxisScale::Linear || value > 0);
        };
        return fits(m_chart.x, series.x[i]) && fits(m_chart.y, series.y[i]);
    }

    std::vector<double> Values(bool ofX) const
    {
        std::vector<double> values;
        for (const auto& series : m_chart.series)
        {
            if (series.x.size() != series.y.size())
            {
                throw std::invalid_argument("a series of a chart has not as many x as y");
            }
            for (std::size_t i = 0; i < series.x.size(); ++i)
            {
                if (IsDrawn(series, i))
                {
                    values.push_back(ofX ? series.x[i] : series.y[i]);
                }
            }
        }
        return values;
    }

    double X(double value) const
    {
        return LEFT + m_x.Place(value) * (WIDTH - LEFT - RIGHT);
    }

    double Y(double value) const
    {
        return HEIGHT - BOTTOM - m_y.Place(value) * (HEIGHT - TOP - BOTTOM);
    }

    std::string Frame() const
    {
        constexpr const char* GRID = "#e0e0e0";
        constexpr std::size_t X_TICKS = 6;
        constexpr std::size_t Y_TICKS = 5;
        std::string svg = Text(LEFT, TOP - 10, "start", m_chart.title, " font-weight=\"bold\"");
        for (const auto& tick : TicksOf(m_x, X_TICKS))
        {
            svg += LineFromTo(X(tick.value), TOP, X(tick.value), HEIGHT - BOTTOM, GRID);
            svg += Text(X(tick.value), HEIGHT - BOTTOM + 15, "middle", tick.label);
        }
        for (const auto& tick : TicksOf(m_y, Y_TICKS))
        {
            svg += LineFromTo(LEFT, Y(tick.value), WIDTH - RIGHT, Y(tick.value), GRID);
            svg += Text(LEFT - 5, Y(tick.value) + 4, "end", tick.label);
        }
        svg += "<rect x=\"" + SvgNumber(LEFT) + "\" y=\"" + SvgNumber(TOP) + "\" width=\"" +
               SvgNumber(WIDTH - LEFT - RIGHT) + "\" height=\"" + SvgNumber(HEIGHT - TOP - BOTTOM) +
               "\" fill=\"none\" stroke=\"#666666\"/>\n";
        svg += Text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "middle", m_chart.x.label);
        const double middle = (TOP + HEIGHT - BOTTOM) / 2;
        const std::string turn = " transform=\"rotate(-90 14 " + SvgNumber(middle) + ")\"";
        svg += Text(14, middle, "middle", m_chart.y.label, turn.c_str());
        return svg;
    }

    std::string Series() const
    {
        std::string svg = "<g clip-path=\"url(#frame)\">\n";
        for (const auto& series : m_chart.series)
        {
            svg += series.style == SeriesStyle::Points ? Points(series) : Polyline(series);
        }
        return svg + "</g>\n";
    }

    std::string Points(const ChartSeries& series) const
    {
        std::string svg;
        for (std::size_t i = 0; i < series.x.size(); ++i)
        {
            if (IsDrawn(series, i))
            {
                svg += "<circle cx=\"" + SvgNumber(X(series.x[i])) + "\" cy=\"" +
                       SvgNumber(Y(series.y[i])) + "\" r=\"2.4\" fill=\"" + Color(series) +
                       "\" fill-opacity=\"0.75\"/>\n";
            }
        }
        return svg;
    }

    std::string Polyline(const ChartSeries& series) const
    {
        std::string points;
        for (std::size_t i = 0; i < series.x.size(); ++i)
        {
            if (IsDrawn(series, i))
            {
                points += (points.empty() ? "" : " ") + SvgNumber(X(series.x[i])) + "," +
                          SvgNumber(Y(series.y[i]));
            }
        }
        return "<polyline points=\"" + points + "\" fill=\"none\" stroke=\"" + Color(series) +
               "\" stroke-width=\"1.6\"" + Dash(series) + "/>\n";
    }

    /** A place in the diagram, in pixels. */
    struct Box
    {
        double left;
        double top;
        double width;
        double height;
    };

    std::string Legend() const
    {
        std::string svg;
        const Box box = LegendBox();
        double y = box.top + 16;
        for (const auto& series : m_chart.series)
        {
            if (series.name.empty())
            {
                continue;
            }
            if (series.style == SeriesStyle::Points)
            {
                svg += "<circle cx=\"" + SvgNumber(box.left + 16) + "\" cy=\"" + SvgNumber(y - 4) +
                       "\" r=\"2.4\" fill=\"" + Color(series) + "\"/>\n";
            }
            else
            {
                svg += "<line x1=\"" + SvgNumber(box.left + 8) + "\" y1=\"" + SvgNumber(y - 4) +
                       "\" x2=\"" + SvgNumber(box.left + 24) + "\" y2=\"" + SvgNumber(y - 4) +
                       "\" stroke=\"" + Color(series) + "\" stroke-width=\"1.6\"" + Dash(series) +
                       "/>\n";
            }
            svg += Text(box.left + LEGEND_MARK, y, "start", series.name);
            y += LEGEND_LINE;
        }
        return svg;
    }

    /** The corner with the least drawn in it; of equals the first, from the upper left on. */
    Box LegendBox() const
    {
        Box box{LEFT, TOP, 0, LEGEND_LINE / 2};
        for (const auto& series : m_chart.series)
        {
            if (!series.name.empty())
            {
                const double letters = static_cast<double>(series.name.size());
                box.width = std::max(box.width, LEGEND_MARK + letters * LEGEND_LETTER);
                box.height += LEGEND_LINE;
            }
        }
        Box best = box;
        double least = std::numeric_limits<double>::infinity();
        for (const double top : {TOP, HEIGHT - BOTTOM - box.height})
        {
            for (const double left : {LEFT, WIDTH - RIGHT - box.width})
            {
                box.left = left;
                box.top = top;
                const double drawn = DrawnIn(box);
                if (drawn < least)
                {
                    least = drawn;
                    best = box;
                }
            }
        }
        return best;
    }

    /** How many points are in @p box, and, in pixels, how much of the lines. */
    double DrawnIn(const Box& box) const
    {
        const auto isIn = [&](double x, double y) {
            return x >= box.left && x <= box.left + box.width && y >= box.top &&
                   y <= box.top + box.height;
        };
        double drawn = 0;
        for (const auto& series : m_chart.series)
        {
            std::size_t last = series.x.size(); // the drawn one before; none
            for (std::size_t i = 0; i < series.x.size(); ++i)
            {
                if (!IsDrawn(series, i))
                {
                    continue;
                }
                const double x = X(series.x[i]);
                const double y = Y(series.y[i]);
                if (series.style == SeriesStyle::Points || last == series.x.size())
                {
                    drawn += isIn(x, y);
                    last = i;
                    continue;
                }
                // Every pixel or so of the piece of line that ends here.
                const double fromX = X(series.x[last]);
                const double fromY = Y(series.y[last]);
                const double pieces = std::ceil(std::hypot(x - fromX, y - fromY)) + 1;
                for (double piece = 1; piece <= pieces; ++piece)
                {
                    drawn += isIn(fromX + (x - fromX) * piece / pieces,
                                  fromY + (y - fromY) * piece / pieces);
                }
                last = i;
            }
        }
        return drawn;
    }

    static std::string Color(const ChartSeries& series)
    {
        return PALETTE[series.color % PALETTE.size()];
    }

    static const char* Dash(const ChartSeries& series)
    {
        return series.style == SeriesStyle::Dashed ? " stroke-dasharray=\"5 3\"" : "";
    }

    const Chart& m_chart;
    AxisRange m_x;
    AxisRange m_y;
};

} // namespace

std::string
ToSvg(const std::vector<Chart>& charts, std::size_t columns)
{
    if (columns == 0)
    {
        throw std::invalid_argument("charts in no columns");
    }
    const std::size_t rows = (charts.size() + columns - 1) / columns;
    const std::string width = SvgNumber(WIDTH * static_cast<double>(columns));
    const std::string height = SvgNumber(HEIGHT * static_cast<double>(rows));
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width +
                      "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height +
                      "\" font-family=\"sans-serif\" font-size=\"11\">\n"
                      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
                      FrameClip();
    for (std::size_t i = 0; i < charts.size(); ++i)
    {
        svg += "<g transform=\"translate(" + SvgNumber(WIDTH * static_cast<double>(i % columns)) +
               " " + SvgNumber(HEIGHT * static_cast<double>(i / columns)) + ")\">\n" +
               ChartDrawing(charts[i]).Draw() + "</g>\n";
    }
    return svg + "</svg>\n";
}

} // namespace weir
