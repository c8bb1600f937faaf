#include "kernels/cpu/math/elementwise_binary.h"

#include <atomic>

#include "kernels/cpu/math/long_rows.h"
#include "lib/exec/element_loop.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

std::vector<BinaryOpDef>& Ops() {
  static auto* ops = new std::vector<BinaryOpDef>;
  return *ops;
}

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

// Returns how to read operands that need no broadcast plan: equal shapes, or one operand with a
// single element and no higher rank. Returns nullopt for all others.
std::optional<RowSide> PlainSide(const Tensor& left, const Tensor& right) {
  if (left.dims() == right.dims()) return RowSide::kBoth;
  if (right.num_elements() == 1 && right.rank() <= left.rank()) return RowSide::kRightOne;
  if (left.num_elements() == 1 && left.rank() <= right.rank()) return RowSide::kLeftOne;
  return std::nullopt;
}

// Runs body(begin, end) over the elements, in units of `width`.
void Loop(KernelContext& ctx, const BinaryOp& op, const Tensor& out, int64_t width,
          llvm::function_ref<void(int64_t, int64_t)> body) {
  int64_t units = out.num_elements() / width;
  double cost = op.cost * static_cast<double>(width);
  if (op.is_final)
    ForElements(ctx, out, units, width, cost, body);
  else
    ctx.ParallelFor(units, cost, body);
}

// Handles two scalars: the operands of loop counters and conditions.
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
  Loop(ctx, op, *output, 1, [&](int64_t begin, int64_t end) {
    if (!op.loop(a + begin * left_step, b + begin * right_step, out + begin * out_size, end - begin,
                 side))
      good = false;
  });
  return good ? Error::success() : MakeError("{0}", op.bad_text);
}

}  // namespace

bool AddBinaryOp(BinaryOpDef def) {
  Ops().push_back(def);
  return true;
}

const BinaryOpDef* FindBinaryOp(llvm::StringRef op) {
  static const auto* by_op = [] {
    auto* map = new llvm::StringMap<const BinaryOpDef*>;
    for (const BinaryOpDef& def : Ops()) map->try_emplace(def.op, &def);
    return map;
  }();
  return by_op->lookup(op);
}

Error RunBinary(KernelContext& ctx, const BinaryOp& op) {
  if (ctx.input(0).rank() == 0 && ctx.input(1).rank() == 0) return RunScalar(ctx, op);
  if (auto side = PlainSide(ctx.input(0), ctx.input(1))) return RunPlain(ctx, op, *side);
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({ctx.input(0).dims(), ctx.input(1).dims()}));
  ASSIGN_OR_RETURN(Tensor * output, Output(ctx, plan.dims));
  if (plan.total == 0) return Error::success();
  const Tensor &left = ctx.input(0), &right = ctx.input(1);
  size_t size = SizeInMemory(left), out_size = SizeInMemory(*output);
  const char* a = static_cast<const char*>(left.raw());
  const char* b = static_cast<const char*>(right.raw());
  char* out = static_cast<char*>(output->raw());
  std::atomic<bool> good{true};
  if (auto rows = LongRows::Of(plan, left.dtype())) {
    Loop(ctx, op, *output, rows->width(), [&](int64_t begin, int64_t end) {
      rows->ForRows(begin, end, a, b, [&](int64_t at, const void* x, const void* y, int64_t n) {
        if (!op.loop(x, y, out + at * out_size, n, RowSide::kBoth)) good = false;
      });
    });
    return good ? Error::success() : MakeError("{0}", op.bad_text);
  }
  RowSide side = plan.strides[1].back() == 0   ? RowSide::kRightOne
                 : plan.strides[0].back() == 0 ? RowSide::kLeftOne
                                               : RowSide::kBoth;
  Loop(ctx, op, *output, 1, [&](int64_t begin, int64_t end) {
    plan.ForRows(begin, end, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
      if (!op.loop(a + offsets[0] * size, b + offsets[1] * size, out + at * out_size, n, side))
        good = false;
    });
  });
  return good ? Error::success() : MakeError("{0}", op.bad_text);
}

}  // namespace grapnel
