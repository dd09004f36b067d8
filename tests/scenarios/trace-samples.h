// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_TRACE_SAMPLES_H
#define WEIR_TESTS_SCENARIOS_TRACE_SAMPLES_H

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * Small traces of every format, written here: formats are facts, while existing files have owners.
 */
namespace weir
{

/** A protobuf message, built field by field. */
class WireWriter
{
  public:
    WireWriter& Number(uint64_t field, uint64_t number)
    {
        Varint(field << 3);
        return Varint(number);
    }

    WireWriter& Text(uint64_t field, const std::string& text)
    {
        Varint(field << 3 | 2);
        Varint(text.size());
        m_bytes += text;
        return *this;
    }

    WireWriter& Varint(uint64_t number)
    {
        for (; number >= 0x80; number >>= 7)
        {
            m_bytes += static_cast<char>(number | 0x80);
        }
        m_bytes += static_cast<char>(number);
        return *this;
    }

    const std::string& Bytes() const
    {
        return m_bytes;
    }

    /** With its length in front, as in a stream of messages. */
    std::string Framed() const
    {
        return WireWriter().Varint(m_bytes.size()).Bytes() + m_bytes;
    }

  private:
    std::string m_bytes;
};

/** Chakra's attribute @p name with a number in the field of its type (9: int64, 27: bool). */
inline std::string
ChakraAttributeOf(const std::string& name, uint64_t number, uint64_t field = 9)
{
    return WireWriter().Text(1, name).Number(field, number).Bytes();
}

/** A node of a Chakra ET; types are 4 (compute), 5 (send), 6 (receive), 7 (collective). */
struct ChakraSample
{
    uint64_t id{0};
    std::string name;
    uint64_t type{4};
    uint64_t micros{0};
    std::vector<uint64_t> needs{};         //!< data dependencies
    std::vector<std::string> attributes{}; //!< from ChakraAttributeOf

    std::string Framed() const
    {
        WireWriter node;
        if (id > 0) // 0 is encoded by absence
        {
            node.Number(1, id);
        }
        node.Text(2, name).Number(3, type);
        for (const uint64_t need : needs)
        {
            node.Number(5, need);
        }
        node.Number(7, micros);
        for (const std::string& attribute : attributes)
        {
            node.Text(10, attribute);
        }
        return node.Framed();
    }
};

/** A complete ET: GlobalMetadata of version 0.0.4, then @p nodes. */
inline std::string
ChakraFile(const std::vector<ChakraSample>& nodes)
{
    std::string bytes = WireWriter().Text(1, "0.0.4").Framed();
    for (const ChakraSample& node : nodes)
    {
        bytes += node.Framed();
    }
    return bytes;
}

/** 10 us of compute, then an all-reduce of @p bytes. */
inline std::string
ChakraStep(uint64_t bytes)
{
    return ChakraFile({{0, "layer", 4, 10, {}, {ChakraAttributeOf("is_cpu_op", 0, 27)}},
                       {1,
                        "all-reduce",
                        7,
                        0,
                        {0},
                        {ChakraAttributeOf("is_cpu_op", 0, 27),
                         ChakraAttributeOf("comm_type", 0),
                         ChakraAttributeOf("comm_size", bytes)}}});
}

/** A node record_param_comms of schema 1.1.0 with its c10d parent and its nccl child. */
inline std::string
HostCallNodes(int id,
              const std::string& name,
              const std::string& inSplits,
              const std::string& outSplits,
              int inCount,
              int outCount,
              int rank)
{
    const auto number = [](int value) { return std::to_string(value); };
    const auto node = [&](int own, const std::string& title, int parent, const std::string& rest) {
        return R"({"id": )" + number(own) + R"(, "name": ")" + title + R"(", "ctrl_deps": )" +
               number(parent) + rest + R"(, "outputs": {"values": [], "shapes": [], "types": []})";
    };
    const std::string none = R"(, "inputs": {"values": [], "shapes": [], "types": []})";
    const std::string values =
        R"(, "inputs": {"values": [[[1, 2, 0, )" + number(inCount) +
        R"(, 4, "cuda:0"]], 3, ["0", "default_pg"], )" + number(rank) + ", \"" + name + "\", " +
        inSplits + ", " + outSplits +
        R"(, 0, 1, 2], "shapes": [], "types": ["GenericList[Tensor(float)]"]})";
    const auto attributes = [&](int record, const std::string& more) {
        return R"(, "attrs": [{"name": "rf_id", "type": "uint64", "value": )" + number(record) +
               "}" + more + "]}";
    };
    const auto text = [](const std::string& key, const std::string& value) {
        return R"(, {"name": ")" + key + R"(", "type": "string", "value": ")" + value + "\"}";
    };
    const auto count = [&](const std::string& key, int value) {
        return R"(, {"name": ")" + key + R"(", "type": "uint64", "value": )" + number(value) + "}";
    };
    return node(id, "c10d::" + name + "_", 1, none) + attributes(100 + id, "") + ",\n" +
           node(id + 1, "record_param_comms", id, values) +
           attributes(100 + id + 1,
                      text("dtype", "Float") + count("in_msg_nelems", inCount) +
                          count("out_msg_nelems", outCount) + text("in_split_size", inSplits) +
                          text("out_split_size", outSplits) + text("pg_name", "0") +
                          text("pg_desc", "default_pg") + count("pg_size", 2) +
                          count("global_rank_start", 0) + count("global_rank_stride", 1)) +
           ",\n" + node(id + 2, "nccl:" + name, id + 1, none) + attributes(100 + id + 2, "");
}

