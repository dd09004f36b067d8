// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_HPCC_CONFIG_H
#define WEIR_SCENARIOS_FLOWS_HPCC_CONFIG_H

#include "fabric/topology/topology.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir
{

/**
 * A configuration of the HPCC simulator (SIGCOMM 2019) or one that came of it (SimAI, ConWeave,
 * ASTRA-sim's ns-3 back end): a key and its values a line.
 *
 *     TOPOLOGY_FILE mix/topology.txt
 *     CC_MODE 3                              1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP
 *     KMAX_MAP 2 25000000000 400 100000000000 1600      KB by rate of a port
 *
 * What only says what is written and when it ends (traces, monitors, SIMULATOR_STOP_TIME) is passed
 * over. Settings that packets here cannot have are refused, as are unknown keys.
 */
class HpccConfig
{
  public:
    /** Reads @p path. @throws InputError "file:line: KEY: found ..., expected ...". */
    explicit HpccConfig(const std::string& path);

    /** Whether @p path is a file whose first line is one of a key in capitals: no YAML. */
    static bool IsOne(const std::string& path);

    /** TOPOLOGY_FILE: as it is where there is such a file, else beside the configuration or its
     *  folder; empty: it names none. */
    std::string TopologyFile() const
    {
        return FileOf("TOPOLOGY_FILE");
    }

    /** FLOW_FILE, similarly. */
    std::string FlowFile() const
    {
        return FileOf("FLOW_FILE");
    }

    /**
     * Packets, queue pairs, switches and congestion control on @p topology, as ReadPackets takes
     * them. Where GLOBAL_T asks for the largest window and round-trip time, these are of all pairs
     * of hosts: O(hosts * links).
     * @throws InputError where marking thresholds miss a rate of the topology, or are not in
     *         proportion to its rates.
     */
    YamlNode Network(const Topology& topology) const;

    /**
     * LINK_DOWN, a time after two seconds in microseconds and two nodes, and ERROR_RATE_PER_LINK,
     * which the links that @p lossy names, by an error rate of their own, do not have.
     * @throws InputError at nodes that no link joins.
     */
    std::vector<EventSpec> Events(const Topology& topology,
                                  const std::vector<EventSpec>& lossy) const;

  private:
    /** A line. */
    struct Entry
    {
        uint64_t line{0};
        std::vector<std::string> values;
    };

    std::string FileOf(const std::string& key) const;
    /** "file:line: KEY". */
    std::string PlaceOf(const std::string& key) const;

    InputError Refusal(const std::string& key, const std::string& expected) const;
    double Number(const std::string& key, double absent, double least, double most) const;
    int64_t Whole(const std::string& key, int64_t absent, int64_t least, int64_t most) const;
    bool Flag(const std::string& key, bool absent) const;
    std::string RateOf(const std::string& key, const std::string& absent) const;
    void ExpectAsModeled() const;
    std::map<int64_t, double> ByRate(const std::string& key) const;
    void SetMarks(YamlNode& node, const Topology& topology) const;
    void SetWindow(YamlNode& node, const Topology& topology) const;
    void SetControl(YamlNode& node) const;

    std::string m_path;
    std::map<std::string, Entry> m_entries; //!< by key
};

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_HPCC_CONFIG_H
