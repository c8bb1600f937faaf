#include "lib/job/compare.h"

#include "lib/exec/evaluator.h"
#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/case_on_model.h"
#include "lib/job/node_correspondence.h"
#include "lib/job/optimize.h"
#include "lib/job/source.h"
#include "lib/support/memory_budget.h"
#include "lib/support/name_file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_calls.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Adds the path to errors that do not name the file yet.
Error WithPath(const OpenedGraph& opened, Error error) {
  return NameFile(opened.model().path, WithStack(opened, std::move(error)));
}

// The feeds, fetches and outputs of a run, or its failure.
struct Ran {
  std::vector<std::string> feeds, fetches;
  std::vector<Tensor> values, outputs;
  std::string failure;
};

class RunComparer {
 public:
  RunComparer(OpenedGraph& a, const CompareRequest& request)
      : a_(a),
        request_(request),
        pool_a_(1),
        pool_b_(request.threads_b),
        evaluator_(MakeCpuEvaluator(pool_a_)),
        finder_(request.tolerance, evaluator_.get()) {}

  Expected<RunComparison> Run(OpenedGraph& b) {
    // Pairing the nodes may lower loops, as NodeCorrespondence describes, which needs valid graphs.
    if (Error error = CheckValid(a_, nullptr)) return WithPath(a_, std::move(error));
    if (Error error = CheckValid(b, nullptr)) return WithPath(b, std::move(error));
    auto ends = FindSameEnds(a_, b, request_.run.signature);
    if (!ends) return ends.takeError();
    ends_ = std::move(*ends);
    NodeCorrespondence same(a_.module(), b.module(), request_.provenance);
    RunPairs pairs(finder_, Budget(), same.namers());
    comparison_.is_rewritten = request_.provenance != nullptr;
    for (bool is_first = true, is_more = true; is_more; is_first = false) {
      ASSIGN_OR_RETURN(Ran ran_a, RunA(pairs, is_first, &b));
      ASSIGN_OR_RETURN(Ran ran_b, RunB(b, ran_a, pairs, is_first));
      if (is_first) CompareFetches(ran_a, ran_b);
      bool is_nothing = pairs.paired() == 0 || finder_.divergence().diverged == 0;
      if (!ran_a.failure.empty() && !ran_b.failure.empty() && is_nothing)
        return MakeError("{0}: {1}", a_.model().path, ran_a.failure);
      is_more = pairs.NextPart();
      comparison_.parts += is_more;
    }
    Finish(pairs);
    ChooseFirst(b.module().main);
    return std::move(comparison_);
  }

  Expected<RunComparison> RunRecorded(const DebugFolder& folder, const DebugRun& run, int step);

 private:
  // Returns B's tensor for a tensor of A: the tensor with the same key, else the tensor with the
  // same name.
  static std::string InB(llvm::ArrayRef<SameEnds::End> ends, const std::string& tensor) {
    auto end = llvm::find_if(ends, [&](const auto& one) { return one.a == tensor; });
    return end == ends.end() ? tensor : end->b;
  }

  std::string KeyOf(const std::string& tensor) const {
    const auto& ends = ends_.outputs;
    auto end = llvm::find_if(ends, [&](const auto& one) { return one.a == tensor; });
    if (end != ends.end()) return end->key;
    return ends_.by_keys ? NameInA(tensor) : tensor;
  }

  // Returns B's tensor for a fetch of A. Returns "" if the fetch is an output of A's signature and
  // B's signature lacks its key: a tensor of B with the fetch's name would then be unrelated.
  std::string FetchInB(const std::string& fetch) const {
    bool has_key = llvm::any_of(ends_.outputs, [&](const auto& end) { return end.a == fetch; });
    // If the user named no fetch and the signatures have no key in common, outputs are paired by
    // the tensor's name.
    bool matters = !ends_.outputs.empty() || !request_.run.fetches.empty();
    if (!has_key && ends_.by_keys && matters && NameInA(fetch) != fetch) return "";
    return InB(ends_.outputs, fetch);
  }

  // Returns the key for an output of A's signature, any other name as it is.
  std::string NameInA(const std::string& fetch) const {
    return NamesOfFetches(a_.model(), a_.file(), request_.run.signature, {fetch}).front();
  }

