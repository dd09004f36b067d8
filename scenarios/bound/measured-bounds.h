// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_MEASURED_BOUNDS_H
#define WEIR_SCENARIOS_BOUND_MEASURED_BOUNDS_H

#include "collectives/collective.h"
#include "fabric/units.h"
#include "scenarios/catalog.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * Operations and numbers of nodes that measured runs cover; empty: all operations, any number of
 * nodes.
 */
struct MeasuredScope
{
    std::vector<CollectiveOp> operations;
    std::vector<uint32_t> nodes; //!< ascending
};

/** An NCCL call on some nodes whose measured time is asked for. */
struct MeasuredCall
{
    CollectiveOp op;
    Bytes size;
    uint32_t nodes;
};

/** The interval of measured time / estimate on machines to which no figure was fitted. */
struct MeasuredBound
{
    std::string name; //!< of the class
    double lower{0};  //!< measured time over the estimate
    double upper{0};
    double coverage{0};       //!< asked for
    double nestedCoverage{0}; //!< found by leaving out each source in turn
    uint32_t sources{0};      //!< clusters, or sources of steps
    MeasuredScope scope{};    //!< set for bounds of a machine's own runs
};

/** "within -7 and +28 % (90 %)". */
std::string ToText(const MeasuredBound& bound);

/** The class of whole training steps. */
constexpr const char* MEASURED_STEPS = "steps";

/** The size class of a measured collective: "below 1 MiB", "1 to 64 MiB" or "from 64 MiB". */
std::string SizeClassOf(Bytes size);

/** The class of a collective: its size class, and whether its ranks are in one node. */
std::string MeasuredClassOf(Bytes size, bool isOneNode);

/**
 * The class of all collectives of a machine, used for sizes and groups without a class of their
 * own.
 */
constexpr const char* MEASURED_COLLECTIVES = "collectives";

/** The intervals found by scripts/measured-bounds or `weir calibrate`, by class. */
class MeasuredBounds
{
  public:
    /**
     * The bounds for unseen clusters of the catalog's calibration @p nameOrPath.
     * @throws InputError with the location of what is missing or wrong.
     */
    explicit MeasuredBounds(const Catalog& catalog, const std::string& nameOrPath = "measured");

    /**
     * The bounds of @p system (`bounds`, as `weir calibrate` writes them), else those of the
     * catalog.
     * @throws InputError as above.
     */
    MeasuredBounds(const YamlNode& system, const Catalog& catalog);

    /** "unseen clusters" or "this machine". */
    const std::string& GetOwner() const
    {
        return m_owner;
    }

    /**
     * The bound of class @p name; nothing where too few sources were measured, or for another
     * coverage.
     */
    std::optional<MeasuredBound> Find(const std::string& name, double coverage) const;

    /**
     * The bound of the call's class (MeasuredClassOf), else of MEASURED_COLLECTIVES. Nothing when
     * the class has no runs of the operation, or when the number of nodes is more than twice the
     * largest or less than half the smallest number of several nodes measured, or is 1 where all
     * runs had several.
     */
    std::optional<MeasuredBound> FindCollective(const MeasuredCall& call, double coverage) const;

    /**
     * Why runs do not cover @p call: "send-recv, measured: all-reduce". Empty: they do, or there is
     * no bound for this coverage.
     */
    std::string DescribeUnmeasured(const MeasuredCall& call, double coverage) const;

  private:
    void Read(const YamlNode& classes, const char* keys, bool isOfMachine);

    std::string m_owner{"unseen clusters"};
    std::map<std::string, std::vector<MeasuredBound>> m_classes;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_MEASURED_BOUNDS_H
