// _UnaryOpsComposition: a chain of elementwise ops, run block by block, so that intermediate values
// stay in the cache.
#include "kernels/cpu/math/elementwise_unary.h"
#include "lib/exec/element_loop.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

constexpr int64_t kBlock = 2048;  // elements

std::vector<UnaryLoopDef>& Loops() {
  static auto* loops = new std::vector<UnaryLoopDef>;
  return *loops;
}

Expected<KernelFn> MakeUnaryOpsComposition(const KernelSetup& setup) {
  auto attr = setup.node().Attr("op_names");
  auto ops = attr ? attr->AsStrings() : std::nullopt;
  if (!ops || ops->empty()) return MakeError("op_names must be a list of at least one op");
  std::vector<UnaryLoop> loops;
  double cost = 0;
  for (llvm::StringRef op : *ops) {
    const UnaryLoopDef* def = FindUnaryLoop(op);
    UnaryLoop loop = def ? def->loop_for(setup.input_type(0)) : nullptr;
    if (!loop)
      return MakeError("'{0}' cannot be part of a composition for dtype {1}", op,
                       DataTypeName(setup.input_type(0)));
    loops.push_back(loop);
    cost += def->cost;
  }
  return KernelFn([loops, cost](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    size_t size = DataTypeSize(in.dtype());
    const char* from = static_cast<const char*>(in.raw());
    char* to = static_cast<char*>(out->raw());
    // Loops must end at a multiple of the lane count, except at the tensor's end.
    int64_t all = in.num_elements(), lanes = (all + kSmallFloatLanes - 1) / kSmallFloatLanes;
    ForElements(ctx, *out, lanes, kSmallFloatLanes, cost * kSmallFloatLanes,
                [&](int64_t begin, int64_t end) {
                  end = std::min(all, end * kSmallFloatLanes);
                  for (int64_t i = begin * kSmallFloatLanes; i < end; i += kBlock) {
                    int64_t n = std::min(kBlock, end - i);
                    loops[0](from + i * size, to + i * size, n);
                    for (UnaryLoop loop : llvm::drop_begin(loops))
                      loop(to + i * size, to + i * size, n);
                  }
                });
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("_UnaryOpsComposition", MakeUnaryOpsComposition,
                   OfTypes("T", std::vector<DataType>{proto::DT_FLOAT, proto::DT_HALF,
                                                      proto::DT_DOUBLE}));

}  // namespace

bool AddUnaryLoop(UnaryLoopDef def) {
  Loops().push_back(def);
  return true;
}

const UnaryLoopDef* FindUnaryLoop(llvm::StringRef op) {
  static const auto* by_op = [] {
    auto* map = new llvm::StringMap<const UnaryLoopDef*>;
    for (const UnaryLoopDef& def : Loops()) map->try_emplace(def.op, &def);
    return map;
  }();
  return by_op->lookup(op);
}

}  // namespace grapnel
