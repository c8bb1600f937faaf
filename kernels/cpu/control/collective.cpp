// Collective ops and NCCL ops: input `i` comes from the member of rank i, output `i` goes to member
// i in the order of devices (lib/exec/collectives.h). An NcclReduce node itself has the inputs of
// all members.
#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "lib/exec/collectives.h"
#include "lib/exec/kernel.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

using CollectiveTypes = TypeList<float, double, Eigen::half, Eigen::bfloat16, int32_t, int64_t>;

enum class Way { kAdd, kMul, kMax, kMin, kNone };

using PairLoop = void (*)(Way way, void* to, const void* from, int64_t n);
template <typename T>
void MergePair(Way way, void* pto, const void* pfrom, int64_t n) {
  T* to = static_cast<T*>(pto);
  const T* from = static_cast<const T*>(pfrom);
  auto each = [&](auto f) {
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) to[i] = f(to[i], from[i]);
  };
  if (way == Way::kAdd) each([](T a, T b) { return AddOf(a, b); });
  if (way == Way::kMul) each([](T a, T b) { return MulOf(a, b); });
  if (way == Way::kMax) each([](T a, T b) { return a < b ? b : a; });
  if (way == Way::kMin) each([](T a, T b) { return b < a ? b : a; });
}

using DivideLoop = void (*)(void* values, int64_t by, int64_t n);
template <typename T>
void Divide(void* values, int64_t by, int64_t n) {
  T *at = static_cast<T*>(values), divisor = static_cast<T>(by);
  for (int64_t i = 0; i < n; ++i) at[i] = at[i] / divisor;
}

struct Reduction {
  Way way;
  bool is_mean;
  PairLoop merge;
  DivideLoop divide;

  // Accepts the names of TensorFlow's ops, such as "Add" and "Div", and NCCL's, such as "sum".
  static Expected<Reduction> Of(const KernelSetup& setup) {
    const Node& node = setup.node();
    bool is_nccl = node.op().starts_with("Nccl");
    bool has_final_op = !is_nccl && !node.op().ends_with("V3");
    std::string name = node.GetString(has_final_op ? "merge_op" : "reduction");
    Way way = llvm::StringSwitch<Way>(name)
                  .Cases("Add", "sum", Way::kAdd)
                  .Cases("Mul", "prod", Way::kMul)
                  .Cases("Max", "max", Way::kMax)
                  .Cases("Min", "min", Way::kMin)
                  .Default(Way::kNone);
    if (way == Way::kNone)
      return MakeError("reduction '{0}' is not one of Add, Mul, Max, Min, sum, prod, max and min",
                       name);
    std::string final_op = node.GetString("final_op");
    if (has_final_op && final_op != "Id" && final_op != "Div")
      return MakeError("final_op '{0}' is neither Id nor Div", final_op);
    Reduction made{way, final_op == "Div", nullptr, nullptr};
    DataType type = setup.output_type(0);
    made.merge = ForType(type, CollectiveTypes(), [](auto tag) -> PairLoop {
      return &MergePair<typename decltype(tag)::type>;
    });
    made.divide = ForType(type, CollectiveTypes(), [](auto tag) -> DivideLoop {
      return &Divide<typename decltype(tag)::type>;
    });
    if (!made.merge) return MakeError("no kernel for dtype {0}", DataTypeName(type));
    return made;
  }

