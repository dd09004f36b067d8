// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_OBJECT_REFERENCE_H
#define WEIR_JOB_OBJECT_REFERENCE_H

#include <string>
#include <vector>

namespace ns3
{

/** An attribute or trace source of a TypeId. */
struct ObjectMember
{
    std::string name;
    std::string help;
    std::string type;    //!< value type and range of an attribute; callback of a trace source
    std::string initial; //!< initial value, of an attribute
};

/** An object type of Weir with its own attributes and trace sources. */
struct ObjectType
{
    std::string name; //!< "ns3::TrainingJob"
    std::string parent;
    std::vector<ObjectMember> attributes;
    std::vector<ObjectMember> traceSources;
};

/** The registered types of the group "Weir", by name. */
std::vector<ObjectType> DescribeObjectTypes();

} // namespace ns3

#endif // WEIR_JOB_OBJECT_REFERENCE_H
