// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_DIMENSION_H
#define WEIR_FABRIC_FABRIC_DIMENSION_H

#include "fabric/topology/link-profile.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

/** How the points along one dimension are connected. */
enum class DimensionKind : uint8_t
{
    Ring,           //!< each to the next, and the last to the first
    FullyConnected, //!< every two
    Switch          //!< all to one switch
};

/** One dimension of a multi-dimensional network. */
struct FabricDimension
{
    DimensionKind kind{DimensionKind::Ring};
    uint32_t size{2};
    uint32_t links{1};    //!< parallel wires per connection
    LinkProfile link;     //!< one wire; rate 0: FabricSpec::link
    bool isInside{false}; //!< the NVLinks inside a node; first dimension only
};

/**
 * A text that is not a list of dimensions. what() is the reason, worded to stand between "found"
 * and "expected".
 */
class DimensionTextError : public std::invalid_argument
{
  public:
    /** @param shape the unknown shape, if that is the reason; else empty */
    DimensionTextError(const std::string& why, const std::string& shape)
        : std::invalid_argument(why),
          m_shape(shape)
    {
    }

    const std::string& UnknownShape() const
    {
        return m_shape;
    }

  private:
    std::string m_shape;
};

/**
 * Parses dimensions in the notation of ASTRA-sim 2.0, "Ring(4) x FullyConnected(8) x Switch(2)".
 * The short names R, FC and SW, and '_' or '*' for 'x' are accepted; "4x4x2" means rings. "inside"
 * after the first dimension means the NVLinks inside a node.
 * @throws DimensionTextError
 */
std::vector<FabricDimension> ParseDimensions(const std::string& text);

/** "Ring(4)". */
std::string ToString(const FabricDimension& dimension);

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_DIMENSION_H