  // Merges all inputs in rank order, so that the result does not depend on arrival order.
  Expected<Tensor> Run(KernelContext& ctx) const {
    const Tensor& first = ctx.input(0);
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).dims() != first.dims())
        return MakeError(
            "inputs must have the same shape: input 0 has shape {0}, input {1} has shape {2}",
            DimsText(first.dims()), i, DimsText(ctx.input(i).dims()));
    }
    ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(first.dtype(), first.dims(), ctx.allocator()));
    size_t size = DataTypeSize(first.dtype());
    std::copy_n(static_cast<const char*>(first.raw()), first.byte_size(),
                static_cast<char*>(sum.raw()));
    // Blocks that stay in the L1 cache while all inputs are merged into them.
    constexpr int64_t kBlock = 4096;
    ctx.ParallelFor(sum.num_elements(), 0.3 * ctx.num_inputs(), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; at += kBlock) {
        int64_t n = std::min(kBlock, end - at);
        char* to = static_cast<char*>(sum.raw()) + at * size;
        for (int i = 1; i < ctx.num_inputs(); ++i)
          merge(way, to, static_cast<const char*>(ctx.input(i).raw()) + at * size, n);
        if (is_mean) divide(to, ctx.num_inputs(), n);
      }
    });
    return sum;
  }
};

Expected<KernelFn> MakeReduce(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Reduction reduction, Reduction::Of(setup));
  return KernelFn([reduction](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor merged, reduction.Run(ctx));
    for (int i = 0; i < ctx.num_outputs(); ++i) ctx.SetOutput(i, merged);
    return Error::success();
  });
}

Error NeedsParts(const Tensor& value, int64_t members, const char* what) {
  if (value.rank() > 0 && value.dim(0) % members == 0) return Error::success();
  return MakeError(
      "{0}: expected a first dimension that is divisible by the number of members, {2}, got shape "
      "{1}",
      what, DimsText(value.dims()), members);
}

Expected<KernelFn> MakeReduceScatter(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Reduction reduction, Reduction::Of(setup));
  return KernelFn([reduction](KernelContext& ctx) -> Error {
    int members = ctx.num_outputs();
    RETURN_IF_ERROR(NeedsParts(ctx.input(0), members, "reduce and scatter"));
    ASSIGN_OR_RETURN(Tensor merged, reduction.Run(ctx));
    int64_t rows = merged.dim(0) / members;
    for (int i = 0; i < members; ++i) ctx.SetOutput(i, merged.Slice(i * rows, (i + 1) * rows));
    return Error::success();
  });
}

// Concatenates blocks of rows of the inputs: choose(n) returns (input, block) for the n-th of
// `count` blocks.
template <typename Choose>
Expected<Tensor> Assemble(KernelContext& ctx, int64_t rows, int count, Choose choose) {
  const Tensor& first = ctx.input(0);
  Dims dims(first.dims().begin(), first.dims().end());
  dims[0] = rows * count;
  ASSIGN_OR_RETURN(Tensor made, Tensor::Allocate(first.dtype(), dims, ctx.allocator()));
  char* to = static_cast<char*>(made.raw());
  size_t bytes = first.dim(0) == 0 ? 0 : first.byte_size() / first.dim(0) * rows;
  for (int n = 0; n < count; ++n, to += bytes) {
    auto [input, block] = choose(n);
    std::copy_n(static_cast<const char*>(ctx.input(input).raw()) + block * bytes, bytes, to);
  }
  return made;
}

Expected<KernelFn> MakeGather(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    if (ctx.input(0).rank() == 0) return MakeError("scalars cannot be gathered");
    ASSIGN_OR_RETURN(Tensor all, Assemble(ctx, ctx.input(0).dim(0), ctx.num_inputs(),
                                          [](int n) { return std::pair<int, int64_t>(n, 0); }));
    for (int i = 0; i < ctx.num_outputs(); ++i) ctx.SetOutput(i, all);
    return Error::success();
  });
}

Expected<KernelFn> MakeAllToAll(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    int members = ctx.num_outputs();
    RETURN_IF_ERROR(NeedsParts(ctx.input(0), members, "all to all"));
    for (int rank = 0; rank < members; ++rank) {
      ASSIGN_OR_RETURN(Tensor mine,
                       Assemble(ctx, ctx.input(0).dim(0) / members, members,
                                [rank](int n) { return std::pair<int, int64_t>(n, rank); }));
      ctx.SetOutput(rank, std::move(mine));
    }
    return Error::success();
  });
}