  Error NoSuchOutput(const OpenedGraph& b, llvm::StringRef key) const {
    ASSIGN_OR_RETURN(const Signature* signature,
                     ChooseSignature(b.model(), b.file(), request_.run.signature));
    std::vector<std::string> keys;
    if (signature) {
      for (const SignatureTensor& output : signature->outputs) keys.push_back(output.key);
    }
    return Annotate(b.model().path, NotFound("output", key, keys, " in its signature"));
  }

  int64_t Budget() const {
    return request_.budget > 0 ? request_.budget : MemoryBudget::Get().limit() / 4;
  }

  RunRequest RequestFor(bool is_first) const {
    RunRequest request = request_.run.ByItself();
    MessageSink silent = [](Severity, llvm::StringRef) {};
    request.sink = is_first ? request_.run.sink : silent;
    request.print = is_first ? request_.run.print : silent;
    return request;
  }

  // Runs A. `b`: the other graph; if it is a case and A is not, A gets the case's values for inputs
  // with the same keys. May be null.
  Expected<Ran> RunA(RunPairs& pairs, bool is_first, const OpenedGraph* b = nullptr) {
    RunRequest request = RequestFor(is_first);
    if (b && b->model().case_info && !a_.model().case_info && ends_.by_keys) {
      ASSIGN_OR_RETURN(CaseOfModel on_a, CaseOnModel(*b->model().case_info, a_));
      RETURN_IF_ERROR(FillFromCase(on_a, a_, &request));
    }
    request.pool = &pool_a_;
    request.hook = &pairs.hook_a();
    return RunOne(a_, std::move(request), [](const Ran&) { return Error::success(); });
  }

  // Runs B with A's feeds and fetches, unless they are different cases.
  Expected<Ran> RunB(OpenedGraph& b, const Ran& ran_a, RunPairs& pairs, bool is_first) {
    RunRequest request = RequestFor(is_first);
    if (&b != &a_) request.print = [](Severity, llvm::StringRef) {};
    bool has_own = b.model().case_info && a_.model().case_info;
    if (!has_own || b.model().path == a_.model().path) {
      const Graph& main = b.module().main;
      request.feeds.clear();
      for (size_t i = 0; i < ran_a.feeds.size(); ++i) {
        std::string feed = InB(ends_.inputs, ran_a.feeds[i]);
        if (FindTensorIfThere(main, feed)) request.feeds.push_back({feed, "", ran_a.values[i]});
      }
      std::vector<std::string> fetches;
      for (const std::string& fetch : ran_a.fetches) {
        if (ReadTensorName(fetch).control) {  // must run, but has no value to compare
          if (main.Find(ReadTensorName(fetch).node)) fetches.push_back(fetch);
        } else if (std::string in_b = FetchInB(fetch); !in_b.empty()) {
          fetches.push_back(std::move(in_b));
        } else if (!request_.run.fetches.empty()) {  // else it is not compared
          return NoSuchOutput(b, NameInA(fetch));
        }
      }
      bool has_all = llvm::all_of(fetches, [&](const std::string& fetch) {
        return ReadTensorName(fetch).control || FindTensorIfThere(main, fetch).has_value();
      });
      // Lets the run add feeds of its own: the graph of a case may need some that are not inputs of
      // its signature, for which A has no values.
      request.completes = !has_all || b.model().case_info;
      if (b.model().case_info) request.signature.clear();
      if (has_all) request.fetches = fetches;
    }
    request.pool = &pool_b_;
    request.hook = &pairs.hook_b();
    request.device = request_.device_b;
    return RunOne(b, std::move(request), [&](const Ran& ran_b) {
      return is_first ? PairFeeds(b, ran_a, ran_b, pairs) : Error::success();
    });
  }

