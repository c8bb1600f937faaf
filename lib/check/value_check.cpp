#include "lib/check/value_check.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "lib/check/comparison.h"
#include "lib/exec/executor.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/support/deadline.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

Expected<Tensor> Generate(llvm::StringRef name, DataType type, llvm::ArrayRef<int64_t> dims) {
  std::optional<int64_t> count = NumElements(dims);
  if (!count || *count > (int64_t{1} << 30))
    return MakeError("feed '{0}': {1} is too large to be made up", name, DimsText(dims));
  std::mt19937_64 random(llvm::xxHash64(name));
  auto below = [&](uint64_t n) { return random() % n; };
  if (type == proto::DT_STRING) {
    std::vector<std::string> strings;
    for (int64_t i = 0; i < *count; ++i) strings.push_back(std::to_string(below(100)));
    return Tensor::FromLiteral(Literal::MakeStrings(dims, std::move(strings)));
  }
  size_t size = DataTypeSize(type);
  if (size == 0)
    return MakeError("feed '{0}': a value of type {1} cannot be made up: feed it", name,
                     DataTypeName(type));
  std::string bytes;
  bytes.reserve(*count * size);
  for (int64_t i = 0; i < *count; ++i) {
    double value = static_cast<double>(below(type == proto::DT_BOOL ? 2 : 4));
    if (IsFloating(type) || IsComplex(type)) {
      // Multiples of 1/64 are exact in every float dtype but the 8-bit ones.
      value = (static_cast<double>(below(127)) + 1) / 64;
      if (below(2)) value = -value;
    }
    bytes += Literal::Scalar(type, value).bytes();
  }
  return Tensor::FromLiteral(Literal::Make(type, dims, bytes));
}

// Largest finite magnitude.
double MagnitudeOf(const Literal& literal) {
  double most = 0;
  if (!IsFloating(literal.dtype()) && !IsComplex(literal.dtype())) return most;
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    double value = std::fabs(literal.AsDouble(i));
    if (std::isfinite(value)) most = std::max(most, value);
  }
  return most;
}

class ValueCheckInstrumentation : public Instrumentation {
 public:
  bool ReadsRewrites() const override { return false; }
  ValueCheckInstrumentation(const ValueCheck* check, std::string* difference)
      : check_(*check), difference_(*difference) {}
  Error AfterPass(const Stage& stage, const Module& module) override {
    if (!stage.changed) return Error::success();
    ASSIGN_OR_RETURN(std::optional<std::string> difference, check_.Differs(module));
    if (!difference) return Error::success();
    difference_ = *difference;
    return MakeError("{0}", *difference);
  }

 private:
  const ValueCheck& check_;
  std::string& difference_;
};

}  // namespace

Expected<std::vector<FedValue>> CompleteFeeds(const Graph& graph, std::vector<FedValue> given) {
  llvm::DenseSet<NodeId> fed;
  for (const FedValue& feed : given) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feed.tensor));
    fed.insert(port.node);
  }
  for (Node node : graph.nodes()) {
    if ((node.op() != "Placeholder" && node.op() != "PlaceholderV2") || fed.contains(node.id()))
      continue;
    auto attr = node.Attr("shape");
    Shape shape = attr ? attr->AsShape().value_or(Shape()) : Shape();
    Dims dims;
    for (int i = 0; shape.known_rank() && i < shape.rank(); ++i)
      dims.push_back(shape.IsKnown(i) ? shape.dim(i) : 2);
    ASSIGN_OR_RETURN(Tensor value, Generate(node.name(), BaseType(node.GetType("dtype")), dims));
    given.push_back({node.name().str(), std::move(value)});
  }
  return given;
}

Expected<std::unique_ptr<ValueCheck>> ValueCheck::Create(const Module& module,
                                                         ValueCheckOptions options) {
  std::unique_ptr<ValueCheck> check(new ValueCheck);
  check->options_ = std::move(options);
  auto first = check->RunGraph(module);
  if (!first) return Annotate("values cannot be checked", first.takeError());
  for (const Tensor& tensor : *first) {
    check->reference_.emplace_back();
    if (tensor && !tensor.HoldsObjects()) check->reference_.back() = tensor.ToLiteral();
  }
  ASSIGN_OR_RETURN(std::vector<Tensor> second, check->RunGraph(module));
  for (size_t i = 0; i < second.size(); ++i) {
    if (!check->reference_[i] || second[i].ToLiteral().SameValue(*check->reference_[i])) continue;
    check->reference_[i].reset();
    if (check->options_.sink) {
      check->options_.sink(Severity::kWarning, "fetch '" + check->options_.fetches[i] +
                                                   "' differs from run to run: not compared");
    }
  }
  return check;
}

Expected<std::vector<Tensor>> ValueCheck::RunGraph(const Module& module) const {
  ExecutorOptions options;
  std::vector<Tensor> values;
  for (const FedValue& feed : options_.feeds) {
    if (!FindTensorIfThere(module.main, feed.tensor)) continue;
    options.feeds.push_back(feed.tensor);
    values.push_back(feed.value);
  }
  options.fetches = options_.fetches;
  options.pool = options_.pool;
  CancelFlag cancel;
  options.cancel = &cancel;
  // What depends on constants alone is computed when the graph is compiled.
  Deadline deadline(options_.timeout_s, cancel, [] {});
  auto run = [&]() -> Expected<std::vector<Tensor>> {
    ASSIGN_OR_RETURN(auto executor, Executor::Compile(module.main, options));
    return executor->Run(values);
  };
  auto outputs = run();
  if (!outputs && cancel.is_set())
    return Annotate("the graph is " + NotDoneText(options_.timeout_s), outputs.takeError());
  return outputs;
}

Expected<std::optional<std::string>> ValueCheck::Differs(const Module& module) const {
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, RunGraph(module));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!reference_[i]) continue;
    const std::string& fetch = options_.fetches[i];
    if (!outputs[i]) return std::optional<std::string>("fetch '" + fetch + "' has no value");
    DataType type = reference_[i]->dtype();
    double coarse = type == proto::DT_HALF || type == proto::DT_BFLOAT16 ? 64 : 1;
    Comparison comparison = Compare(outputs[i].ToLiteral(), *reference_[i], options_.rtol * coarse,
                                    options_.atol * coarse * MagnitudeOf(*reference_[i]));
    if (!comparison.same)
      return std::optional<std::string>("fetch '" + fetch + "' " + comparison.message);
  }
  return std::optional<std::string>();
}

int ValueCheck::num_compared() const {
  return static_cast<int>(
      std::count_if(reference_.begin(), reference_.end(), [](const auto& r) { return !!r; }));
}

std::unique_ptr<Instrumentation> MakeValueCheckInstrumentation(const ValueCheck* check,
                                                               std::string* difference) {
  return std::make_unique<ValueCheckInstrumentation>(check, difference);
}

}  // namespace grapnel
