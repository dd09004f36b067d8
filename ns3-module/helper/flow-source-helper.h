// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_HELPER_FLOW_SOURCE_HELPER_H
#define WEIR_HELPER_FLOW_SOURCE_HELPER_H

#include "ns3/application-container.h"
#include "ns3/attribute.h"
#include "ns3/cluster-container.h"
#include "ns3/flow-source.h"
#include "ns3/object-factory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/** Installs FlowSources on the GPUs of a cluster, e.g. as background traffic. */
class FlowSourceHelper
{
  public:
    /** Installs sources without destinations, which send only on FlowSource::Send. */
    FlowSourceHelper();

    /**
     * Installs sources with destinations.
     * @param destinations the receiving GPUs, numbered as in the cluster
     */
    explicit FlowSourceHelper(const std::vector<uint32_t>& destinations);

    /**
     * Sets an attribute of the sources to be installed.
     * @param name of an attribute of FlowSource, except Gpu
     */
    void SetAttribute(const std::string& name, const AttributeValue& value)
    {
        m_factory.Set(name, value);
    }

    /**
     * Installs a source on each of some GPUs, as an application of its server's node. Aborts if a
     * GPU is not in the cluster.
     * @param gpus the sending GPUs, numbered as in the cluster
     * @return the sources, in the order of @p gpus
     */
    ApplicationContainer Install(const ClusterContainer& cluster,
                                 const std::vector<uint32_t>& gpus) const;

    /**
     * Assigns fixed streams to the random variables of sources.
     * @param sources as returned by Install
     * @param stream number of the first
     * @return the number of streams
     */
    int64_t AssignStreams(const ApplicationContainer& sources, int64_t stream) const;

  private:
    ObjectFactory m_factory;              //!< of sources
    std::vector<uint32_t> m_destinations; //!< GPUs
};

} // namespace ns3

#endif // WEIR_HELPER_FLOW_SOURCE_HELPER_H
