// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-formats.h"

#include "scenarios/traces/collective-fields.h"
#include "scenarios/workload/workload-file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace weir
{

namespace
{

constexpr int64_t ANY_NUMBER = std::numeric_limits<int64_t>::max();

/** A GPU event before its conversion; times in microseconds of the file's clock. */
struct KinetoEvent
{
    TraceEvent event;
    double begin{0};
    double end{0};
    int64_t correlation{-1};
    int64_t external{-1};
    double launch{-1}; //!< end of the call that launched it; -1: none
    bool isAfterWait{
        false}; //!< cudaStreamWaitEvent was called between the launch before and its own
};

struct KinetoCall
{
    double begin{0};
    double end{0};
    int64_t thread{0};
    int64_t correlation{-1};
    bool isWait{false};          //!< a cudaStreamWaitEvent call
    bool isSynchronizing{false}; //!< the CPU waits for the GPU
};

class KinetoReader
{
  public:
    explicit KinetoReader(const TraceBytes& file)
        : m_bytes(file.bytes)
    {
        m_file.path = file.name;
        m_rank.file = file.name;
    }

    TraceFile Read()
    {
        const Json rest = Parse();
        ReadDistribution(rest);
        if (!m_rank.rank)
        {
            m_rank.rank = RankOfFileName(m_file.path);
        }
        FindLaunches();
        std::stable_sort(m_events.begin(), m_events.end(), [](const auto& a, const auto& b) {
            return a.begin < b.begin;
        });
        SetTimes();
        SetDependencies();
        Finish(rest);
        return std::move(m_file);
    }

  private:
    /**
     * Handles events while parsing, so that they are never all in memory.
     * @return the rest of the file.
     */
    Json Parse()
    {
        bool areEvents = BeginsWithOneOf("[", m_bytes);
        const int depthOfEvents = areEvents ? 1 : 2;
        const auto take = [&](int depth, Json::parse_event_t kind, Json& parsed) {
            if (kind == Json::parse_event_t::key && depth == 1 && depthOfEvents == 2)
            {
                areEvents = parsed == "traceEvents";
            }
            if (kind != Json::parse_event_t::object_end || depth != depthOfEvents || !areEvents)
            {
                return true;
            }
            Take(parsed);
            return false;
        };
        return ParseJson(m_bytes, m_file.path, "a Kineto trace", take);
    }

    void Take(const Json& item)
    {
        const std::string location = m_file.path + ": event " + std::to_string(m_file.nodes);
        m_file.nodes++;
        const Json* phase = FindField(item, "ph");
        const Json* category = FindField(item, "cat");
        if (phase == nullptr || *phase != "X" || category == nullptr || !category->is_string())
        {
            m_file.dropped["marks, arrows and names"]++;
            return;
        }
        const auto& kind = category->get_ref<const std::string&>();
        const Json* arguments = FindField(item, "args");
        const Json none = Json::object();
        const Json& args = arguments == nullptr ? none : *arguments;
        if (kind == "kernel" || kind == "Kernel" || kind == "gpu_memcpy" || kind == "Memcpy" ||
            kind == "gpu_memset" || kind == "Memset")
        {
            TakeGpuEvent(item, args, kind == "kernel" || kind == "Kernel", location);
        }
        else if (kind == "cuda_runtime" || kind == "cuda_driver" || kind == "Runtime")
        {
            TakeCall(item, args, location);
            m_file.dropped["CUDA calls (launch times are kept)"]++;
        }
        else
        {
            const Json* external = FindField(args, "External id");
            const Json* record = FindField(args, "Record function id");
            if (external != nullptr && record != nullptr)
            {
                m_recordOf[IntegerOf(*external, 0, ANY_NUMBER, location)] =
                    static_cast<uint64_t>(IntegerOf(*record, 0, ANY_NUMBER, location));
            }
            m_file.dropped[kind.substr(0, 40)]++;
        }
    }

    static double NumberOf(const Json& item, const char* key, const std::string& location)
    {
        const Json& value = FieldOf(item, key, location);
        const double number = value.is_number() ? value.get<double>() : -1;
        constexpr double MAX_MICROSECONDS = 1e17; // the year 5138
        if (!(number >= 0) || number > MAX_MICROSECONDS)
        {
            throw InputError(location + ", " + key + ": " + FoundText(value) +
                             ", expected microseconds");
        }
        return number;
    }

    void TakeGpuEvent(const Json& item,
                      const Json& args,
                      bool isKernel,
                      const std::string& location)
    {
        KinetoEvent each;
        each.begin = NumberOf(item, "ts", location);
        each.end = each.begin + NumberOf(item, "dur", location);
        each.correlation = IntegerOf(args, "correlation", -1, -1, ANY_NUMBER, location);
        const int64_t old = IntegerOf(args, "external id", -1, -1, ANY_NUMBER, location);
        each.external = IntegerOf(args, "External id", old, -1, ANY_NUMBER, location);
        TraceEvent& event = each.event;
        event.position = m_file.nodes - 1;
        event.id = "event " + std::to_string(event.position);
        event.name = TextOf(item, "name", "", location);
        event.kind = TraceEventKind::Compute;
        event.stream = IntegerOf(args, "stream", 0, 0, ANY_NUMBER, location);
        m_file.kernels += isKernel ? 1 : 0;
        m_file.dropped["copies and fills (played as kernels)"] += isKernel ? 0 : 1;
        if (const Json* grid = FindField(args, "grid");
            grid != nullptr && grid->is_array() && !grid->empty())
        {
            event.channels = static_cast<uint32_t>(
                IntegerOf((*grid)[0], 0, std::numeric_limits<int32_t>::max(), location + ", grid"));
        }
        const bool isNccl = isKernel && event.name.compare(0, 4, "nccl") == 0;
        if (isNccl)
        {
            TakeCollective(args, location, event);
        }
        m_events.push_back(std::move(each));
    }

    void TakeCollective(const Json& args, const std::string& location, TraceEvent& event)
    {
        const Json* named = FindField(args, "Collective name");
        const std::string name = named == nullptr ? event.name : TextOf(*named, location);
        // Fall back on the kernel name, in which the operation precedes the algorithm and the
        // reduction.
        if (!SetCallByName(event, name))
        {
            SetCallByName(event, event.name);
        }
        if (event.kind == TraceEventKind::Compute)
        {
            return;
        }
        if (event.kind != TraceEventKind::Collective)
        {
            event.kind = TraceEventKind::Compute; // no peer is recorded: keep the recorded time
            m_unpaired++;
            return;
        }
        if (named == nullptr)
        {
            m_rank.groups.try_emplace("");
            return;
        }
        event.dtype = TextOf(args, "dtype", "", location);
        const int64_t each = ElementBytes(event.dtype); // 0: the size is unknown
        const int64_t max = MAX_EVENT_BYTES / std::max<int64_t>(1, each);
        event.in = Bytes(each * IntegerOf(args, "In msg nelems", 0, 0, max, location));
        event.out = Bytes(each * IntegerOf(args, "Out msg nelems", 0, 0, max, location));
        event.group = TextOf(args, "Process Group Name", "", location);
        event.category = CategoryOfGroup(TextOf(args, "Process Group Description", "", location));
        TraceGroup& group = m_rank.groups[event.group];
        group.size = static_cast<uint32_t>(IntegerOf(
            args, "Group size", 0, 0, static_cast<int64_t>(MAX_WORKLOAD_RANKS), location));
        if (group.ranks.empty())
        {
            SetRanks(
                FindField(args, "Process Group Ranks"), location + ", Process Group Ranks", group);
        }
        const auto partsOf = [&](const char* key) {
            const Json* parts = FindField(args, key);
            m_abbreviated += IsAbbreviated(parts) ? 1 : 0;
            return NumbersOf(parts, MAX_EVENT_BYTES, location + ", " + key);
        };
        const auto inParts = partsOf("In split size");
        SetSplits(event, inParts, partsOf("Out split size"));
    }

    void TakeCall(const Json& item, const Json& args, const std::string& location)
    {
        KinetoCall call;
        call.begin = NumberOf(item, "ts", location);
        call.end = call.begin + NumberOf(item, "dur", location);
        const Json* thread = FindField(item, "tid");
        call.thread = thread != nullptr && thread->is_number_integer() ? thread->get<int64_t>() : 0;
        call.correlation = IntegerOf(args, "correlation", -1, -1, ANY_NUMBER, location);
        const std::string name = TextOf(item, "name", "", location);
        call.isWait = name.find("StreamWaitEvent") != std::string::npos;
        call.isSynchronizing = name.find("Synchronize") != std::string::npos;
        m_calls.push_back(call);
    }

    void ReadDistribution(const Json& rest)
    {
        const Json* found = FindField(rest, "distributedInfo");
        if (found == nullptr)
        {
            return;
        }
        const std::string location = m_file.path + ": distributedInfo";
        const Json info =
            found->is_string() ? ParseJson(found->get<std::string>(), location) : Json(*found);
        constexpr auto LAST = static_cast<int64_t>(MAX_WORKLOAD_RANKS) - 1;
        const int64_t rank = IntegerOf(info, "rank", -1, -1, LAST, location);
        if (rank >= 0)
        {
            m_rank.rank = static_cast<uint32_t>(rank);
        }
        m_rank.world =
            static_cast<uint32_t>(IntegerOf(info, "world_size", 0, 0, LAST + 1, location));
        if (const Json* groups = FindField(info, "pg_config");
            groups != nullptr && groups->is_array())
        {
            AddProcessGroups(*groups, location, m_rank);
        }
    }

    /**
     * Matches launches to events by correlation id, and records waits of streams and of the CPU.
     */
    void FindLaunches()
    {
        std::stable_sort(m_calls.begin(), m_calls.end(), [](const auto& a, const auto& b) {
            return a.begin < b.begin;
        });
        std::unordered_map<int64_t, std::size_t> byCorrelation;
        for (std::size_t i = 0; i < m_events.size(); i++)
        {
            byCorrelation.emplace(m_events[i].correlation, i);
        }
        std::map<int64_t, bool> hasWaited; // by thread
        for (const KinetoCall& call : m_calls)
        {
            if (call.isWait)
            {
                hasWaited[call.thread] = true;
            }
            if (call.isSynchronizing)
            {
                m_synchronized.push_back(call.end);
            }
            const auto launched = byCorrelation.find(call.correlation);
            if (call.correlation >= 0 && launched != byCorrelation.end())
            {
                KinetoEvent& event = m_events[launched->second];
                event.launch = call.end;
                event.isAfterWait = std::exchange(hasWaited[call.thread], false);
            }
        }
    }

    /** The end of the call that launched @p each; its begin if it has none, or began before. */
    static double LaunchOf(const KinetoEvent& each)
    {
        return each.launch >= 0 ? std::min(each.launch, each.begin) : each.begin;
    }

    /**
     * For each synchronization the time from which the launches after it count: the end of the
     * last event that was launched before it, but at the latest the end of the call itself.
     */
    std::vector<double> EpochBases() const
    {
        std::vector<std::pair<double, double>> ends; // by launch
        for (const KinetoEvent& each : m_events)
        {
            ends.emplace_back(LaunchOf(each), each.end);
        }
        std::sort(ends.begin(), ends.end());
        std::vector<double> bases;
        double last = 0;
        std::size_t i = 0;
        for (const double synchronized : m_synchronized)
        {
            for (; i < ends.size() && ends[i].first < synchronized; i++)
            {
                last = std::max(last, ends[i].second);
            }
            bases.push_back(std::min(last, synchronized));
        }
        return bases;
    }

    void SetTimes()
    {
        double origin = std::numeric_limits<double>::infinity();
        std::size_t unlaunched = 0;
        for (const KinetoEvent& each : m_events)
        {
            origin = std::min(origin, LaunchOf(each));
            unlaunched += each.launch < 0 ? 1 : 0;
        }
        std::sort(m_synchronized.begin(), m_synchronized.end());
        const std::vector<double> bases = EpochBases();
        for (KinetoEvent& each : m_events)
        {
            TraceEvent& event = each.event;
            event.begin = Time::Microseconds(each.begin - origin);
            event.duration = Time::Microseconds(each.end - each.begin);
            const double launch = LaunchOf(each);
            const auto after =
                std::upper_bound(m_synchronized.begin(), m_synchronized.end(), launch);
            // A synchronization before the first launch does not start an epoch.
            const auto firstOne =
                std::lower_bound(m_synchronized.begin(), m_synchronized.end(), origin);
            event.epoch = static_cast<uint32_t>(std::max<std::ptrdiff_t>(0, after - firstOne));
            const double base =
                event.epoch == 0 ? origin : bases[after - 1 - m_synchronized.begin()];
            event.launch = each.launch < 0 ? Time() : Time::Microseconds(launch - base);
        }
        m_file.origin = m_events.empty() ? 0 : origin;
        AddRemark(unlaunched,
                  "GPU events have no launch with their correlation: they are assumed to be "
                  "launched well ahead",
                  m_file.remarks);
    }

    /** The stream with the most kernels that are not collectives. */
    int64_t MainStream() const
    {
        std::map<int64_t, std::size_t> counts;
        for (const KinetoEvent& each : m_events)
        {
            counts[each.event.stream] += each.event.IsCommunication() ? 0 : 1;
        }
        const auto max = std::max_element(
            counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; });
        return max == counts.end() ? 0 : max->first;
    }

    void SetDependencies()
    {
        const int64_t mainStream = MainStream();
        std::vector<uint32_t> kernels; // of the main stream, so far
        std::vector<uint32_t> calls;   // collectives, so far
        std::map<int64_t, double> idleSince;
        for (uint32_t i = 0; i < m_events.size(); i++)
        {
            KinetoEvent& each = m_events[i];
            const double before = idleSince[each.event.stream];
            idleSince[each.event.stream] = each.end;
            if (each.event.IsCommunication())
            {
                AddLast(kernels, i, each.launch);
                calls.push_back(i);
                continue;
            }
            constexpr double GAP = 2; // us; maximum delay of a dependency (H200: 1.8 us)
            const double ready = std::max(before, each.launch);
            const bool hasIdled = each.launch >= 0 && each.begin > ready + GAP && before > 0;
            if (each.event.stream != mainStream)
            {
                AddLast(kernels, i, each.launch);
            }
            if (each.isAfterWait || hasIdled)
            {
                AddLast(calls, i, each.launch);
            }
            if (each.event.stream == mainStream)
            {
                kernels.push_back(i);
            }
        }
    }

    /**
     * Makes event @p to depend on the last of @p candidates that ended before it began and was
     * launched no later than @p launch.
     */
    void AddLast(const std::vector<uint32_t>& candidates, uint32_t to, double launch)
    {
        constexpr std::size_t LOOK_BACK = 256;
        const std::size_t min = candidates.size() - std::min(candidates.size(), LOOK_BACK);
        for (std::size_t i = candidates.size(); i > min; i--)
        {
            const KinetoEvent& from = m_events[candidates[i - 1]];
            if (from.end <= m_events[to].begin && (launch < 0 || from.launch <= launch))
            {
                m_events[to].event.after.push_back(candidates[i - 1]);
                return;
            }
        }
    }

    void Finish(const Json& rest)
    {
        for (std::size_t i = 0; i < m_events.size(); i++)
        {
            KinetoEvent& each = m_events[i];
            const auto record = m_recordOf.find(each.external);
            if (record != m_recordOf.end())
            {
                m_rank.recordIds[static_cast<uint32_t>(i)] = record->second;
            }
            m_rank.events.push_back(std::move(each.event));
        }
        if (m_file.dropped["copies and fills (played as kernels)"] == 0)
        {
            m_file.dropped.erase("copies and fills (played as kernels)");
        }
        AddRemark(m_unpaired, UNPAIRED, m_file.remarks);
        AddRemark(m_abbreviated, ABBREVIATED, m_file.remarks);
        const int64_t schema = IntegerOf(rest, "schemaVersion", 0, 0, ANY_NUMBER, m_file.path);
        const bool isFine = FindField(rest, "baseTimeNanoseconds") != nullptr;
        m_file.dialect = "Kineto (schemaVersion " + std::to_string(schema) +
                         (isFine ? ", ns resolution)" : ", us resolution)");
        m_file.isKernelTrace = true;
        m_rank.isOrdered = true;
        m_file.ranks.push_back(std::move(m_rank));
    }

    const std::string& m_bytes;
    TraceFile m_file;
    RankTrace m_rank;
    std::vector<KinetoEvent> m_events;
    std::vector<KinetoCall> m_calls;
    std::vector<double> m_synchronized; //!< ends of calls in which the CPU waited for the GPU
    std::unordered_map<int64_t, uint64_t> m_recordOf; //!< Record function id by External id
    std::size_t m_unpaired{0};
    std::size_t m_abbreviated{0}; //!< number of lists of splits
};

} // namespace

TraceFile
ReadKineto(const TraceBytes& file)
{
    return KinetoReader(file).Read();
}

} // namespace weir
