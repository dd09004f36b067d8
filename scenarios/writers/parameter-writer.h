// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H
#define WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** Writes @p spec into a map that is open; ReadPackets reads it back equal. */
void WritePackets(YamlWriter& out, PacketSpec spec);

/** The keys of each model of @p spec, into the map that is open. */
void WriteCorrections(YamlWriter& out, CorrectionSpec spec);

/** Writes the parameters of a component into a map that is open; ParameterReader reads them back
 * equal. What is left open (an optional count, a link like those around) is left out. */
class ParameterWriter : public ParameterVisitor
{
  public:
    explicit ParameterWriter(YamlWriter& out);

    void Count(const ParameterInfo& info, uint32_t& value, ParameterRange<uint32_t> range) override;
    void OptionalCount(const ParameterInfo& info,
                       std::optional<uint32_t>& value,
                       ParameterRange<uint32_t> range) override;
    void Counts(const ParameterInfo& info,
                std::vector<uint32_t>& values,
                ParameterRange<uint32_t> range) override;
    void Number(const ParameterInfo& info, double& value, ParameterRange<double> range) override;
    void Flag(const ParameterInfo& info, bool& value) override;
    void Duration(const ParameterInfo& info, Time& value, ParameterRange<Time> range) override;
    void Size(const ParameterInfo& info, Bytes& value, ParameterRange<Bytes> range) override;
    void DataRate(const ParameterInfo& info, Rate& value, ParameterRange<Rate> range) override;
    void Seed(const ParameterInfo& info, uint64_t& value) override;
    void Text(const ParameterInfo& info, std::string& value) override;
    void Choice(const ParameterInfo& info,
                std::size_t& index,
                const std::vector<std::string>& names) override;
    void Selection(const ParameterInfo& info,
                   std::vector<uint32_t>& indices,
                   const std::vector<std::string>& names,
                   const std::string& what) override;
    void Link(const ParameterInfo& info, LinkProfile& value) override;
    void Dimensions(const ParameterInfo& info, std::vector<FabricDimension>& values) override;
    void Graph(const ParameterInfo& info, NetworkGraph& value) override;

  private:
    YamlWriter& m_out;
};

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H
