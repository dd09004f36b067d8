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

/** How the points along one dimension are joined. */
enum class DimensionKind : uint8_t
{
    Ring,           //!< each with the next, and the last with the first
    FullyConnected, //!< every two
    Switch          //!< all with one switch
};

/** One dimension of a multi-dimensional network. */
struct FabricDimension
{
    DimensionKind kind{DimensionKind::Ring};
    uint32_t size{2};
    uint32_t links{1};    //!< parallel wires of each joint
    LinkProfile link;     //!< of one wire; without a rate: FabricSpec::link
    bool isInside{false}; //!< the NVLinks inside a node; the first dimension only
};

/** Why a text is no list of dimensions: what() goes between "found" and "expected". */
class DimensionTextError : public std::invalid_argument
{
  public:
    /** @param shape the word that names no shape, if that is why. */
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
 * "Ring(4) x FullyConnected(8) x Switch(2)", as ASTRA-sim 2.0 writes it; also the short names R, FC
 * and SW, and '_' or '*' in place of 'x'. "4x4x2" is rings. "inside" after the first says that it
 * is the NVLinks inside a node.
 * @throws DimensionTextError
 */
std::vector<FabricDimension> ParseDimensions(const std::string& text);

/** "Ring(4)". */
std::string ToString(const FabricDimension& dimension);

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_DIMENSION_H
