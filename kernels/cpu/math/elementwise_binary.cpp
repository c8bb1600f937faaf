#include "kernels/cpu/math/elementwise_binary.h"

#include <atomic>
#include <cstring>

#include "lib/exec/element_loop.h"

namespace grapnel {
namespace {

size_t SizeInMemory(const Tensor& tensor) {
  return tensor.dtype() == proto::DT_STRING ? sizeof(std::string) : DataTypeSize(tensor.dtype());
}

Expected<Tensor*> Output(KernelContext& ctx, llvm::ArrayRef<int64_t> dims) {
  for (int in = 0; in < 2; ++in) {
    const Tensor& input = ctx.input(in);
    if (input.dims() == dims && input.OwnsAlone()) return ctx.ForwardOrAllocate(in, 0, dims);
  }
  return ctx.Allocate(0, dims);
}

// Rows below this many elements cost more in calls than in arithmetic.
constexpr int64_t kLongRow = 1024;

// [rows, n] op [n] with a small n (an image times its 3 channels): the repeated operand is written
// out for several rows, and the loop runs on rows that many times longer. Returns false when the
// plan has another form.
Expected<bool> LengthenRows(KernelContext& ctx, BroadcastPlan& plan, int repeated,
                            const void*& operand, size_t size, Tensor& keep) {
  if (plan.sizes.size() != 2 || plan.sizes[1] >= kLongRow / 2 || plan.sizes[0] < 4) return false;
  auto& strides = plan.strides;
  int other = 1 - repeated;
  if (strides[repeated][0] != 0 || strides[repeated][1] != 1 || strides[other][1] != 1)
    return false;
  if (ctx.input(repeated).dtype() == proto::DT_STRING) return false;
  int64_t n = plan.sizes[1], times = std::min(kLongRow / n, plan.sizes[0]);
  ASSIGN_OR_RETURN(keep, ctx.Scratch(ctx.input(repeated).dtype(), {times * n}));
  char* rows = static_cast<char*>(keep.raw());
  for (int64_t i = 0; i < times; ++i) std::memcpy(rows + i * n * size, operand, n * size);
  operand = rows;
  // The last row may be cut short: ForRows is asked for plan.total elements and no more.
  plan.sizes = {(plan.sizes[0] + times - 1) / times, times * n};
  strides[other] = {times * n, 1};
  return true;
}

// How operands are read that need no plan: of one shape, or one of them a scalar of no more dims.
std::optional<RowSide> PlainSide(const Tensor& left, const Tensor& right) {
  if (left.dims() == right.dims()) return RowSide::kBoth;
  if (right.num_elements() == 1 && right.rank() <= left.rank()) return RowSide::kRightOne;
  if (left.num_elements() == 1 && left.rank() <= right.rank()) return RowSide::kLeftOne;
  return std::nullopt;
}

void Loop(KernelContext& ctx, const BinaryOp& op, const Tensor& out,
          llvm::function_ref<void(int64_t, int64_t)> body) {
  if (op.is_final)
    ForElements(ctx, out, out.num_elements(), 1, op.cost, body);
  else
    ctx.ParallelFor(out.num_elements(), op.cost, body);
}

// Two scalars: what loops count and compare with.
Error RunScalar(KernelContext& ctx, const BinaryOp& op) {
  ASSIGN_OR_RETURN(Tensor * output, Output(ctx, {}));
  bool good = op.loop(ctx.input(0).raw(), ctx.input(1).raw(), output->raw(), 1, RowSide::kBoth);
  return good ? Error::success() : MakeError("{0}", op.bad_text);
}

Error RunPlain(KernelContext& ctx, const BinaryOp& op, RowSide side) {
  ASSIGN_OR_RETURN(Tensor * output,
                   Output(ctx, ctx.input(side == RowSide::kLeftOne ? 1 : 0).dims()));
  const Tensor &left = ctx.input(0), &right = ctx.input(1);
  int64_t total = output->num_elements();
  if (total == 0) return Error::success();
  size_t size = SizeInMemory(left), out_size = SizeInMemory(*output);
  size_t left_step = side == RowSide::kLeftOne ? 0 : size;
  size_t right_step = side == RowSide::kRightOne ? 0 : size;
  const char* a = static_cast<const char*>(left.raw());
  const char* b = static_cast<const char*>(right.raw());
  char* out = static_cast<char*>(output->raw());
  std::atomic<bool> good{true};
  Loop(ctx, op, *output, [&](int64_t begin, int64_t end) {
    if (!op.loop(a + begin * left_step, b + begin * right_step, out + begin * out_size, end - begin,
                 side))
      good = false;
  });
  return good ? Error::success() : MakeError("{0}", op.bad_text);
}

}  // namespace

Error RunBinary(KernelContext& ctx, const BinaryOp& op) {
  if (ctx.input(0).rank() == 0 && ctx.input(1).rank() == 0) return RunScalar(ctx, op);
  if (auto side = PlainSide(ctx.input(0), ctx.input(1))) return RunPlain(ctx, op, *side);
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({ctx.input(0).dims(), ctx.input(1).dims()}));
  ASSIGN_OR_RETURN(Tensor * output, Output(ctx, plan.dims));
  if (plan.total == 0) return Error::success();
  const Tensor &left = ctx.input(0), &right = ctx.input(1);
  size_t size = SizeInMemory(left), out_size = SizeInMemory(*output);
  const void* operands[2] = {left.raw(), right.raw()};
  Tensor keep;
  for (int repeated : {1, 0}) {
    ASSIGN_OR_RETURN(bool done, LengthenRows(ctx, plan, repeated, operands[repeated], size, keep));
    if (done) break;
  }
  const char* a = static_cast<const char*>(operands[0]);
  const char* b = static_cast<const char*>(operands[1]);
  char* out = static_cast<char*>(output->raw());
  RowSide side = plan.strides[1].back() == 0   ? RowSide::kRightOne
                 : plan.strides[0].back() == 0 ? RowSide::kLeftOne
                                               : RowSide::kBoth;
  std::atomic<bool> good{true};
  Loop(ctx, op, *output, [&](int64_t begin, int64_t end) {
    plan.ForRows(begin, end, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
      if (!op.loop(a + offsets[0] * size, b + offsets[1] * size, out + at * out_size, n, side))
        good = false;
    });
  });
  return good ? Error::success() : MakeError("{0}", op.bad_text);
}

}  // namespace grapnel
