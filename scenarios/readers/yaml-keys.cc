// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/yaml-keys.h"

#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{
namespace
{

using Maps = std::vector<YamlKeyMap>;

/**
 * The maps as `[name] help`, each with its keys as `key | help`; a line that is indented further
 * continues the one before. `[+name]` begins keys that several maps have where they say `+name`.
 */
constexpr const char* MAPS = R"(
[+link]
  encoding | fraction of the raw rate left by the line code, (0, 1]
  framing | fraction of the rate left by packet headers, (0, 1]
  measured | fraction of the payload rate that transfers achieve, (0, 1]: a calibration value
  latency | propagation delay plus the fixed delay of the receiving device, a time
  ncclRate | rate that NCCL's topology search assumes for the link
  source | source of the values
[+traffic]
  pattern | traffic pattern: poisson, permutation, incast, all-to-all or on-off
  sizes | flow size distribution: a name of `weir list flow-sizes`, a YAML file of that form, or a
      text file of lines `bytes percent`
  bytes | one size for all flows; replaces sizes
  load | poisson: offered load as a fraction of the end points' network rate (for a GPU, an equal
      share of its node's NICs)
  senders | incast: number of concurrent senders
  on | on-off: mean duration of a sending period
  off | on-off: mean duration of a pause
  spans | on-off: distribution of sending periods and pauses, exponential (default) or fixed
  rate | on-off: rate while sending, at most that of the slowest end point; absent: each end point's
      own network rate
  every | permutation, incast, all-to-all: period of the rounds, a time
  times | permutation, incast, all-to-all: number of rounds; absent: all that begin within duration
      if every is also given, else 1
  duration | time after which no flow starts; rounds end at times or duration, whichever comes first
  seed | seed of all random draws; derived from the seed of the run or file where absent
[+call]
  op | all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all, gather, scatter,
      send-recv or send
  bytes | size as nccl-tests counts it (all-gather and reduce-scatter: the large buffer)
  algorithm | algorithm, as for `weir collective --algorithm`; NCCL's choice where absent
  protocol | ll, ll128 or simple; NCCL's choice where absent
  channels | number of channels; NCCL's choice where absent
[+precisions]
  fp32 | 32-bit operands on CUDA cores
  tf32 | 32-bit operands on tensor cores
  fp16 | 16-bit floats
  bf16 | bfloat16
  fp8 | 8-bit floats
[+corrections]
  forwarding | store-and-forward of whole packets in switches (below)
  utilization | achievable utilization of network links (below)
  recovery | slow rate recovery after a rate cut, as in DCQCN (below)
  ingress | sharing by ingress link instead of by flow, and head-of-line blocking (below)
[+packet links]
  links | link names "from -> to" (* matches any text): all flows that cross them are packets
[+times]
  at | time of the event, or of its first occurrence
  every | period of the occurrences, required if `times` is above 1
  times | number of occurrences; 1 where absent
[+ends]
  from | name of the device where the link starts, as `weir show system` prints it
  to | name of the device where the link ends; "spine0#2" selects the second of parallel links
[run] A scenario: scenarios/runs/NAME.yaml, or a user's file
  title | title of the experiment, one line
  seed | seed of all random draws, 0 and up; 1 where absent
  system | system: a name of the catalog, a file, or a map that changes values of its `base`
  jobs | list of jobs: training, an imported workload, a collective or traffic
  network | fidelity, NCCL version and packet settings
  events | list of timed changes of the fabric, such as failures, and background flows
  output | result files to write
[job] A training job, in `jobs`
  name | unique name of the job in results and other keys
  model | model: a name of the catalog, a file, or a map that changes values of its `base`
  placement | packed, strided, random, across-leaves, or a map (below); packed where absent
  start | earliest start time of the first step
  until | name of another job, which has no `until`: steps repeat until that job ends
  parallel | parallel plan (below)
  precision | precision of weights and activations: fp32, tf32, fp16, bf16 or fp8
  overlapSlowdown | slowdown of kernels that overlap communication: modeled (default), off, or one
      factor of at least 1
  jitter | compute jitter of ranks (below)
  steps | number of steps, or a map with untilSteady
[job.jitter] Compute jitter: random variation of the durations of a rank's kernels
  distribution | distribution of the factors: lognormal
  coefficientOfVariation | standard deviation over mean of the factors
  per | what each factor is drawn for: run (one factor per rank), step or operation
  seed | seed of the factors; derived from the run's seed where absent
[job.steps] Number of steps determined by a stopping rule
  untilSteady | the job ends once the 95 % confidence interval of the mean step is within this
      fraction of it
  atMost | maximum number of steps
[placement.nodes] Explicit list of the nodes of a job
  nodes | node indices, in rank order
[placement.gpus] Explicit list of the GPUs of a job
  gpus | GPU indices over all nodes, in rank order
[placement.leaves] Nodes of a job, given by their leaf switches
  leaves | switch names, as `weir show system` prints them; the nodes of each are used in this order
[placement] Placement rule for the nodes of a job
  kind | packed (node after node), strided, random, or across-leaves (the first node of each leaf,
      then the second of each, ...; a node's leaf is that of its first NIC)
  stride | strided: stride k, which gives nodes 0, k, 2k, ..., then 1, k + 1, ...
  seed | random: seed of the permutation
[job (collective)] A collective as a job, in `jobs`
  name | unique name of the job in results and other keys
  collective | collective call, or a sequence of calls (below)
  gpus | number of participating GPUs; all GPUs of the placement where absent
  placement | placement, as in a training job
  start | start time of the first call
  until | name of another job, which has no `until`: calls repeat until that job ends
[job.collective] The call, or sequence of calls, of a collective job
  +call
  sequence | list of the calls of one round (below); replaces op and bytes
  calls | number of back-to-back calls (of a sequence: rounds); absent with `until`
  every | minimum time between the starts of successive calls (of a sequence: rounds)
[job.collective.sequence] One call of a sequence
  +call
[job (traffic)] Traffic between GPUs as a job, in `jobs`
  name | unique name of the job in results and other keys
  traffic | traffic pattern (below)
  gpus | number of end points; all GPUs of the placement where absent
  placement | placement, as in a training job; traffic may share GPUs with other jobs
  start | start time of the traffic
  until | name of another job, which has no `until`: flows start until that job ends
[job.traffic] The flows of a traffic job
  +traffic
[job (workload)] An imported workload as a job, in `jobs`
  name | unique name of the job in results and other keys
  workload | file written by `weir import`, relative to the folder of this file
  compute | kernel durations: recorded (default), or roofline: from FLOPs and bytes at the datasheet
      rates of the system's GPU
  precision | roofline: precision of the peak rate, fp32, tf32, fp16, bf16 (default) or fp8
  placement | placement, as in a training job; one GPU for each rank of the workload
  start | earliest start time of the first step
  until | name of another job, which has no `until`: steps repeat until that job ends
  overlapSlowdown | slowdown of kernels that overlap communication: off (default, as recorded times
      include it), modeled, or one factor of at least 1
  jitter | compute jitter of ranks, as in a training job
  steps | number of repetitions, or a map with untilSteady; 1 where absent
[network] Network model of a run, in `network`; the packet keys are in the same map
  fidelity | analytical, stream, flow, packet, hybrid or auto; stream where absent
  tolerance | fidelity auto: maximum deviation of a step or call time from fidelity flow, such as 3%
      (default)
  nccl | NCCL version whose constants apply, such as 2.21.5, or a map with it and other settings
      (below)
  packets | traffic that moves as packets in fidelity hybrid (below)
  coupling | link sharing between packets and fluid in fidelity hybrid (below)
  sharing | accuracy of the fluid link shares (below); also for --set of weir collective and weir
      flows
  corrections | corrections of fluid flows for packet effects: a name of `weir list corrections`, a
      file, or models (below); for fidelity stream, flow and hybrid (hybrid without ingress); none
      where absent
[network.nccl] NCCL version and environment settings, in `network` of a run
  version | NCCL version, such as 2.21.5; 2.30.7 where absent
  algorithms | NCCL_ALGO, in NCCL's syntax: "ring,tree", "^nvls"
  protocols | NCCL_PROTO, in NCCL's syntax
  dimensionWise | settings of the algorithm dimension-wise (below)
[network.nccl.dimensionWise] Settings of the algorithm dimension-wise, in `nccl`
  perDimension | list with ring, direct or halving-doubling for each dimension, the last for all
      further ones; absent: ring on a ring, direct on a full mesh, halving-doubling (else direct) on
      a switch
  chunks | chunks of a message, which cross the dimensions one after the other; 4 where absent
  balanced | whether each chunk crosses the least loaded dimension first (Themis)
  dispatch | all-to-all as a DeepEP dispatch: experts of a token out of all experts, such as 8/256;
      a token crosses a dimension once for all its experts reached through a peer; the size is that
      of a rank's tokens
  expertGroups | with dispatch: expert groups of a token out of all groups, such as 4/8
  direct | with dispatch: each token goes straight to the GPU of each of its experts, once for each
      expert, as DeepEP's low-latency kernels send it
  density | sparse all-reduce (HiTopKComm): fraction of the sums, such as 1%, that is gathered with
      its indices beyond the first dimension
  selectionRate | with density: rate at which a GPU selects the elements to send, in dense bytes;
      infinite where absent
  endpointDelay | delay of a step besides transmission and hop latency; NCCL's kernel and message
      costs where absent
  memoryRate | memory rate at which a GPU reduces received bytes after their arrival, with two reads
      and one write per byte; absent: it reduces them as they arrive
[network.corrections] Corrections of fluid flows for packet effects, in `network` of a run
  +corrections
[network.packets] Traffic that moves as packets in fidelity hybrid
  jobs | names of jobs whose flows are packets
  flows | whether background flows are packets
  +packet links
[network.packets (weir collective)] Traffic that moves as packets in fidelity hybrid of weir
      collective
  +packet links
[network.packets (weir flows)] Traffic that moves as packets in fidelity hybrid of weir flows: flows
      selected by any of these keys
  flows | flow numbers as in the CSV, from 0, or ranges such as 0-99
  sources | numbers of sending hosts or GPUs, or ranges
  destinations | numbers of receiving hosts or GPUs, or ranges
  below | size: all flows with fewer bytes
  +packet links
[event (degrade)] A change of a link's rate, in `events`
  kind | degrade
  +times
  +ends
  factor | fraction of the link's full rate from then on, 0 to 1
[event (lossy-link)] Random packet loss on a link, in `events`; fidelity packet or hybrid only
  kind | lossy-link
  +times
  +ends
  loss | loss probability of each packet from then on, 0 (no loss) to below 1
[event (link-flap)] A duplex link that alternates between down and up, in `events`
  kind | link-flap
  at | time of the first failure
  from | name of the device at one end, as `weir show system` prints it
  to | name of the device at the other end; "spine0#2" selects the second of parallel links
  down | duration of each down period
  up | duration of each up period
  times | number of down periods
[event (random-failures)] Random link failures and repairs with exponentially distributed times, in
      `events`
  kind | random-failures
  at | start of the failure process; 0s where absent
  links | switch-to-switch, nic-to-switch, or a list of "from -> to"; both directions of a link fail
  meanTimeToFailure | mean time until an operating link fails, at least 1us
  meanTimeToRepair | mean time until a failed link is repaired, at least 1us
  seed | seed of the failure times; derived from the run's seed where absent
[event (link-down, link-up)] Failure or restoration of a duplex link, in `events`
  kind | link-down or link-up
  +times
  +ends
[event (slow-gpu)] A straggler GPU, in `events`
  kind | slow-gpu
  at | start time, which must be 0s: the GPU is slow for the whole run
  gpu | name of the GPU
  factor | factor on its kernel times, at least 1
[event (background)] A background flow, in `events`
  kind | background
  +times
  from | name of the sending device
  to | name of the receiving device
  bytes | size of the flow
[output] Result files, in `output`
  file | HDF5 result file
  timeline | Perfetto timeline: true (same name as `file`), false, or a file name
  linkSeries | bin width of the link traffic time series, at least 1ns; absent: no series
  portSeries | bin width of the queue length and pause time series of the busiest ports; absent: no
      series. Fidelity packet or hybrid only; bins are widened if a run has too many
  ranks | training jobs: list of ranks to record in addition to the default ones, or all
[architecture] A GPU generation: scenarios/architectures/NAME.yaml, or a user's file
  title | one-line title
  base | architecture whose values this one inherits
  computeCapability | lowest compute capability of this architecture, times ten; it extends to the
      next architecture of the catalog
  clock | boost clock of an SM, to which costs that state a clock are scaled, {value, source}
  l1 | L1 cache and shared memory of an SM, {value, source}
  nvlink | properties of one NVLink (below)
  latency | latencies of the GPU's own links (below): nvlink, nvswitch, chipToChip, source
  costs | per-message and per-step costs (below)
[architecture.latency] Default latencies of a GPU's own links
  nvlink | latency to another GPU over NVLink, a time
  nvswitch | latency to an NVSwitch, a time
  chipToChip | latency to the CPU over NVLink-C2C, a time
  source | source of the values
[architecture.nvlink] Default properties of an NVLink of a GPU generation
  rate | raw rate of one direction
  headerFlits | header flits of a packet with 256 bytes of payload
  ncclRate | rate that NCCL's topology search assumes for one NVLink
  measured | fraction of the rate left by packet headers that transfers achieve, (0, 1]
  source | source of the values
[host] A CPU type: scenarios/hosts/NAME.yaml, or a user's file
  title | one-line title
  base | host whose values this one inherits
  vendor | CPU vendor that NCCL's topology search assumes: intel, amd, arm or power
  sockets | inter-socket links of NCCL topology files (below)
  pcie | PCIe slots of NCCL topology files, and the default `measured` of PCIe links (below)
  hostBridge | combined rate of both directions between NICs and GPUs of a socket; default of
      systems (below)
  costs | per-message and per-step costs (below)
[host.sockets] Inter-socket links, which an NCCL topology file does not describe
  latency | latency, a time
  rates | list of CPU models (below)
  source | source of the values
[host.sockets.rates] A CPU model: NCCL topology files use the first entry of their CPU family whose
      model id does not exceed theirs, otherwise the last entry
  family | CPU family id
  model | lowest model id of the entry
  rate | rate between sockets that NCCL assumes
[host.hostBridge] Root complex of a socket between NICs and GPUs
  rate | combined rate of both directions
  source | source of the value
[host.pcie] Properties of a PCIe slot that an NCCL topology file does not describe
  maxPayload | maximum payload of a packet in bytes
  measured | fraction of the rate left by packet headers that transfers achieve, (0, 1]
  latency | latency, a time
  source | source of the values
[transport] A network transport: scenarios/transports/NAME.yaml, or a user's file
  title | one-line title
  base | transport whose values this one inherits
  kind | packet format: infiniband, roce, slingshot, efa or tcp
  devices | prefixes of its network device names in NCCL topology files; the first one is written
  mtu | default packet payload of a port in bytes, {value, source}
  latency | default latency of a port, a time, {value, source}
  measured | default fraction of the rate left by packet headers that transfers achieve, (0, 1],
      {value, source}
  costs | per-message and per-step costs (below)
[part.costs] One value of `costs` of an architecture, host or transport; the keys of `costs` are
      listed there
  value | value with its unit
  clock | SM clock of the measurement; the cost is longer at slower clocks
  port | port rate of the measurement; the value scales with faster ports and does not limit slower
      ones
  source | source of the value
[framework] A training framework: scenarios/frameworks/NAME.yaml, or a user's file
  title | title with the framework's versions, one line
  base | framework whose values this one inherits
  parallel | defaults of the parallel plan: keys of `parallel`, nested keys as a path (host.kernel),
      each {value, source}
[parallel.expertLoad] Distribution of tokens over experts, in `parallel`
  capacityFactor | capacity of an expert in multiples of the mean load: excess tokens are dropped;
      0: dropless
  imbalance | load of the busiest expert over the mean load, at least 1
  seed | seed that selects the busy experts
  shares | list of load weights, one for each expert; replaces imbalance
[system] A cluster: scenarios/systems/NAME.yaml
  base | system whose values this one inherits
  name | name of the system
  title | one-line title
  source | source of the values
  nodes | number of nodes; 1 where absent
  node | contents of a node (below)
  topology | NCCL topology XML file with the wiring of the node
  fabric | network between nodes (below)
  bounds | list of error bounds against measurements of this machine, written by weir calibrate
[system.bounds] Error bounds of one class of measured runs of a machine
  name | name of the class
  sources | number of parts of the runs, each held out once
  cases | number of measured points
  operations | operations of the runs; other operations have no bound
  nodes | node counts of the runs; the bounds apply from half the smallest to twice the largest, and
      to one node only if it is listed
  intervals | [coverage, lower, upper, nested coverage] of ln(measured / estimate)
[system.node] The contents of a node
  gpu | GPU: a name of scenarios/gpus, or a file
  gpus | number of GPUs
  nvlink | NVLink wiring (below)
  pcie | PCIe slots and switches (below)
  gpuLink | link between GPU and CPU if it is not PCIe (NVLink-C2C, POWER9's NVLinks): the keys of a
      link
  sockets | CPU sockets (below)
  nic | NICs (below)
  costs | per-message and per-step costs that replace the defaults (below), each {value, source}
[system.node.nvlink] NVLink wiring of a node
  wiring | switched (to NVSwitches), mesh or none
  linksPerGpu | switched: links from a GPU to the NVSwitches
  linksPerPair | mesh of all pairs: parallel links between two GPUs
  links | mesh: list of [gpu, gpu, links]
  name | name of the link profile in results
  rate | raw rate of one link, one direction
  headerFlits | header flits of a packet, which determine framing
  +link
[system.node.pcie] PCIe wiring of a node
  name | name of the link profile in results
  generation | PCIe generation, 1 to 6
  lanes | PCIe lanes of a slot
  maxPayload | maximum payload size of a TLP in bytes
  rate | rate of a slot, one direction; replaces generation and lanes
  +link
  switches | number of PCIe switches, or a list with what each one is attached to
  gpusOn | what each GPU is attached to: pcieN, cpuN, or a map (system.node.attachment)
  uplinkLanes | PCIe lanes between a switch and its root complex, if only the number of lanes
      differs from a slot's
  uplink | link between a switch and its root complex, if other properties differ, too (below)
[system.node.pcie.uplink] Link between a PCIe switch and its root complex
  name | name of the link profile in results
  rate | rate of one direction; replaces generation and lanes
  encoding | fraction of the raw rate left by the line code, (0, 1]
  framing | fraction of the rate left by packet headers, (0, 1]
  generation | PCIe generation, 1 to 6
  lanes | number of PCIe lanes
  maxPayload | maximum payload size of a TLP in bytes
  measured | fraction of the payload rate that transfers achieve, (0, 1]: a calibration value
  latency | propagation delay plus the fixed delay of the receiving device, a time
  ncclRate | rate that NCCL's topology search assumes for the link
  source | source of the values
[system.node.attachment] Attachment of a GPU, NIC or PCIe switch whose slot differs from the others
  on | PCIe switch pcieN or CPU socket cpuN
  name | name of the link profile in results
  generation | PCIe generation, 1 to 6
  lanes | number of PCIe lanes
  maxPayload | maximum payload size of a TLP in bytes
  rate | rate of one direction; replaces generation and lanes
  +link
[link] A link, in system.fabric.link, system.node.gpuLink, hostBridge and fabric kinds
  name | name of the link profile in results
  rate | raw rate of one direction
  +link
[system.node.sockets] CPU sockets of a node and the links between them
  count | number of sockets
  cpu | host: a name of `weir list hosts` or a file: intel, amd, arm, power
  model | name of the CPU model, for information only
  perBoard | sockets that are directly linked to each other; all where absent
  name | name of the link profile in results
  rate | rate between sockets, one direction
  +link
[system.node.nic] NICs of a node
  count | number of NIC cards
  ports | network ports of a card; 1 where absent
  on | what each card is attached to, as for gpusOn
  pcie | slot of a card, if it differs from the GPUs' slots
  hostBridge | combined rate of both directions of a card attached to a socket: the keys of a link
  name | name of the link profile in results
  rate | raw rate of a port, one direction
  transport | transport: a name of `weir list transports` or a file: infiniband, roce, slingshot,
      efa, tcp; gives the default of mtu, latency and measured
  mtu | packet payload in bytes; the transport's default where absent
  +link
[sourced] A value with its source: entries of `costs`, values of GPUs, frameworks and switches, and
      optionally of packet keys
  value | value with its unit
  source | source of the value
[system.fabric] The network between nodes; the keys of the fabric kind are in the same map
  kind | fabric kind: none, rail-optimized, rail-only, leaf-spine, fat-tree, dragonfly,
      dragonfly-plus, torus, dimensions or graph
  routing | routing policy: ecmp, static, adaptive, flowlet, spray, dimension-order or valiant
  hashSeed | seed of the salts of the switches' ECMP hashes
  sharp | whether switches support in-network reduction and multicast (SHARP)
  link | link between switches (the keys of a link); the NIC's port where absent
  source | source of the values
[system.fabric.dimensions] One dimension of fabric kind dimensions
  shape | shape and size: Ring(k), FullyConnected(k) or Switch(k)
  links | parallel links between neighbors
  inside | whether the dimension connects the GPUs of one node
[gpu] A GPU: scenarios/gpus/NAME.yaml; values are {value, source}
  base | GPU whose values this one inherits
  name | name of the GPU
  title | one-line title
  computeCapability | compute capability times ten: 70, 80, 90, 100
  pciDevices | PCI device ids in NCCL topology files (below)
  sms | number of streaming multiprocessors
  boostClock | highest SM clock
  datasheetClock | SM clock of the datasheet FLOPs; the boost clock where absent
  burstTensorClock | SM clock of large 16-bit GEMMs during their first milliseconds
  sustainedClock | SM clock at which large 16-bit GEMMs settle under the power limit
  clockSpread | relative standard deviation of the clock under load between GPUs of this type
  tensorFlopsPerSmPerClock | dense tensor FLOPs per SM and clock cycle by precision (below)
  memoryRate | datasheet rate of HBM
  memory | HBM capacity
  l2 | L2 cache size in bytes
  l1 | L1 cache and shared memory of an SM in bytes; the architecture's where absent
  kernels | kernel efficiencies (below), or a `base` for them
  costs | costs of collectives that replace the architecture's defaults (below)
[gpu.pciDevices] PCI device ids of a GPU in NCCL topology files
  value | list of PCI device ids; the first one is written
  isTypical | whether the entry also stands for GPUs of its computeCapability with an unknown device
      id
  source | source of the ids
[gpu.tensorFlopsPerSmPerClock] FLOPs by precision; a fused multiply-add counts as two
  +precisions
  source | source of the values
[gpu.kernels] Measured efficiencies of kernels
  base | GPU whose kernel values these inherit
  measuredOn | GPU on which the values were measured; if it is another GPU, they are scaled by SMs,
      clocks and rates
  source | source of the values
  gap | time between two queued kernels of one stream
  fullLoadUtilization | tensor utilization at which the clocks under load were measured
  gemm | GEMMs (below)
  attention | fused attention (below)
  memory | memory-bound kernels (below)
  lookups | look-ups in embedding tables (below)
  operators | kernels estimated relative to a similar kernel (below)
  measured | ranges of the measured shapes (below)
[gpu.kernels.lookups] Table-batched look-ups in embedding tables
  source | source of the values
  l1Share | fraction of an SM's L1 available to table rows, (0, 1]
  l2Share | fraction of the L2 available to table rows, (0, 1]
  narrowSumPasses | L2 accesses per store of a sum of 16-bit rows, 1 to 4
  forward | forward pass: look-ups (below)
  backward | backward pass: row updates (below)
[gpu.kernels.lookups.pass] One pass of `lookups`, in `forward` and `backward`
  memoryEfficiency | achieved fraction of the datasheet HBM rate, (0, 1]
  l1Rate | L1 rate in bytes per SM and clock cycle
  l2Rate | L2 rate in bytes per SM and clock cycle
  addRate | additions of 32-bit elements per SM and clock cycle
  conversions | factor on additions of 16-bit elements
  convertedLatency | factor on the latency of 16-bit rows
  sharpness | exponent p of (a^p + b^p)^(1/p), which combines two limits
  bagsAtOnce | concurrent bags of an SM
  rowLatency | latency of each row of a bag, a time
  floor | duration of the shortest kernel, a time
  hottestAdd | backward: duration of one addition to a row of 64 elements, a time
  hottestPower | backward: exponent of (row elements / 64) in that duration
[gpu.kernels.operators] Factors of kernels relative to a similar kernel, and rates that limit
      kernels, each {value, source}
  batchNormForwardBlockRate | forward: bytes per clock cycle of a thread block, which processes one
      channel
  batchNormBackwardBlockRate | backward: bytes per clock cycle of a thread block
  batchNormBlocksPerSm | concurrent thread blocks of an SM
  maxPoolForward | forward: memory traffic over the size of the operands
  maxPoolBackward | backward: memory traffic over the size of the operands
  columnSum | duration of a sum over rows over that of a sum over columns
  trianglePick | duration of selecting the dot interaction's triangle over that of a copy
  trianglePutBytes | scattering a gradient by index: equivalent bytes per element of a copy
  transposedSum | duration of a sum of two matrices, one of them transposed, over that of a copy
  sortPass | duration of one pass of a radix sort over that of a copy
  tensorPower | power of fully utilized tensor cores over that of the rest of the GPU, at the same
      clock
  copyBytesPerBlockPerClock | payload bytes per clock cycle of a thread block of a copying
      collective
  reduceBytesPerBlockPerClock | payload bytes per clock cycle of a thread block of a reducing
      collective
[gpu.kernels.gemm.grid] Grid type, where a GPU's GEMM library differs from that of its base
  value | grid type: persistent or classic
  source | source of the value
[gpu.kernels.gemm.family] Properties of one family of GEMM kernels (tf32, fp32, convolution)
  source | source of the values
  grid | grid type: persistent (one block per SM processes tile after tile) or classic (one block
      per tile)
  tileOverhead | duration of the start of a tile, a time
  tiles | tile shapes of the library, rows x columns, such as 128x256
[gpu.kernels.gemm] GEMMs
  source | source of the values
  grid | grid type: persistent (one block per SM processes tile after tile) or classic (one block
      per tile)
  tensorEfficiency | achieved fraction of the tensor rate in a long main loop, by precision, (0, 1]
  operandBytesPerSmPerClock | load rate of A and B in bytes per SM and clock cycle, multicast
      included
  epilogueBytesPerSmPerClock | store rate of C in bytes per SM and cycle of the boost clock
  exposedEpilogue | fraction of an epilogue that the next tile of a persistent kernel does not hide,
      0 to 1
  displacedWaves | waves that occupied SMs add to a persistent kernel of several waves, 0 or more
  memoryEfficiency | achieved fraction of the datasheet HBM rate, (0, 1]
  misalignedOutput | factor on stores of rows that are not multiples of 128-byte cache lines, at
      least 1
  misalignedOperand | factor on loads of such rows, at least 1
  unalignedLoadsPerSmPerClock | word loads per SM and clock cycle of kernels for rows that are not
      multiples of 16 bytes
  unalignedTiles | tile shapes of these kernels
  sharpness | exponent p of (a^p + b^p)^(1/p), which combines two limits
  tileOverhead | duration of the start of a tile, a time
  floor | duration of the shortest kernel, a time
  splitFloor | time added when the inner dimension is split and partial sums are reduced
  tiles | tile shapes of the library, rows x columns, such as 128x256
  tf32 | kernels with 32-bit operands on tensor cores, where they differ
  fp32 | kernels with 32-bit operands on CUDA cores, where they differ
  convolution | implicit GEMM kernels of convolutions, where they differ
  gatheredLoadsPerSmPerClock | 32-bit word loads per SM and clock cycle in weight gradients of
      convolutions; 0: no limit
[gpu.kernels.gemm.tensorEfficiency] Achieved fraction of the tensor rate by precision, (0, 1]
  +precisions
[gpu.kernels.attention.pass] Fused attention in one pass (forward, backward)
  efficiency | achieved fraction of the tensor rate inside the GEMMs, (0, 1]
  softmaxColumns | softmax work per score, expressed as head-dim columns at the tensor rate
  singleTileRate | fraction of an SM's rate that a single tile on it achieves, (0, 1]
  tail | fraction of the longest tile's time that is added if tile lengths differ (causal mask)
  memoryEfficiency | achieved fraction of the datasheet HBM rate, (0, 1]
  tileOverhead | duration of the start and end of a tile, a time
  floor | duration of the shortest kernel, a time
[gpu.kernels.attention] Fused attention
  source | source of the values
  kernel | implementation: cudnn-9, flash-2
  tileRows | query rows of a tile
  headDimStep | multiple to which head dims are padded
  forward | values of the forward pass
  backward | values of the backward pass
[gpu.kernels.memory.kernel] One kind of memory-bound kernel
  source | source of the values
  efficiency | achieved fraction of the datasheet HBM rate where memory is the limit, (0, 1]
  rates | instruction-limited rates, by increasing row length (below)
  floor | duration of the shortest kernel, a time
  latency | serial latency of one thread block's work, a time
  rowLatencyPerKiB | additional latency per 1024 bytes of a row, a time
[gpu.kernels.memory.kernel.rates] Rate of a row-wise kernel at one row length
  rowBytes | bytes of a row
  bytesPerSmPerClock | bytes per SM and cycle of the boost clock
[gpu.kernels.memory] Memory-bound kernels
  kernels | map by kernel kind: layerNormForward, softmaxForward, adam, ...
[gpu.kernels.measured.gemm] One region of measured GEMMs; ranges are [minimum, maximum]
  precision | fp32, tf32, fp16, bf16 or fp8
  layout | tn, nn or nt
  aligned | whether rows are multiples of 16 bytes
  m | range of rows
  n | range of columns
  k | range of the inner dimension
  batch | range of the number of GEMMs per call
  flops | range of FLOPs
[gpu.kernels.measured.attention] One region of measured attention kernels
  precision | fp16, bf16 or fp8
  mask | causal or full
  batch | range of the number of samples
  heads | range of the number of query heads
  group | range of the number of query heads per key/value head
  sequence | range of sequence lengths
  headDim | range of head dims
  flops | range of FLOPs
[gpu.kernels.measured.lookups] One region of measured embedding look-ups
  precision | precision of the rows
  phase | forward or backward
  rows | range of the number of rows of a table
  dim | range of the number of elements of a row
  bags | range of the number of sums (bags)
  pooling | range of the number of rows per sum
  zipf | range of the Zipf exponent
[gpu.kernels.measured.memory] One region of measured memory-bound kernels
  bytes | range of memory traffic in bytes
  row | range of row lengths in bytes
[gpu.kernels.measured] Regions of the measured shapes; estimates outside them are marked as
      extrapolated
  gemm | list of regions
  attention | list of regions
  memory | map from kernel kind to regions
  lookups | list of regions
[model] A transformer: scenarios/models/NAME.yaml
  base | model whose values this one inherits
  name | name of the model
  title | one-line title
  layers | number of layers
  hidden | hidden width h
  heads | number of attention heads
  kvHeads | key/value heads of grouped-query attention; heads where absent
  headDim | width of a head; hidden / heads where absent
  ffn | inner width of the MLP
  sequence | tokens per sample
  vocabulary | vocabulary size
  norm | normalization: layernorm or rmsnorm
  activation | activation function: gelu or swiglu
  tiedEmbeddings | whether the output layer shares the word embedding's weights
  biases | whether linear layers have biases
  dropout | whether dropout is on
  learnedPositions | whether positions are learned; false: rotary
  causal | whether a token attends only to earlier tokens; false (encoders): to all
  predictionHead | whether a dense layer, GELU and a norm precede the output layer (BERT)
  experts | expert layers (below)
  source | source of the shape
  vocabularyMultiple | the vocabulary is padded to a multiple of this times the parts it is split
      into; 1: no padding
[model.experts] Mixture of experts
  count | routed experts per layer
  topK | experts to which a token is routed
  ffn | inner width of one expert
  sharedFfn | total inner width of the shared experts
  firstLayer | index of the first layer with experts; earlier layers are dense
  every | distance between layers with experts, from firstLayer on
[model (layer table)] A model given as a table of layers in `network` (convolutional,
      recommendation)
  base | model whose values this one inherits
  name | name of the model
  title | one-line title
  source | source of the shape
  input | shape of a sample, [channels, height, width], or its width
  embeddings | embedding tables (below)
  network | list of layers: a word (batchNorm, relu, add, dropout, loss, globalAveragePool,
      embeddings, dot) or a map (below)
[model.network.convolution] A convolution
  convolution | number of output channels
  size | size of the window
  stride | stride; 1 where absent
  padding | padding; 0 where absent
  groups | number of channel groups; 1 where absent
  bias | whether the layer has a bias
[model.network.linear] A linear layer
  linear | number of outputs
  bias | whether the layer has a bias
[model.network.cross] Cross layers (DCN v2)
  cross | rank of the weight matrices
  times | number of layers
[model.network.repeat] Repeated layers
  repeat | number of repetitions
  layers | layers to repeat
[model.network.pool] Pooling
  maxPool | max pooling: size of the window
  averagePool | average pooling: size of the window
  stride | stride; the window size where absent
  padding | padding; 0 where absent
[model.network.block] Residual blocks
  bottleneck | width of bottleneck blocks (ResNet-50 and deeper)
  basicBlock | width of basic blocks
  stride | stride of the first block; 1 where absent
  times | number of blocks
[model.network.layer] A layer with explicit shapes
  layer | layer kind
  name | name of the layer
  in | input shape, [channels, height, width]
  out | output shape, [channels, height, width]
  window | [size, stride, padding]
  groups | channel groups of a convolution
  rank | rank of a cross layer
  bias | whether the layer has a bias
[model.embeddings] Embedding tables
  dim | default number of elements of a row
  zipf | default Zipf exponent
  tables | list of tables (below)
[model.embeddings.tables] An embedding table
  rows | number of rows
  pooling | mean number of rows that a sample looks up
  dim | elements of a row
  zipf | Zipf exponent: row k is looked up in proportion to k^-zipf; 0: uniform
  indices | file of look-up indices from which the classes are counted
  classes | list of [rows, share of the look-ups], which replaces zipf; with classesOf, counts of
      look-ups
  classesOf | total look-ups in which the classes were counted
  times | number of identical tables; 1 where absent
[corrections] Corrections of fluid flows for packet effects: scenarios/corrections/NAME.yaml,
      written by weir calibrate
  title | one-line title
  source | source of the values and their errors
  +corrections
[switch] A switch model: scenarios/switches/NAME.yaml, or a user's file; it also has the keys of
      network.switch, each {value, source}
  title | one-line title
  base | switch model whose values this one inherits
[flow-sizes] A distribution of flow sizes: scenarios/flow-sizes/NAME.yaml
  title | one-line title
  source | source of the values
  points | points of the distribution function: list of [bytes, percentage of flows that are at most
      this large]
[traffic file] Randomly drawn flows for weir flows --flows FILE.yaml
  title | one-line title
  seed | seed of all random draws; 1 where absent
  traffic | list of traffic patterns (below)
[traffic file.traffic] A traffic pattern between all or some hosts or GPUs
  +traffic
  start | start time of the traffic; 0s where absent
  endPoints | numbers of hosts or GPUs, as in flow files, or ranges such as 0-15; all where absent
[sweep] A command that is run for every combination of values: scenarios/sweeps/NAME.yaml, for weir
      sweep
  title | one-line title
  command | arguments of weir: run, collective or flows with their own arguments; one text, or a
      list of words if a word contains blanks. File names are relative to the sweep's folder
  vary | map from a key as of --set, or an option such as --nodes, to a list of values or a map from
      a label in tables to a value. "key, key" change in step: a list of lists, or a map from labels
      of the first key to lists. The last entry changes fastest; an option is passed if its value is
      true and omitted if it is false
[graph] A network of switches and hosts: scenarios/graphs, fabric kind graph, weir flows
  title | one-line title
  source | source of the values
  switches | number of switches, or a list of names
  hosts | number of hosts, or a list of names
  rate | default rate of a link, one direction
  latency | default latency of a link, a time
  links | list of links: [end, end] or maps (below)
[graph.links] A link of a graph
  between | the two ends, [end, end]
  rate | rate of one direction
  latency | latency, a time
  count | number of parallel links; 1 where absent
[suite] A validation suite: validation/NAME/suite.yaml; its kind determines which keys it has
  title | subject of the comparison, one line
  citation | publication of the measurements
  url | location of the measurements
  cases | list of measured steps (below)
  table | CSV file of measured steps
  measured | table: column with the measured seconds
  classes | table: columns that group the rows
  run | table: run that the columns change
  columns | table: map from a column to the key of the run that it sets
  collectives | list of measured runs of nccl-tests (below)
  kernels | measured kernels (below)
  flows | measured flows (below)
  completions | measured times of the first and last completion (below)
  leftOut | held-out systems: runs predicted without values fitted to them (below)
  agreement | comparison of Weir with itself: fidelities, plans, hybrid or bounds
  suites | kind of the suites to combine: steps, collectives, kernels or flows
  expected | required errors
  guard | regression limit of the errors, slightly above their present values
  known | cases known to fail, each with its error and reason
[suite.cases] A measured step
  name | name of the case
  class | class that groups errors
  run | run: a name of the catalog, a file, or a map
  measured | measured values (below)
[suite.cases.measured] Measured values of a case
  step_time_s | duration of a step in seconds
[suite.known] A case that is known to fail
  class | class of the case
  case | name of the case
  error | relative error, predicted / measured - 1
  reason | reason of the failure
[suite.collectives] A run of nccl-tests
  name | name of the run
  system | system: a name of the catalog or a file
  nodes | number of nodes
  gpusPerNode | GPUs per node
  op | collective operation
  nccl | NCCL version, or a map as in `network`, whose settings may also be given in this map
  algorithm | algorithm, if it was forced
  protocol | protocol, if it was forced
  channels | number of channels, if it was forced
  launch | launch mode: process-per-gpu, one-process, threads, waited or graph
[suite.leftOut] Runs of one suite that are predicted with systems whose values were not fitted to
      them
  suite | suite of collectives
  systems | list of systems, each of which replaces its base
[suite.kernels] CSV files of measured kernels
  gpu | GPU of the measurements
  clock | clock of the measurements: burst or sustained
  gemm | CSV file of GEMMs
  attention | CSV file of attention kernels
  memory | CSV file of memory-bound kernels
  embedding | CSV file of embedding look-ups
[suite.flows] Measured flows
  topology | topology file in HPCC's format
  runs | CSV file of the runs' settings
  table | CSV file of flow completion times
  network | packet, switch and congestion control settings
[suite.completions] Measured times of the first and last completion of traffic matrices
  runs | CSV file of runs: topology, matrix, settings, completions
  messages | CSV file of the messages of the matrices
  network | packet, switch and congestion control settings
[calibration] Error bounds of a shortcut: scenarios/calibrations/NAME.yaml, written by weir
      calibrate
  title | one-line title
  command | command that reproduces the file
  version | version of Weir
  reference | fidelity that the shortcut was compared with
  seed | seed of the sample
  scenarios | number of scenarios of the sample
  features | features that assign a scenario to a regime
  regimes | list of regimes (below)
[calibration.regimes] One regime of a calibration
  name | name of the regime
  cases | number of sampled scenarios in it
  ranges | range of each feature, [minimum, maximum] as base-2 logarithms
  intervals | [coverage, lower, upper]
[calibration (measured)] Error bounds against measurements: scenarios/calibrations/measured.yaml
  title | one-line title
  command | command that reproduces the file
  classes | list of classes (below)
[calibration (measured).classes] One class of measured runs
  name | name of the class
  sources | number of clusters, each held out once
  cases | number of measured points
  intervals | [coverage, lower, upper, nested coverage] of ln(measured / estimate)
)";

/** The map @p name of @p maps. @throws std::logic_error when there is none. */
const YamlKeyMap&
MapOf(const Maps& maps, const std::string& name)
{
    const auto found = std::find_if(
        maps.begin(), maps.end(), [&](const YamlKeyMap& map) { return map.name == name; });
    if (found == maps.end())
    {
        throw std::logic_error("YamlKeyMapOf: no map '" + name + "'");
    }
    return *found;
}

Maps
ParseMaps()
{
    Maps maps;
    std::string* help = nullptr; // of the last line
    for (const std::string& line : SplitText(MAPS, '\n'))
    {
        const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
        const std::size_t bar = line.find(" | ");
        if (first > 2)
        {
            *help += line.substr(first - 1);
        }
        else if (first == 0 && !line.empty())
        {
            const std::size_t end = line.find(']');
            maps.push_back(
                {line.substr(1, end - 1), line.substr(std::min(end + 2, line.size())), {}});
            help = &maps.back().help;
        }
        else if (bar != std::string::npos)
        {
            maps.back().keys.push_back({line.substr(first, bar - first), line.substr(bar + 3)});
            help = &maps.back().keys.back().help;
        }
        else if (!line.empty())
        {
            const std::vector<YamlKey> shared = MapOf(maps, line.substr(first)).keys;
            maps.back().keys.insert(maps.back().keys.end(), shared.begin(), shared.end());
        }
    }
    const auto isShared = [](const YamlKeyMap& map) { return map.name.front() == '+'; };
    maps.erase(std::remove_if(maps.begin(), maps.end(), isShared), maps.end());
    return maps;
}

} // namespace

const Maps&
YamlKeyMaps()
{
    static const Maps maps = ParseMaps();
    return maps;
}

const YamlKeyMap&
YamlKeyMapOf(const std::string& name)
{
    return MapOf(YamlKeyMaps(), name);
}

std::vector<std::string>
YamlKeysOf(const std::string& name)
{
    return Mapped<std::string>(YamlKeyMapOf(name).keys, &YamlKey::name);
}

std::string
ReadSource(const YamlNode& node)
{
    const YamlNode source = node.Get("source");
    std::string text = source.AsString();
    if (text.find_first_not_of(' ') == std::string::npos)
    {
        source.Fail("found an empty text, expected the source of the values");
    }
    return text;
}

YamlNode
ReadSourced(const YamlNode& entry)
{
    entry.CheckKeys(YamlKeysOf("sourced"));
    ReadSource(entry);
    return entry.Get("value");
}

} // namespace weir
