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
 * A configuration of the HPCC simulator (SIGCOMM 2019) or one derived from it (SimAI, ConWeave,
 * ASTRA-sim's ns-3 back end): one key with its values per line.
 *
 *     TOPOLOGY_FILE mix/topology.txt
 *     CC_MODE 3                              1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP
 *     KMAX_MAP 2 25000000000 400 100000000000 1600      KB by rate of a port
 *
 * Keys about output and the end of the run (traces, monitors, SIMULATOR_STOP_TIME) are ignored.
 * Settings that Weir's packet transport does not support are refused, as are unknown keys.
 */
class HpccConfig
{
  public:
    /** Reads @p path. @throws InputError "file:line: KEY: found ..., expected ...". */
    explicit HpccConfig(const std::string& path);

    /** Whether the file @p path begins with a key in capitals, as YAML does not. */
    static bool IsOne(const std::string& path);

    /**
     * TOPOLOGY_FILE: the path itself if it is a file, else relative to the configuration's folder
     * or its parent; empty: not given. @throws InputError where there is no such file.
     */
    std::string TopologyFile() const
    {
        return FileOf("TOPOLOGY_FILE");
    }

    /** FLOW_FILE, found in the same manner. */
    std::string FlowFile() const
    {
        return FileOf("FLOW_FILE");
    }

    /**
     * Parameters of packets, queue pairs, switches and congestion control on @p topology, as input
     * of ReadPackets. Where GLOBAL_T asks for the largest window and round-trip time, these are
     * taken over all pairs of hosts: O(hosts * links).
     * @throws InputError where marking thresholds are missing for a rate of the topology, or not
     *         proportional to its rates.
     */
    YamlNode Network(const Topology& topology) const;

    /**
     * Events of LINK_DOWN (microseconds after 2 s, and two nodes) and of ERROR_RATE_PER_LINK. The
     * latter does not apply to the links in @p lossy, which have their own error rate.
     * @throws InputError at nodes without a link between them.
     */
    std::vector<EventSpec> Events(const Topology& topology,
                                  const std::vector<EventSpec>& lossy) const;

  private:
    /** The line of a key. */
    struct Entry
    {
        uint64_t line{0};
        std::vector<std::string> values;
    };

    std::string FileOf(const std::string& key) const;
    /** The location of a key: "file:line: KEY". */
    std::string LocationOf(const std::string& key) const;

    InputError Refusal(const std::string& key, const std::string& expected) const;
    double Number(const std::string& key, double absent, double min, double max) const;
    int64_t Whole(const std::string& key, int64_t absent, int64_t min, int64_t max) const;
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
