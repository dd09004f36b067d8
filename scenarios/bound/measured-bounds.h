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

/** What measured runs were of; empty: of all operations, or of any number of nodes. */
struct MeasuredScope
{
    std::vector<CollectiveOp> operations;
    std::vector<uint32_t> nodes; //!< ascending
};

/** A call of NCCL on some nodes, whose measured time is asked for. */
struct MeasuredCall
{
    CollectiveOp op;
    Bytes size;
    uint32_t nodes;
};

/** Where measured times of machines lie that no figure was fitted to. */
struct MeasuredBound
{
    std::string name; //!< of the class
    double lower{0};  //!< measured time over the estimate
    double upper{0};
    double coverage{0};       //!< asked for
    double nestedCoverage{0}; //!< found when each source was left out in turn
    uint32_t sources{0};      //!< clusters, or sources of steps
    MeasuredScope scope{};    //!< of a machine's own runs
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

    /**
     * Of the collectives of MeasuredClassOf, or of MEASURED_COLLECTIVES where it has none; nothing
     * of an operation that the class has no runs of, nor on more than twice as many nodes as these
     * had, less than half as many, or one where all had several.
     */
    std::optional<MeasuredBound> FindCollective(const MeasuredCall& call, double coverage) const;

    /**
     * What of @p call no run was like: "send-recv, measured: all-reduce"; empty: its class, or the
     * coverage, has no bound anyway.
     */
    std::string WhatWasNotMeasured(const MeasuredCall& call, double coverage) const;

  private:
    void Read(const YamlNode& classes, const char* keys, bool isOfMachine);

    std::string m_owner{"unseen clusters"};
    std::map<std::string, std::vector<MeasuredBound>> m_classes;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_MEASURED_BOUNDS_H
