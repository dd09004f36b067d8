// SPDX-License-Identifier: GPL-2.0-only
/**
 * @file
 * Mutated files for every reader. A reader must accept its input or refuse it with a message that
 * names the line or what was expected. Any other exception, a crash, a file left behind, or memory
 * or time above a bound is an error. Equal seeds give equal inputs.
 *
 *   fuzz-readers READER [--inputs N] [--seed S]    N inputs made from files of the catalog
 *   fuzz-readers READER --replay FILE              one input again
 *
 * With the preset sanitize, the program also finds errors that ASan and UBSan detect.
 */
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/random-draws.h"
#include "scenarios/flows/flow-file.h"
#include "scenarios/flows/hpcc-config.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/htsim-topology.h"
#include "scenarios/msccl/read-msccl.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-plan.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/read-traffic.h"
#include "scenarios/topology/graphml.h"
#include "scenarios/topology/nccl-xml.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/traces/goal-schedule.h"
#include "scenarios/traces/import-traces.h"
#include "scenarios/validation/read-suite.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/input-error.h"

#include "../scenarios/trace-samples.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace weir
{

namespace
{

namespace fs = std::filesystem;

constexpr unsigned MAX_SECONDS = 60;            //!< per input, under sanitizers as well
constexpr long MAX_KIB = 3L * 1024 * 1024;      //!< of the whole process
constexpr std::size_t MAX_BYTES = 1'000'000;    //!< of an input
constexpr std::size_t MAX_SEED_BYTES = 200'000; //!< of a file used as a seed

const fs::path SOURCE = WEIR_SOURCE_DIR;

Catalog
OwnCatalog()
{
    return Catalog({(SOURCE / "scenarios").string()});
}

std::string
TextOf(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/** A reader, its seed inputs and the name of its input file. */
struct Target
{
    std::string name;
    std::string file;
    std::function<void(const std::string& path)> read;
    std::vector<std::string> seeds; //!< texts
};

/** Texts of the files of @p folder that end in @p extension, sorted by name. */
std::vector<std::string>
Texts(const fs::path& folder, const std::string& extension)
{
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
    {
        if (entry.path().extension() == extension && entry.file_size() < MAX_SEED_BYTES)
        {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const fs::path& path : paths)
    {
        texts.push_back(TextOf(path));
    }
    return texts;
}

const char* const TRAFFIC = R"(seed: 3
traffic:
  - {pattern: poisson, sizes: fb-hadoop, load: 0.3, duration: 1ms}
  - {pattern: incast, senders: 60, bytes: 500kB, every: 200us, times: 5, start: 100us}
  - {pattern: on-off, on: 1ms, off: 2ms, rate: 1GB/s, spans: fixed, duration: 4ms, endPoints: [1, 2]}
)";

const char* const JOBS = R"(title: all kinds of jobs and events
seed: 7
system: {base: hgx-h100, nodes: 8, fabric: {kind: leaf-spine, leafRadix: 64, leafDown: 16, oversubscription: 2}}
jobs:
  - {name: a, collective: {sequence: [{op: all-gather, bytes: 1GiB}, {op: send, bytes: 8B}], calls: 3, every: 1ms}}
  - {name: b, traffic: {pattern: poisson, sizes: websearch, load: 0.3}, until: a, placement: {leaves: [leaf0]}}
  - {name: c, traffic: {pattern: on-off, on: 1ms, off: 2ms, rate: 1GB/s, duration: 5ms}, placement: across-leaves}
  - {name: d, traffic: {pattern: all-to-all, bytes: 1MB, every: 1ms, times: 9}, gpus: 12, start: 3us}
network: {fidelity: hybrid, packets: {jobs: [b], links: ["leaf0 -> spine0"]}}
events:
  - {kind: link-flap, at: 1ms, from: leaf0, to: "spine0#2", down: 1ms, up: 2ms, times: 3}
  - {kind: random-failures, links: switch-to-switch, meanTimeToFailure: 100ms, meanTimeToRepair: 1ms}
  - {kind: background, at: 1ms, every: 2ms, times: 3, from: node0/gpu0, to: node1/gpu0, bytes: 1GB}
output: {file: a.h5, timeline: true, linkSeries: 10us}
)";

const char* const HPCC_CONFIG = R"(ENABLE_QCN 1
PACKET_PAYLOAD_SIZE 1000
SIMULATOR_STOP_TIME 4.00
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RP_TIMER 300
EWMA_GAIN 0.00390625
RATE_AI 50Mb/s
MIN_RATE 100Mb/s
HAS_WIN 1
GLOBAL_T 1
VAR_WIN 1
LINK_DOWN 0 0 0
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
BUFFER_SIZE 32
)";

std::vector<std::string>
With(std::vector<std::string> texts, const std::vector<std::string>& more)
{
    texts.insert(texts.end(), more.begin(), more.end());
    return texts;
}

/** A small workload of sixteen ranks. */
std::string
WorkloadSample()
{
    return ToText(MakeWorkload(MatchCalls({ReadTrace({"a.csv", AICB_ROWS}, {})}, {})));
}

std::vector<Target>
Targets()
{
    const auto readTrace = [](const std::string& path) {
        TraceOptions options;
        options.dropsDangling = true;
        MakeWorkload(MatchCalls(ReadTraces({path}, options), options));
    };
    const Catalog catalog = OwnCatalog();
    const fs::path data = SOURCE / "scenarios";
    const std::string hpcc =
        "5 1 4\n4\n0 4 100Gbps 0.001ms 0\n1 4 100Gbps 1us 0\n2 4 25Gbps 1us 0\n"
        "3 4 100Gbps 1us 0\n";
    const std::string htsim =
        "Nodes 16\nTiers 2\nPodsize 16\n\nTier 0\nDownlink_speed_Gbps 100\n"
        "Radix_Up 2\nRadix_Down 4\nDownlink_Latency_ns 1000\n\nTier 1\n"
        "Downlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 500\n";
    const ClusterSpec cluster =
        ReadSystem(YamlNode::ParseArgument("hgx-h100", "seed"), catalog).cluster;
    return {
        {"scenario",
         "a.yaml",
         [catalog](const std::string& path) { LoadScenario(path, {}, catalog); },
         With(Texts(data / "runs", ".yaml"), {JOBS})},
        {"system",
         "a.yaml",
         [catalog](const std::string& path) {
             ReadSystem(YamlNode::ParseArgument(path, "--system"), catalog);
         },
         Texts(data / "systems", ".yaml")},
        {"gpu",
         "a.yaml",
         [catalog](const std::string& path) { LoadGpu(path, catalog); },
         Texts(data / "gpus", ".yaml")},
        {"architecture",
         "./a.yaml",
         [catalog](const std::string& path) {
             ReadArchitecture(YamlNode::ParseArgument(path, "architecture"), catalog);
         },
         Texts(data / "architectures", ".yaml")},
        {"host",
         "./a.yaml",
         [catalog](const std::string& path) {
             ReadHost(YamlNode::ParseArgument(path, "host"), catalog);
         },
         Texts(data / "hosts", ".yaml")},
        {"transport",
         "./a.yaml",
         [catalog](const std::string& path) {
             ReadTransport(YamlNode::ParseArgument(path, "transport"), catalog);
         },
         Texts(data / "transports", ".yaml")},
        {"framework",
         "./a.yaml",
         [catalog](const std::string& path) {
             ReadFramework(YamlNode::ParseArgument(path, "framework"), catalog);
         },
         Texts(data / "frameworks", ".yaml")},
        {"suite",
         "suite.yaml",
         [catalog](const std::string& path) { LoadSuite(path, catalog); },
         Texts(SOURCE / "validation", ".yaml")},
        {"calibration",
         "a.yaml",
         [catalog](const std::string& path) { ReadCalibration(path, catalog); },
         Texts(data / "calibrations", ".yaml")},
        {"traffic",
         "a.yaml",
         [catalog](const std::string& path) { LoadTrafficFile(path, catalog); },
         {TRAFFIC}},
        {"flow-sizes",
         "./a.yaml",
         [catalog](const std::string& path) { LoadFlowSizes(path, catalog); },
         Texts(data / "flow-sizes", ".yaml")},
        {"flow-size-rows",
         "a.txt",
         [catalog](const std::string& path) { LoadFlowSizes(path, catalog); },
         {"# rows\n0 0\n100 1.5\n1000 50\n30000 100\n"}},
        {"flows",
         "a.txt",
         [](const std::string& path) {
             FlowFile file(path);
             for (FlowRow row; file.Next(row);)
             {
             }
         },
         {"2\n0 1 3 100 1000 0.1\n1 2 3 100 5000 2.5e-3\n",
          "2\n0 1 3 1000 0.1\n1 2 3 5000 2\n",
          "src,dst,bytes,start_s\n0,1,1000,0\n1,2,5,1e-3\n",
          "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1000\n1->2 start 5 size 77\n"}},
        {"hpcc-topology", "a.txt", [](const std::string& path) { ReadHpccTopology(path); }, {hpcc}},
        {"hpcc-config",
         "config.txt",
         [](const std::string& path) {
             Topology topology;
             const DeviceId host = topology.AddDevice(DeviceKind::Host, "0");
             const DeviceId other = topology.AddDevice(DeviceKind::Host, "1");
             const DeviceId hub = topology.AddDevice(DeviceKind::LeafSwitch, "2");
             for (const DeviceId each : {host, other})
             {
                 topology.AddDuplexLink(
                     each, hub, LinkKind::Network, Rate::Gbps(100), Time::Microseconds(1));
             }
             ReadPackets(HpccConfig(path).Network(topology));
         },
         {HPCC_CONFIG}},
        {"htsim-topology",
         "a.topo",
         [](const std::string& path) { ReadHtsimTopology(path); },
         {htsim}},
        {"graph",
         "a.yaml",
         [](const std::string& path) { ReadGraph(path, LinkProfile()); },
         Texts(data / "graphs", ".yaml")},
        {"graphml",
         "a.graphml",
         [catalog](const std::string& path) { ReadGraphMl(path, catalog); },
         {WriteGraphMl(cluster)}},
        {"nccl-topology",
         "a.xml",
         [](const std::string& path) { ReadNcclXml(path); },
         {WriteNcclXml(cluster)}},
        {"msccl",
         "a.xml",
         [](const std::string& path) { ReadMscclFile(path); },
         Texts(data / "msccl", ".xml")},
        {"chakra",
         "a.0.et",
         readTrace,
         {ChakraStep(4096), ChakraFile({{3, "x", 6, 2, {1}, {ChakraAttributeOf("comm_src", 1)}}})}},
        {"pytorch",
         "rank-0.json",
         readTrace,
         {HostTrace(HostCallNodes(10, "all_to_allv", "[1, 3]", "[2, 2]", 40, 40, 0)),
          KinetoTrace(0, KINETO_CALL),
          R"({"workload_graph": [{"Id": 1, "Name": "a", "NodeType": 7, "data_deps": [0]}]})"}},
        {"simai", "a.txt", readTrace, {SIMAI_FULL, SIMAI_MICRO}},
        {"aicb", "a.csv", readTrace, {AICB_ROWS}},
        {"goal", "a.goal", readTrace, {GOAL_PAIR, ToGoalBinary(ReadGoal({"a.goal", GOAL_PAIR}))}},
        {"workload",
         "a.json",
         [](const std::string& path) { ReadWorkload(path); },
         {WorkloadSample()}},
    };
}

/** Parts of numbers, keys and structure, and known sources of errors. */
const std::vector<std::string> TOKENS{"0",
                                      "-1",
                                      "1",
                                      "2",
                                      "65536",
                                      "2147483648",
                                      "4294967295",
                                      "9223372036854775807",
                                      "18446744073709551616",
                                      "1e308",
                                      "1e-320",
                                      "nan",
                                      "inf",
                                      "-0",
                                      "0x7f",
                                      "0.5",
                                      "1e9",
                                      "{",
                                      "}",
                                      "[",
                                      "]",
                                      ":",
                                      ",",
                                      "- ",
                                      "\n",
                                      "\n  ",
                                      "\"",
                                      "'",
                                      "#",
                                      "&a",
                                      "*a",
                                      "<<: ",
                                      "!!binary ",
                                      "|",
                                      ">",
                                      "?",
                                      "~",
                                      "null",
                                      "true",
                                      "GiB",
                                      "ms",
                                      "Gbps",
                                      "%",
                                      "->",
                                      "<",
                                      "/>",
                                      "</",
                                      "&#0;",
                                      "&lt;",
                                      "<!--",
                                      "\t",
                                      std::string(1, '\0'),
                                      "\x1b[2J",
                                      "\xff\xfe",
                                      "\xc3\x28"};

class Mutator
{
  public:
    Mutator(const std::vector<std::string>& seeds, uint64_t seed, uint64_t input)
        : m_seeds(seeds),
          m_draws(seed, input)
    {
    }

    std::string Make()
    {
        std::string text = m_draws.OneOf(m_seeds);
        for (uint64_t left = 1 + m_draws.Bits() % 6; left > 0; left--)
        {
            Mutate(text);
        }
        text.resize(std::min(text.size(), MAX_BYTES));
        return text;
    }

  private:
    std::size_t Below(std::size_t count)
    {
        return count == 0 ? 0 : static_cast<std::size_t>(m_draws.Bits() % count);
    }

    /**
     * Extent of a number of the text as [begin, end), the first at or after a random position;
     * empty if there is none.
     */
    std::pair<std::size_t, std::size_t> Number(const std::string& text)
    {
        const std::size_t begin = text.find_first_of("0123456789", Below(text.size()));
        if (begin == std::string::npos)
        {
            return {0, 0};
        }
        const std::size_t end = text.find_first_not_of("0123456789.e", begin);
        return {begin, end == std::string::npos ? text.size() : end};
    }

    void Mutate(std::string& text)
    {
        const std::size_t at = Below(text.size() + 1);
        const std::size_t length = 1 + Below(Below(2) == 0 ? 8 : 200);
        switch (m_draws.Bits() % 9)
        {
        case 0:
            text.insert(at, m_draws.OneOf(TOKENS));
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.insert(at, text.substr(Below(text.size() + 1), length));
            break;
        case 3:
            text.resize(at);
            break;
        case 4:
            if (at < text.size())
            {
                text[at] = static_cast<char>(text[at] ^ 1 << Below(8));
            }
            break;
        case 5: { // moves a line
            const std::size_t line = text.find('\n', at);
            const std::size_t next = line == std::string::npos ? line : text.find('\n', line + 1);
            if (next != std::string::npos)
            {
                const std::string moved = text.substr(line, next - line);
                text.erase(line, next - line);
                text.insert(Below(text.size() + 1), moved);
            }
            break;
        }
        case 6: { // from another file
            const std::string& other = m_draws.OneOf(m_seeds);
            text.insert(at, other.substr(Below(other.size() + 1), length * 4));
            break;
        }
        default: {
            const auto [begin, end] = Number(text);
            text.replace(begin, end - begin, m_draws.OneOf(TOKENS));
        }
        }
    }

    const std::vector<std::string>& m_seeds;
    RandomDraws m_draws;
};

/** How @p target violated the contract for the file; empty if it did not. */
std::string
Judge(const Target& target, const std::string& path)
{
    alarm(MAX_SECONDS); // ends the process: ctest reports SIGALRM
    std::string wrong;
    try
    {
        target.read(path);
    }
    catch (const InputError& error)
    {
        const std::string text = error.what();
        const bool isPlaced = text.rfind(path + ":", 0) == 0 && text.size() > path.size() + 1 &&
                              std::isdigit(static_cast<unsigned char>(text[path.size() + 1])) != 0;
        if (!isPlaced && text.find("expected") == std::string::npos)
        {
            wrong = "a message without a line and without what was expected: " + text;
        }
    }
    catch (const std::exception& error)
    {
        wrong = "another exception than InputError: " + std::string(error.what());
    }
    alarm(0);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss > MAX_KIB)
    {
        wrong = "more memory than " + std::to_string(MAX_KIB) + " KiB";
    }
    return wrong;
}