Expected<KernelFn> MakeBroadcast(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    int sender = -1;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      if (!ctx.input(i)) continue;
      if (sender >= 0)
        return MakeError("members {0} and {1} both send, but only one member may send", sender, i);
      sender = i;
    }
    for (int i = 0; i < ctx.num_outputs(); ++i) ctx.SetOutput(i, ctx.input(sender));
    return Error::success();
  });
}

Expected<int64_t> ScalarIn(const KernelContext& ctx, int i, const char* name) {
  const Tensor& input = ctx.input(i);
  if (input.num_elements() == 1) return input.IntAt(0);
  return MakeError("{0} must have one element, got shape {1}", name, DimsText(input.dims()));
}

Error InitializeCommunicator(KernelContext& ctx) {
  ASSIGN_OR_RETURN(int64_t group, ScalarIn(ctx, 0, "group_key"));
  ASSIGN_OR_RETURN(int64_t rank, ScalarIn(ctx, 1, "rank"));
  ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, 2, "group_size"));
  if (size < 1 || rank < 0 || rank >= size)
    return MakeError("rank {0} is out of range for a group of {1} members", rank, size);
  llvm::IntrusiveRefCntPtr<Communicator> made(new Communicator(group, rank, size));
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(made)));
  return Error::success();
}

// The group is the row of the assignment that contains the device.
Error AssignGroup(KernelContext& ctx) {
  const Tensor& groups = ctx.input(0);
  ASSIGN_OR_RETURN(int64_t device, ScalarIn(ctx, 1, "device_index"));
  ASSIGN_OR_RETURN(int64_t base, ScalarIn(ctx, 2, "base_key"));
  if (groups.rank() != 2)
    return MakeError("group_assignment must be a matrix, got shape {0}", DimsText(groups.dims()));
  for (int64_t i = 0; i < groups.num_elements(); ++i) {
    if (groups.IntAt(i) != device) continue;
    ASSIGN_OR_RETURN(Tensor * size, ctx.Allocate(0, {}));
    ASSIGN_OR_RETURN(Tensor * key, ctx.Allocate(1, {}));
    *size->data<int32_t>() = static_cast<int32_t>(groups.dim(1));
    *key->data<int32_t>() = static_cast<int32_t>(base + i / groups.dim(1));
    return Error::success();
  }
  return MakeError("device_index {0} is not in group_assignment {1}", device, groups.ToString());
}

#define GRAPNEL_COLLECTIVE(op, make) \
  GRAPNEL_CPU_KERNEL(op, make, OfTypes("T", DataTypesOf(CollectiveTypes())))
GRAPNEL_COLLECTIVE("CollectiveReduce", MakeReduce);
GRAPNEL_COLLECTIVE("CollectiveReduceV2", MakeReduce);
GRAPNEL_COLLECTIVE("NcclAllReduce", MakeReduce);
GRAPNEL_COLLECTIVE("NcclReduce", MakeReduce);
GRAPNEL_COLLECTIVE("CollectiveReduceScatterV2", MakeReduceScatter);
GRAPNEL_COLLECTIVE("CollectiveReduceV3", MakeReduce);
GRAPNEL_COLLECTIVE("CollectiveAllToAllV3", MakeAllToAll);
GRAPNEL_COLLECTIVE("CollectiveGather", MakeGather);
GRAPNEL_COLLECTIVE("CollectiveGatherV2", MakeGather);
GRAPNEL_COLLECTIVE("CollectiveAllToAllV2", MakeAllToAll);
GRAPNEL_COLLECTIVE("NcclBroadcast", MakeBroadcast);
GRAPNEL_CPU_KERNEL("CollectiveBcastSend", MakeBroadcast, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("CollectiveBcastSendV2", MakeBroadcast, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("CollectiveBcastRecv", MakeBroadcast, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("CollectiveBcastRecvV2", MakeBroadcast, KernelCost::kCheap);

GRAPNEL_CPU_KERNEL("CollectiveInitializeCommunicator", KernelOf<InitializeCommunicator>,
                   KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("CollectiveAssignGroupV2", KernelOf<AssignGroup>, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