/** An ExecutionTrace of schema 1.1.0 with @p nodes. */
inline std::string
HostTrace(const std::string& nodes)
{
    return R"({"schema": "1.1.0-chakra.0.0.4", "pid": 1, "time": "now", "start_ts": 1,
"finish_ts": 2, "nodes": [
{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "inputs": {"values":
[], "shapes": [], "types": []}, "outputs": {"values": [], "shapes": [], "types": []}, "attrs": []},
)" + nodes +
           "]}";
}

/** An event of a Kineto trace. */
inline std::string
KinetoEventOf(const std::string& category,
              const std::string& name,
              const std::string& ts,
              const std::string& dur,
              const std::string& args)
{
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
           R"(", "pid": 0, "tid": 7, "ts": )" + ts + R"(, "dur": )" + dur + R"(, "args": {)" +
           args + "}}";
}

/**
 * A kernel of 20 us, an all-reduce of 1000 floats on another stream, and a kernel that waits for
 * it. They are launched 0, 5 and 6 us after the start of the file at 1e6 us. @p callArguments are
 * further arguments of the collective's kernel.
 */
inline std::string
KinetoTrace(int rank, const std::string& callArguments)
{
    const std::string kernel = R"("stream": 7, "grid": [10, 1, 1], )";
    const std::string call = R"("stream": 20, "grid": [4, 1, 1], "External id": 9, )";
    return R"({"schemaVersion": 1, "baseTimeNanoseconds": 1, "distributedInfo": {"backend": "nccl",
"rank": )" +
           std::to_string(rank) +
           R"(, "world_size": 2, "pg_config": [{"pg_name": "0", "ranks": [0, 1], "pg_size": 2}]},
"traceEvents": [
)" + KinetoEventOf("cuda_runtime", "cudaLaunchKernel", "1000000", "0", R"("correlation": 1)") +
           ",\n" +
           KinetoEventOf(
               "cuda_runtime", "cudaLaunchKernel", "1000005", "0", R"("correlation": 2)") +
           ",\n" + KinetoEventOf("cuda_runtime", "cudaStreamWaitEvent", "1000005.5", "0", "") +
           ",\n" +
           KinetoEventOf(
               "cuda_runtime", "cudaLaunchKernel", "1000006", "0", R"("correlation": 3)") +
           ",\n" +
           KinetoEventOf("cpu_op",
                         "nccl:all_reduce",
                         "1000004",
                         "2",
                         R"("External id": 9, "Record function id": 112)") +
           ",\n" +
           KinetoEventOf("kernel", "gemm", "1000001.25", "20", kernel + R"("correlation": 1)") +
           ",\n" +
           KinetoEventOf("kernel",
                         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)",
                         "1000022",
                         "50",
                         call + R"("correlation": 2)" + callArguments) +
           ",\n" +
           KinetoEventOf("kernel", "update", "1000073", "5.5", kernel + R"("correlation": 3)") +
           "\n]}";
}

/** Arguments that recent PyTorch versions write for the collective's kernel. */
inline const char* const KINETO_CALL =
    R"(, "Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000,
"Group size": 2, "dtype": "Float", "In split size": "[]", "Out split size": "[]",
"Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]")";

inline const char* const SIMAI_FULL =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 2 ga: 2 "
    "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0\n"
    "2\n"
    "norm\t-1\t1000\tNONE\t0\t1\tNONE\t0\t2000\tREDUCESCATTER\t4096\t100\n"
    "mlp   -1  3000  ALLREDUCE  1024   4000  ALLREDUCE  1024  5000  NONE  0  100  \n";

inline const char* const SIMAI_MICRO = "MICRO\n1\nmicro -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4096 1\n";

inline const char* const AICB_ROWS =
    "[rank0 ~ rank15]\n"
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,"
    "busbw,count\n"
    "CommType.broadcast,CommGroup.dp_group,8,4096,init,None,None,,None,None,None,1\n"
    "CommType.computation,None,None,None,forward.MoE,None,None,,0.25,None,None,1\n"
    "CommType.all_gather,CommGroup.tp_group,2,8192,forward,None,None,,None,None,None,1\n"
    "CommType.barrier,CommGroup.all_nodes,16,0,init,None,None,,None,None,None,1\n"
    "CommType.epoch_end,None,None,None,None,None,None,,None,None,None,1\n";

/** A message and its reply, beside a computation on another CPU. */
inline const char* const GOAL_PAIR =
    "num_ranks 2\n"
    "\n"
    "rank 0 {\n"
    "l1: send 1000b to 1 tag 5\n"
    "l2: recv 8b from 1 tag 6\n"
    "l3: calc 700 cpu 1\n"
    "l3 requires l2\n"
    "l4: calc 10\n"
    "l4 irequires l3\n"
    "}\n"
    "\n"
    "rank 1 {\n"
    "l1: recv 1000b from 0 tag 5\n"
    "l2: send 8b to 0 tag 6 nic 1\n"
    "l2 requires l1\n"
    "}\n";

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_TRACE_SAMPLES_H
