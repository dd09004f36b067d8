// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_MEASURED_BOUNDS_H
#define WEIR_SCENARIOS_BOUND_MEASURED_BOUNDS_H

#include "fabric/units.h"
#include "scenarios/catalog.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Where measured times of machines lie that no figure was fitted to. */
struct MeasuredBound
{
    std::string name; //!< of the class
    double lower{0};  //!< measured time over the estimate
    double upper{0};
    double coverage{0};       //!< asked for
    double nestedCoverage{0}; //!< found when each source was left out in turn
    uint32_t sources{0};      //!< clusters, or sources of steps
};

/** "within -7 and +28 % (90 %)". */
std::string ToText(const MeasuredBound& bound);

/** The class of whole training steps. */
constexpr const char* MEASURED_STEPS = "steps";

/** The class of a collective by its size and whether its ranks are in one node. */
std::string MeasuredClassOf(Bytes size, bool isOneNode);

/** The class of all collectives of a machine: of sizes and groups that have none of their own. */
constexpr const char* MEASURED_COLLECTIVES = "collectives";

/** The intervals that scripts/measured-bounds or `weir calibrate` found, by class. */
class MeasuredBounds
{
  public:
    /**
     * Those of the catalogue's calibration @p nameOrPath, of unseen clusters.
     * @throws InputError with the place of what is missing or wrong.
     */
    explicit MeasuredBounds(const Catalog& catalog, const std::string& nameOrPath = "measured");

    /**
     * Those of @p system (`bounds`, as `weir calibrate` writes them), else of the catalogue.
     * @throws InputError similarly.
     */
    MeasuredBounds(const YamlNode& system, const Catalog& catalog);

    /** "unseen clusters" or "this machine". */
    const std::string& GetOwner() const
    {
        return m_owner;
    }

    /** Nothing where too few sources measured it, or of another coverage. */
    std::optional<MeasuredBound> Find(const std::string& name, double coverage) const;

    /** Of the collectives of MeasuredClassOf, or of MEASURED_COLLECTIVES where it has none. */
    std::optional<MeasuredBound> FindCollective(Bytes size, bool isOneNode, double coverage) const;

  private:
    void Read(const YamlNode& classes, const char* keys);

    std::string m_owner{"unseen clusters"};
    std::map<std::string, std::vector<MeasuredBound>> m_classes;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_MEASURED_BOUNDS_H
