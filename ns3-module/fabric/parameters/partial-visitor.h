// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PARAMETERS_PARTIAL_VISITOR_H
#define WEIR_FABRIC_PARAMETERS_PARTIAL_VISITOR_H

#include "fabric/parameters/parameter-visitor.h"

namespace weir
{

/** Sees each parameter as what a user is told of it; overrides say which values matter besides. */
class PartialVisitor : public ParameterVisitor
{
  public:
    void Count(const ParameterInfo& info, uint32_t&, ParameterRange<uint32_t>) override
    {
        Any(info);
    }

    void OptionalCount(const ParameterInfo& info,
                       std::optional<uint32_t>&,
                       ParameterRange<uint32_t>) override
    {
        Any(info);
    }

    void Counts(const ParameterInfo& info,
                std::vector<uint32_t>&,
                ParameterRange<uint32_t>) override
    {
        Any(info);
    }

    void Number(const ParameterInfo& info, double&, ParameterRange<double>) override
    {
        Any(info);
    }

    void Flag(const ParameterInfo& info, bool&) override
    {
        Any(info);
    }

    void Duration(const ParameterInfo& info, Time&, ParameterRange<Time>) override
    {
        Any(info);
    }

    void Size(const ParameterInfo& info, Bytes&, ParameterRange<Bytes>) override
    {
        Any(info);
    }

    void DataRate(const ParameterInfo& info, Rate&, ParameterRange<Rate>) override
    {
        Any(info);
    }

    void Seed(const ParameterInfo& info, uint64_t&) override
    {
        Any(info);
    }

    void Text(const ParameterInfo& info, std::string&) override
    {
        Any(info);
    }

    void Choice(const ParameterInfo& info, std::size_t&, const std::vector<std::string>&) override
    {
        Any(info);
    }

    void Selection(const ParameterInfo& info,
                   std::vector<uint32_t>&,
                   const std::vector<std::string>&,
                   const std::string&) override
    {
        Any(info);
    }

    void Link(const ParameterInfo& info, LinkProfile&) override
    {
        Any(info);
    }

    void Dimensions(const ParameterInfo& info, std::vector<FabricDimension>&) override
    {
        Any(info);
    }

    void Graph(const ParameterInfo& info, NetworkGraph&) override
    {
        Any(info);
    }

  protected:
    /** A parameter of a type that the visitor does not look into. */
    virtual void Any(const ParameterInfo& info)
    {
    }
};

} // namespace weir

#endif // WEIR_FABRIC_PARAMETERS_PARTIAL_VISITOR_H
