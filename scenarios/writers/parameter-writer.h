// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H
#define WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/yaml/yaml-writer.h"

#include <string>

namespace weir
{

/** Writes @p spec into a map that is open; ReadPackets reads it back equal. */
void WritePackets(YamlWriter& out, PacketSpec spec);

/** The keys of each model of @p spec, into the map that is open. */
void WriteCorrections(YamlWriter& out, CorrectionSpec spec);

/** Writes the value of @p parameter at @p key, in a map that is open. */
void WriteParameter(YamlWriter& out, const std::string& key, const Parameter& parameter);

/** The value of @p parameter as files have it; empty: it is left out, or no single value. */
std::string TextOf(const Parameter& parameter);

/** Writes the parameters of a component into a map that is open; ParameterReader reads them back
 * equal. What is left open (an optional count, a size without limit, a link like those around) is
 * left out. */
class ParameterWriter : public ParameterVisitor
{
  public:
    explicit ParameterWriter(YamlWriter& out);

    void Visit(const ParameterInfo& info, const Parameter& parameter) override;

  private:
    YamlWriter& m_out;
};

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H
