// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_JOB_PLAIN_SERVERS_H
#define WEIR_TESTS_JOB_PLAIN_SERVERS_H

#include "ns3/cluster-helper.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <string>

/** Servers with one GPU and one port of 100 Gb/s each, on one switch. */
inline ns3::ClusterHelper
PlainServers(const std::string& transport = "fluid")
{
    ns3::ClusterHelper helper;
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        helper.SetServerAttribute(count, ns3::UintegerValue(1));
    }
    helper.SetServerAttribute("NicRate", ns3::StringValue("100Gbps"));
    helper.SetServerAttribute("NicEfficiency", ns3::DoubleValue(1));
    helper.SetNetworkAttribute("Kind", ns3::StringValue("leaf-spine"));
    helper.SetTransport(transport);
    return helper;
}

#endif // WEIR_TESTS_JOB_PLAIN_SERVERS_H
