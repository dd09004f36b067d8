// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_NODE_H
#define WEIR_SCENARIOS_READERS_READ_NODE_H

#include "compute-model/kernels/gpu.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * The map `node:` of a system: what one server is made of.
 *
 *     gpu: h100-sxm             gpus: 8
 *     nvlink:  wiring none, switched (linksPerGpu) or mesh (linksPerPair, or links: [[a, b, n],
 * ...]) pcie:    a slot's profile; switches: 4, or what each is attached to: [cpu0, cpu1]; gpusOn:
 * [pcie0,
 * ...] gpuLink: a GPU's slot where it is no PCIe (NVLink-C2C) sockets: count, cpu, model, perBoard,
 * and the profile between them nic:     count of cards, ports of each, rate, transport, mtu; on:
 * [pcie0, ...]; pcie: a slot's profile where not the node's; hostBridge: what a NIC on a socket
 * moves both ways
 *
 * A place is "cpu1" or "pcie0", or {on: pcie0, ...} with the profile of that slot; places that are
 * not given are even. Costs are those of the parts in @p catalog where they differ from the
 * defaults, the GPU's, and its own.
 * @throws InputError with the place of what is missing, unknown, out of range or without a source.
 */
NodeSpec ReadNode(const YamlNode& node, const Gpu& gpu, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_NODE_H