  Expected<Ran> RunOne(OpenedGraph& opened, RunRequest request,
                       llvm::function_ref<Error(const Ran&)> before) {
    auto job = RunJob::Make(opened, std::move(request));
    if (!job) return WithPath(opened, job.takeError());
    if (Error error = job->Prepare()) return WithPath(opened, std::move(error));
    Ran ran{job->feeds(), job->fetches(), job->given_values(), {}, ""};
    RETURN_IF_ERROR(before(ran));
    auto outputs = job->Run();
    if (outputs) {
      ran.outputs = std::move(*outputs);
      return ran;
    }
    if (request_.run.cancel && request_.run.cancel->is_set())
      return WithPath(opened, outputs.takeError());
    ran.failure = TextOf(WithStack(opened, outputs.takeError()));
    return ran;
  }

  Error PairFeeds(OpenedGraph& b, const Ran& ran_a, const Ran& ran_b, RunPairs& pairs) {
    for (size_t i = 0; i < ran_a.feeds.size(); ++i) {
      auto same = llvm::find(ran_b.feeds, InB(ends_.inputs, ran_a.feeds[i]));
      if (same == ran_b.feeds.end()) continue;
      ASSIGN_OR_RETURN(Port x, FindTensor(a_.module().main, ran_a.feeds[i]));
      ASSIGN_OR_RETURN(Port y, FindTensor(b.module().main, *same));
      NodeRun in_a{a_.module().main.node(x.node), {}, {}, {}};
      NodeRun in_b{b.module().main.node(y.node), {}, {}, {}};
      if (x.index != y.index) continue;
      in_a.outputs.resize(x.index + 1);
      in_b.outputs.resize(y.index + 1);
      in_a.outputs[x.index] = ran_a.values[i];
      in_b.outputs[y.index] = ran_b.values[same - ran_b.feeds.begin()];
      pairs.PairFeed(in_a, in_b);
    }
    return Error::success();
  }

  void CompareFetches(const Ran& ran_a, const Ran& ran_b) {
    comparison_.failure_a = ran_a.failure;
    comparison_.failure_b = ran_b.failure;
    for (size_t i = 0; i < ran_a.outputs.size(); ++i) {
      if (ReadTensorName(ran_a.fetches[i]).control) continue;
      ComparedFetch fetch{KeyOf(ran_a.fetches[i]), false, {}};
      fetches_b_.push_back(FetchInB(ran_a.fetches[i]));
      auto same = llvm::find(ran_b.fetches, fetches_b_.back());
      size_t j = same - ran_b.fetches.begin();
      bool is_there = j < ran_b.outputs.size() && ran_a.outputs[i] && ran_b.outputs[j];
      if (is_there && !ran_a.outputs[i].HoldsObjects() && !ran_b.outputs[j].HoldsObjects()) {
        fetch.is_compared = true;
        fetch.difference = DifferenceOf(ran_a.outputs[i], ran_b.outputs[j], request_.tolerance);
      }
      comparison_.fetches.push_back(std::move(fetch));
    }
  }

  void Finish(const RunPairs& pairs) {
    comparison_.nodes_of_a = pairs.nodes_of_a();
    comparison_.paired = pairs.paired();
    comparison_.divergence = finder_.divergence();
    Divergence& all = comparison_.divergence;
    const LineTable lines = LinesOf(a_);
    if (lines.empty()) return;
    auto say = [&](Mismatch& mismatch) {
      std::string function;
      for (const CallSite& call : mismatch.calls) {
        if (!call.caller.empty()) function = call.function;
      }
      auto line = lines.LineOf(lines.Find(function, mismatch.node));
      if (line && mismatch.made_at.empty()) mismatch.made_at = FrameText(*line);
    };
    for (Mismatch& mismatch : all.faults) say(mismatch);
    for (Mismatch& mismatch : all.worst) say(mismatch);
    for (auto* first : {&all.first_diverged, &all.first_rounding}) {
      if (*first) say(**first);
    }
  }

  void ChooseFirst(const Graph& main) {
    const std::vector<Mismatch>& faults = comparison_.divergence.faults;
    if (faults.empty()) return;
    comparison_.first = 0;
    if (!comparison_.is_rewritten) return;
    comparison_.first = -1;
    for (size_t i = 0; i < faults.size() && comparison_.first < 0; ++i) {
      if (ReachesPartedFetch(main, faults[i])) comparison_.first = static_cast<int>(i);
    }
  }

