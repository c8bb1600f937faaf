#include "lib/job/precision.h"

#include "lib/ir/find.h"
#include "lib/support/memory_budget.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int kMostRounds = 4;

// The function whose body has the node; empty: the main graph.
std::string FunctionNameOf(const Node& node) {
  const Function* function = FunctionOf(node.graph());
  return function ? function->name().str() : std::string();
}

class PrecisionComparer {
 public:
  PrecisionComparer(OpenedGraph& opened, const CompareRequest& request, DataType format,
                    bool has_rtol)
      : opened_(opened), request_(request), format_(format), pool_(1) {
    if (!has_rtol) tolerance_.rtol = 8 * format_.epsilon();
    if (has_rtol) tolerance_.rtol = request.tolerance.rtol;
    tolerance_.atol = request.tolerance.atol;
  }

  Expected<PrecisionReport> Run() {
    PrecisionReport report;
    report.format = format_.type();
    report.rtol = tolerance_.rtol;
    PrecisionWatch all(format_, {}, /*keeps_range=*/false);
    ASSIGN_OR_RETURN(report.all_rounded, RunBoth(all, &report.failure));
    report.losses = all.losses();
    report.tensors = all.tensors();
    std::set<FloatNode> kept = all.kept_and_wanted();
    std::string failure;
    for (int round = 0; round < kMostRounds; ++round) {
      PrecisionWatch some(format_, kept, /*keeps_range=*/true);
      ASSIGN_OR_RETURN(report.with_kept, RunBoth(some, &failure));
      std::set<FloatNode> next = some.kept_and_wanted();
      std::set<FloatNode> for_range = some.kept_for_range();
      for_range_.insert(for_range.begin(), for_range.end());
      bool is_done = next == kept || report.KeptAgrees();
      kept = std::move(next);
      if (is_done) break;
    }
    Describe(kept, &report);
    return report;
  }

 private:
  Expected<std::vector<ComparedFetch>> RunBoth(PrecisionWatch& watch, std::string* failure) {
    int64_t budget = request_.budget > 0 ? request_.budget : MemoryBudget::Get().limit() / 4;
    RunPairs pairs(watch, budget, {}, [&](const Node& node, int output, const Tensor& value) {
      return watch.Edit(node, output, value);
    });
    std::vector<ComparedFetch> fetches;
    for (bool is_first = true, is_more = true; is_more; is_first = false) {
      std::string failed_plain;
      ASSIGN_OR_RETURN(std::vector<Tensor> plain, RunOne(pairs.hook_a(), nullptr, &failed_plain));
      if (!failed_plain.empty()) return MakeError("{0}", failed_plain);
      ASSIGN_OR_RETURN(std::vector<Tensor> rounded, RunOne(pairs.hook_b(), &watch, failure));
      if (is_first) fetches = Compare(plain, rounded);
      is_more = pairs.NextPart();
      watch.EndPart();
    }
    return fetches;
  }

  Expected<std::vector<Tensor>> RunOne(RunHook& hook, PrecisionWatch* rounds,
                                       std::string* failure) {
    RunRequest request = request_.run.ByItself();
    MessageSink silent = [](Severity, llvm::StringRef) {};
    request.sink = is_silent_ ? silent : request_.run.sink;
    request.print = is_silent_ ? silent : request_.run.print;
    is_silent_ = true;
    request.pool = &pool_;
    request.hook = &hook;
    ASSIGN_OR_RETURN(RunJob job, RunJob::Make(opened_, std::move(request)));
    std::vector<Tensor> values = job.feed_values();
    const Graph& main = opened_.module().main;
    for (size_t i = 0; i < values.size() && rounds; ++i) {
      ASSIGN_OR_RETURN(Port port, FindTensor(main, job.feeds()[i]));
      values[i] = rounds->Edit(main.node(port.node), port.index, values[i]);
    }
    RETURN_IF_ERROR(job.Prepare());
    fetches_ = job.fetches();
    auto outputs = job.Run(std::move(values));
    if (outputs) return std::move(*outputs);
    if (request_.run.cancel && request_.run.cancel->is_set()) return outputs.takeError();
    *failure = TextOf(outputs.takeError());
    return std::vector<Tensor>();
  }

  std::vector<ComparedFetch> Compare(llvm::ArrayRef<Tensor> plain,
                                     llvm::ArrayRef<Tensor> rounded) const {
    std::vector<ComparedFetch> fetches;
    for (size_t i = 0; i < plain.size(); ++i) {
      ComparedFetch fetch{fetches_[i], false, {}};
      fetch.is_compared = i < rounded.size() && plain[i] && !plain[i].HoldsObjects() && rounded[i];
      if (fetch.is_compared) fetch.difference = DifferenceOf(plain[i], rounded[i], tolerance_);
      fetches.push_back(std::move(fetch));
    }
    return fetches;
  }

  void Describe(const std::set<FloatNode>& kept, PrecisionReport* report) const {
    std::vector<Node> nodes;
    nodes.reserve(kept.size());
    for (const FloatNode& node : kept) nodes.emplace_back(node.first, node.second);
    llvm::sort(nodes, [&](const Node& x, const Node& y) {
      return std::pair(FunctionNameOf(x), x.id()) < std::pair(FunctionNameOf(y), y.id());
    });
    for (const Node& node : nodes) {
      report->kept.push_back(
          {node.name().str(), node.op().str(), FunctionNameOf(node), ReasonOf(node, *report)});
      for (const Use& use : node.uses()) {
        Node reader(&node.graph(), use.node);
        bool is_data = static_cast<int>(use.slot) < reader.num_inputs();
        if (!is_data || kept.count({&node.graph(), use.node})) continue;
        std::string name = reader.name().str();
        if (!llvm::is_contained(report->readers, name)) report->readers.push_back(name);
      }
    }
  }

  std::string ReasonOf(const Node& node, const PrecisionReport& report) const {
    for (const PrecisionLoss& loss : report.losses) {
      if (loss.node != node.name() || loss.function != FunctionNameOf(node) || !loss.is_harmful)
        continue;
      if (loss.kind == LossKind::kOverflow) return "overflows";
      if (loss.kind == LossKind::kUnderflow) return "vanishes";
      return "loses its digits";
    }
    if (for_range_.count({&node.graph(), node.id()}))
      return "overflows or vanishes once its inputs are kept in float32";
    return "produces a value that loses its digits later";
  }

  OpenedGraph& opened_;
  const CompareRequest& request_;
  const ShortFormat format_;
  ThreadPool pool_;
  Tolerance tolerance_;
  bool is_silent_ = false;
  std::vector<std::string> fetches_;
  std::set<FloatNode> for_range_;
};

bool AllAgree(llvm::ArrayRef<ComparedFetch> fetches) {
  return llvm::all_of(fetches, [](const ComparedFetch& fetch) {
    return fetch.difference.agreement != Agreement::kDiverged;
  });
}

}  // namespace

bool PrecisionReport::Agrees() const { return failure.empty() && AllAgree(all_rounded); }
bool PrecisionReport::KeptAgrees() const { return AllAgree(with_kept); }

Expected<PrecisionReport> ComparePrecision(OpenedGraph& opened, const CompareRequest& request,
                                           DataType format, bool has_rtol) {
  return PrecisionComparer(opened, request, format, has_rtol).Run();
}

}  // namespace grapnel
