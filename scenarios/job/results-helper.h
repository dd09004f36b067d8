// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_RESULTS_HELPER_H
#define WEIR_JOB_RESULTS_HELPER_H

#include "run-recorder.h"

#include "ns3/attribute.h"
#include "ns3/cluster-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

/** Records a cluster to the files that `weir run` writes. */
class ResultsHelper
{
  public:
    /** @param file the result file (HDF5); empty: none, for use with the attribute TimelineFile */
    explicit ResultsHelper(const std::string& file);

    /**
     * Sets an attribute of the recorders to be installed.
     * @param name of an attribute of RunRecorder
     * @param value of the attribute
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Installs a recorder. All jobs must be installed before; a later one ends the program.
     * @param cluster the cluster
     * @return the recorder
     */
    Ptr<RunRecorder> Install(const ClusterContainer& cluster) const;

  private:
    ObjectFactory m_factory; //!< of RunRecorder
};

} // namespace ns3

#endif // WEIR_JOB_RESULTS_HELPER_H