  // True if a path in B leads from the fault to a diverged fetch through nodes whose first outputs
  // diverged too or were not compared. If B lacks the node, true if a fetch diverged.
  bool ReachesPartedFetch(const Graph& main, const Mismatch& fault) const {
    llvm::DenseSet<NodeId> goals;
    for (size_t i = 0; i < comparison_.fetches.size(); ++i) {
      if (comparison_.fetches[i].difference.agreement != Agreement::kDiverged) continue;
      if (auto port = FindTensorIfThere(main, fetches_b_[i])) goals.insert(port->node);
    }
    std::string start = fault.node_b.empty() ? fault.node : fault.node_b;
    for (const CallSite& call : llvm::reverse(fault.calls)) {
      if (!call.caller.empty()) start = call.caller;
    }
    Node from = main.Find(start);
    if (!from) return !goals.empty();
    llvm::DenseSet<NodeId> seen = {from.id()};
    std::vector<NodeId> open = {from.id()};
    while (!open.empty()) {
      NodeId id = open.back();
      open.pop_back();
      if (goals.count(id)) return true;
      for (const Use& use : main.node(id).uses()) {
        Node reader = main.node(use.node);
        bool is_data = static_cast<int>(use.slot) < reader.num_inputs();
        bool agrees = finder_.WasCompared(reader, 0) && !finder_.HasDiverged(reader, 0);
        if (is_data && !agrees && seen.insert(use.node).second) open.push_back(use.node);
      }
    }
    return false;
  }

  OpenedGraph& a_;
  const CompareRequest& request_;
  ThreadPool pool_a_, pool_b_;
  std::unique_ptr<Evaluator> evaluator_;
  DivergenceFinder finder_;
  SameEnds ends_;                       // paired by keys of A and B
  std::vector<std::string> fetches_b_;  // B's tensor for each fetch of comparison_
  RunComparison comparison_;
};

// Returns "loss_fn" for "__inference_loss_fn_154": the name in Python.
llvm::StringRef PythonName(llvm::StringRef function) {
  for (llvm::StringRef prefix : {"__inference_", "__forward_"}) {
    if (function.consume_front(prefix)) break;
  }
  llvm::StringRef without = function.rtrim("0123456789");
  return without.ends_with("_") ? without.drop_back() : function;
}

// Finds, for each graph that the debugger recorded, the body of A (a function or the main graph)
// that matches best; none if no body has a node with the name of a recorded node.
class RecordedBodies {
 public:
  RecordedBodies(const Module& module, const DebugRun& run) : bodies_(run.graphs.size()) {
    std::vector<std::set<std::string>> names(run.graphs.size());
    for (const DebugTrace& trace : run.traces) names[trace.graph].insert(trace.op_name.str());
    for (size_t i = 0; i < names.size(); ++i)
      bodies_[i] = BestOf(module, run.graphs[i].name, names[i]);
  }

  struct Body {
    const Graph* graph = nullptr;
    std::string function;  // the body's name in A; "" for the main graph
  };
  const Body& Of(int graph) const { return bodies_[graph]; }

 private:
  static Body BestOf(const Module& module, llvm::StringRef name,
                     const std::set<std::string>& nodes) {
    Body best;
    std::pair<bool, size_t> best_fit = {false, 0};
    auto consider = [&](const Graph& graph, llvm::StringRef function) {
      size_t found =
          llvm::count_if(nodes, [&](const std::string& node) { return bool(graph.Find(node)); });
      bool is_namesake = !function.empty() && (function == name || PythonName(function) == name);
      std::pair fit(is_namesake, found);
      if (found == 0 || fit <= best_fit) return;
      best = {&graph, function.str()};
      best_fit = fit;
    };
    consider(module.main, "");
    for (const auto& function : module.functions) consider(function->body, function->name());
    return best;
  }

  std::vector<Body> bodies_;
};

Expected<Tensor> WholeTensor(const DebugTrace& trace) {
  ASSIGN_OR_RETURN(Literal literal, Literal::FromTensorProto(trace.tensor));
  return Tensor::FromLiteral(literal);
}

bool IsWhole(const DebugTrace& trace) {
  return trace.mode == proto::FULL_TENSOR && !trace.tensor.empty();
}