int
Fuzz(const Target& target, uint64_t inputs, uint64_t seed)
{
    const fs::path folder =
        fs::temp_directory_path() / ("weir-fuzz-" + target.name + "-" + std::to_string(getpid()));
    fs::create_directories(folder);
    fs::current_path(folder);
    for (uint64_t input = 0; input < inputs; input++)
    {
        std::ofstream(target.file, std::ios::binary)
            << Mutator(target.seeds, seed, input).Make() << std::flush;
        std::string wrong = Judge(target, target.file);
        if (std::distance(fs::directory_iterator(folder), fs::directory_iterator()) != 1)
        {
            wrong = "a file left behind";
        }
        if (!wrong.empty())
        {
            std::cerr << target.name << ": input " << input << " of seed " << seed << " ("
                      << (folder / target.file).string() << "): found " << wrong << "\n";
            return 1;
        }
    }
    fs::current_path("/");
    fs::remove_all(folder);
    std::cout << target.name << ": " << inputs << " inputs of seed " << seed << ", "
              << target.seeds.size() << " files\n";
    return 0;
}

int
Main(const std::vector<std::string>& arguments)
{
    const auto value = [&](const std::string& name, const std::string& absent) {
        const auto at = std::find(arguments.begin(), arguments.end(), name);
        return at == arguments.end() || at + 1 == arguments.end() ? absent : *(at + 1);
    };
    const uint64_t inputs = std::strtoull(value("--inputs", "1000").c_str(), nullptr, 10);
    const uint64_t seed = std::strtoull(value("--seed", "1").c_str(), nullptr, 10);
    const std::string replay = value("--replay", "");
    std::string names;
    for (const Target& target : Targets())
    {
        names += " " + target.name;
        if (arguments.empty() || arguments.front() != target.name)
        {
            continue;
        }
        if (replay.empty())
        {
            return Fuzz(target, inputs, seed);
        }
        const std::string wrong = Judge(target, replay);
        std::cout << (wrong.empty() ? "nothing wrong" : wrong) << "\n";
        return wrong.empty() ? 0 : 1;
    }
    std::cerr << "fuzz-readers: expected one of:" << names << "\n";
    return 2;
}

} // namespace

} // namespace weir

int
main(int argc, char** argv)
{
    return weir::Main({argv + 1, argv + argc});
}
