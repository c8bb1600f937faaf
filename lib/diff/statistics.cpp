#include "lib/diff/statistics.h"

#include "lib/ir/literal.h"
#include "lib/shape/flops.h"
#include "lib/shape/inference.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

uint64_t ConstantBytes(const Node& node) {
  auto literal = Literal::FromConst(node);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return 0;
  }
  if (literal->dtype() != proto::DT_STRING) return literal->byte_size();
  uint64_t bytes = 0;
  for (const std::string& text : literal->strings()) bytes += text.size();
  return bytes;
}

void CountBody(const Graph& graph, llvm::DenseMap<StringId, size_t>* ops,
               GraphStatistics* statistics) {
  for (Node node : graph.nodes()) {
    llvm::StringRef op = node.op();
    if (op == "_Arg" || op == "_Retval") continue;
    ++statistics->nodes;
    ++(*ops)[node.op_id()];
    if (op == "Const" || op == "HostConst") statistics->constant_bytes += ConstantBytes(node);
  }
}

GraphStatistics GraphStatisticsOf(const Module& module, bool with_flops) {
  GraphStatistics statistics;
  statistics.functions = module.functions.size();
  llvm::DenseMap<StringId, size_t> ops;
  CountBody(module.main, &ops, &statistics);
  for (const auto& function : module.functions) CountBody(function->body, &ops, &statistics);
  for (const auto& [op, count] : ops) statistics.ops[module.strings.Get(op).str()] = count;
  if (!with_flops) return statistics;
  ShapeMap shapes = InferShapes(module.main);
  int64_t sum = 0;
  for (Node node : module.main.nodes()) {
    auto flops = EstimateFlops(node, shapes);
    if (!flops || llvm::AddOverflow(sum, *flops, sum)) ++statistics.flops_unknown;
  }
  statistics.flops = sum;
  return statistics;
}

}  // namespace

DiffStatistics CompareSizes(const Module& a, const Module& b, bool with_flops) {
  return {GraphStatisticsOf(a, with_flops), GraphStatisticsOf(b, with_flops)};
}

}  // namespace grapnel