// Returns "net.py:21 in loss_fn", the line of the user's code that created an op; "" if it is
// unknown.
std::string RecordedPlace(const DebugRun& run, const DebugOp& op) {
  int index = UserFrame(run, op.stack);
  if (index < 0) return "";
  const DebugFrame& frame = run.frames[index];
  if (frame.source < 0) return "";
  return llvm::formatv("{0}:{1} in {2}", run.sources[frame.source].path, frame.line, frame.function)
      .str();
}

// Returns the recorded executions, in order, in which the debugger wrote full tensors of nodes that
// A has.
std::vector<int> StepsOf(const DebugRun& run, const RecordedBodies& bodies) {
  std::vector<int> steps;
  for (const DebugTrace& trace : run.traces) {
    bool counts = IsWhole(trace) && bodies.Of(trace.graph).graph;
    if (counts && !llvm::is_contained(steps, trace.execution)) steps.push_back(trace.execution);
  }
  return steps;
}

// If A's main graph is the function of the recorded call, feeds the arguments that are outputs of
// earlier executions recorded with FULL_TENSOR. Values passed from Python were not recorded.
Error AddArguments(const Graph& main, const DebugRun& run, int step, const RecordedBodies& bodies,
                   llvm::function_ref<void(const Node&, Tensor)> add) {
  if (step < 0 || run.executions[step].graph < 0) return Error::success();
  const DebugExecution& call = run.executions[step];
  if (bodies.Of(call.graph).graph != &main) return Error::success();
  DebugCalls calls(run);
  for (size_t i = 0; i < call.input_ids.size(); ++i) {
    if (static_cast<int>(i) >= calls.NumArguments(call.graph)) break;
    int op = calls.Argument(call.graph, static_cast<int>(i));
    Node node = main.Find(run.graphs[call.graph].ops[op].name);
    if (!node) continue;
    for (const DebugExecution& made : llvm::ArrayRef(run.executions).take_front(step)) {
      auto id = llvm::find(made.output_ids, call.input_ids[i]);
      size_t slot = id - made.output_ids.begin();
      if (made.mode != proto::FULL_TENSOR || slot >= made.tensors.size()) continue;
      ASSIGN_OR_RETURN(Literal literal, Literal::FromTensorProto(made.tensors[slot]));
      ASSIGN_OR_RETURN(Tensor value, Tensor::FromLiteral(literal));
      add(node, std::move(value));
    }
  }
  return Error::success();
}

// Feeds recorded values to placeholders of the main graph that have no feed.
Error AddFeedsOfRecord(const OpenedGraph& a, const DebugRun& run, int step,
                       const RecordedBodies& bodies, llvm::ArrayRef<const DebugTrace*> traces,
                       std::vector<FeedSource>* feeds) {
  const Graph& main = a.module().main;
  auto add = [&](const Node& node, Tensor value) {
    bool is_fed = llvm::any_of(*feeds, [&](const FeedSource& feed) {
      auto port = FindTensorIfThere(main, feed.tensor);
      return port && port->node == node.id();
    });
    if (node.op() == "Placeholder" && !is_fed)
      feeds->push_back({node.name().str(), "", std::move(value)});
  };
  RETURN_IF_ERROR(AddArguments(main, run, step, bodies, add));
  for (const DebugTrace* trace : traces) {
    if (bodies.Of(trace->graph).graph != &main || trace->iteration > 0) continue;
    Node node = main.Find(trace->op_name);
    if (!node) continue;
    ASSIGN_OR_RETURN(Tensor value, WholeTensor(*trace));
    add(node, std::move(value));
  }
  return Error::success();
}

Expected<RunComparison> RunComparer::RunRecorded(const DebugFolder& folder, const DebugRun& run,
                                                 int step) {
  if (llvm::none_of(run.traces, IsWhole)) {
    return MakeError(
        "{0}: has no full tensors of functions ({1}); to compare, record with "
        "tensor_debug_mode=\"FULL_TENSOR\"",
        folder.path, DebugModeName(run.mode));
  }
  RecordedBodies bodies(a_.module(), run);
  std::vector<int> steps = StepsOf(run, bodies);
  if (steps.empty()) {
    return MakeError("{0}: no traced op has the name of a node of {1}", folder.path,
                     a_.model().path);
  }
  if (step >= static_cast<int>(steps.size())) {
    return MakeError("{0}: there is no step {1}; there are {2}, numbered from 0", folder.path, step,
                     steps.size());
  }
  std::vector<const DebugTrace*> traces;
  for (const DebugTrace& trace : run.traces) {
    if (trace.execution == steps[step] && IsWhole(trace) && bodies.Of(trace.graph).graph)
      traces.push_back(&trace);
  }
  CompareRequest request = request_;
  RETURN_IF_ERROR(AddFeedsOfRecord(a_, run, steps[step], bodies, traces, &request.run.feeds));
  RunComparer with_feeds(a_, request);
  RunPairs pairs(with_feeds.finder_, Budget(), {}, nullptr, RunPairs::Identity::kBodies);
  RunComparison& comparison = with_feeds.comparison_;
  for (bool is_first = true, is_more = true; is_more; is_first = false) {
    ASSIGN_OR_RETURN(Ran ran, with_feeds.RunA(pairs, is_first));
    comparison.failure_a = ran.failure;
    for (const DebugTrace* trace : traces) {
      NodeRun recorded;
      ASSIGN_OR_RETURN(Tensor value, WholeTensor(*trace));
      recorded.outputs.resize(trace->slot + 1);
      recorded.outputs[trace->slot] = std::move(value);
      if (trace->op >= 0) {
        const DebugOp& op = run.graphs[trace->graph].ops[trace->op];
        recorded.recorded_op = op.type.str();
        recorded.recorded_at = RecordedPlace(run, op);
      }
      pairs.OfferRecorded(bodies.Of(trace->graph).function, trace->op_name, trace->iteration,
                          recorded);
    }
    is_more = pairs.NextPart();
    comparison.parts += is_more;
  }
  with_feeds.Finish(pairs);
  comparison.first = comparison.divergence.faults.empty() ? -1 : 0;
  return std::move(comparison);
}

}  // namespace

bool RunComparison::FetchesAgree() const {
  return llvm::all_of(fetches, [](const ComparedFetch& fetch) {
    return fetch.difference.agreement != Agreement::kDiverged;
  });
}

bool RunComparison::Agrees() const {
  if (failure_a.empty() != failure_b.empty() || !FetchesAgree()) return false;
  return is_rewritten ? first < 0 : divergence.diverged == 0;
}

Expected<RunComparison> CompareRuns(OpenedGraph& a, OpenedGraph& b, const CompareRequest& request) {
  return RunComparer(a, request).Run(b);
}

Expected<RunComparison> CompareOptimized(OpenedGraph& opened, const CompareRequest& request,
                                         const std::vector<std::string>& without) {
  OpenedGraph optimized = opened.Copy();
  std::string ledger;
  llvm::raw_string_ostream os(ledger);
  RunRequest names;
  names.feeds = request.run.feeds;
  names.fetches = request.run.fetches;
  names.signature = request.run.signature;
  names.words = request.run.words;
  auto job = RunJob::Make(opened, std::move(names));
  if (!job) return WithPath(opened, job.takeError());
  OptimizeRequest optimize;
  for (const std::string& feed : job->feeds()) optimize.feeds.push_back({feed, "", {}});
  optimize.options.fetches = job->fetches();
  optimize.onednn = request.run.onednn;
  optimize.options.without = without;
  optimize.options.sink = [](Severity, llvm::StringRef) {};
  optimize.ledger = &os;
  ASSIGN_OR_RETURN(Optimized done, Optimize(optimized, optimize));
  RETURN_IF_ERROR(done.AsError());
  ASSIGN_OR_RETURN(Provenance provenance, Provenance::Parse(os.str()));
  CompareRequest with_ledger = request;
  with_ledger.provenance = &provenance;
  return RunComparer(opened, with_ledger).Run(optimized);
}

Expected<RunComparison> CompareWithRecord(OpenedGraph& a, const DebugFolder& folder,
                                          const DebugRun& run, int step,
                                          const CompareRequest& request) {
  return RunComparer(a, request).RunRecorded(folder, run, step);
}

}  // namespace grapnel
