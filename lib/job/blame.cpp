#include "lib/job/blame.h"

#include <deque>

#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// A run of the graph in which the bad outputs (NaN or infinity) of some of the nodes that produced
// them first are replaced by finite numbers.
struct TamedRun {
  std::vector<BadProducer> producers;
  std::vector<BadFetch> bad_fetches;
  std::string failure;
  int runs = 0;           // number of runs made
  int bad_variables = 0;  // the first run that made a finite variable bad; 0: none
  bool IsBad() const { return !bad_fetches.empty() || !failure.empty(); }
};

std::string FetchKey(const RunJob& job, size_t fetch) {
  const std::string& name = job.fetch_names()[fetch];
  return name == job.fetches()[fetch] ? "" : name;
}

class Blamer {
 public:
  Blamer(OpenedGraph& opened, const RunRequest& request, int runs)
      : opened_(opened), request_(request.ByItself()), runs_(runs), pool_(1) {
    request_.pool = &pool_;
  }

  Expected<RunBlame> Run() {
    bool is_repeated = runs_ > 1;
    ASSIGN_OR_RETURN(TamedRun first, Try({}, /*ones=*/false));
    // Further runs must not repeat what the graph printed, nor the warnings.
    request_.sink = [](Severity, llvm::StringRef) {};
    request_.print = [](Severity, llvm::StringRef) {};
    if (!first.IsBad() && first.bad_variables > 0) {
      blame_.is_of_variables = true;
      runs_ = first.bad_variables;
      ASSIGN_OR_RETURN(first, Try({}, /*ones=*/false));
    }
    if (is_repeated && first.IsBad()) blame_.bad_run = first.runs;
    blame_.runs = runs_ = first.runs;
    blame_.bad_fetches = std::move(first.bad_fetches);
    blame_.failure = std::move(first.failure);
    for (BadProducer& producer : first.producers) {
      all_.insert(producer.key);
      blame_.producers.push_back({std::move(producer), Impact::kNotTried});
    }
    if (!blame_.IsBad()) {
      for (BlamedProducer& producer : blame_.producers) producer.harm = Impact::kNone;
      return std::move(blame_);
    }
    RETURN_IF_ERROR(FindFirstHarmful());
    FindPath();
    return std::move(blame_);
  }

 private:
  // Tests the first few producers one by one. Then bisects for the shortest prefix of the list of
  // producers that is harmful together; the last of this prefix is to blame.
  Error FindFirstHarmful() {
    constexpr size_t kFew = 8;
    size_t count = blame_.producers.size();
    size_t done = 0;
    for (; done < std::min(count, kFew); ++done) {
      ASSIGN_OR_RETURN(bool harmful, DoesHarm(done, done + 1));
      if (harmful) return Blame(done);
      blame_.producers[done].harm = Impact::kNone;
    }
    size_t low = done, high = count;  // the first `high` are harmful together, the first `low` not
    while (low + 1 < high) {
      size_t middle = (low + high) / 2;
      ASSIGN_OR_RETURN(bool harmful, DoesHarm(0, middle));
      (harmful ? high : low) = middle;
    }
    for (size_t i = done; i < low; ++i) blame_.producers[i].harm = Impact::kNone;
    return high > 0 ? Blame(high - 1) : Error::success();
  }

  Error Blame(size_t i) {
    blame_.producers[i].harm = Impact::kDone;
    return Error::success();
  }

  // True if a fetch is bad or the run fails when only the producers [begin, end) keep their bad
  // values.
  Expected<bool> DoesHarm(size_t begin, size_t end) {
    if (begin == 0 && end == blame_.producers.size()) return true;
    std::set<BadNode> tamed = all_;
    for (size_t i = begin; i < end; ++i) tamed.erase(blame_.producers[i].producer.key);
    bool is_bad = false;
    // The first try replaces infinity by the largest finite number, from which later nodes may
    // again compute infinity; then the second try replaces by 1.
    for (bool ones : {false, true}) {
      ASSIGN_OR_RETURN(TamedRun trial, Try(tamed, ones));
      is_bad = trial.IsBad();
      bool has_new = llvm::any_of(trial.producers,
                                  [&](const BadProducer& p) { return all_.count(p.key) == 0; });
      if (!has_new) return is_bad;
    }
    blame_.is_certain = false;
    return is_bad;
  }

  Expected<TamedRun> Try(std::set<BadNode> tamed, bool ones) {
    const Graph& main = opened_.module().main;
    BadProducers watch(main, std::move(tamed), ones);
    RunRequest request = request_;
    request.hook = &watch;
    ASSIGN_OR_RETURN(RunJob job, RunJob::Make(opened_, std::move(request)));
    std::vector<Tensor> values = job.feed_values();
    for (size_t i = 0; i < values.size(); ++i) {
      ASSIGN_OR_RETURN(Port port, FindTensor(main, job.feeds()[i]));
      values[i] = watch.Feed(port, std::move(values[i]));
    }
    RETURN_IF_ERROR(job.Prepare());
    std::set<std::string> bad_before;
    for (const BadFetch& variable : BadVariables(job.session())) bad_before.insert(variable.name);
    TamedRun trial;
    while (trial.runs < runs_ && !trial.IsBad()) {
      ++trial.runs;
      if (runs_ > 1) watch.BeginRun(trial.runs);
      auto outputs = job.Run(values);
      if (!outputs && blame_.producers.empty() && watch.producers().empty())
        return outputs.takeError();
      if (!outputs) {
        trial.failure = TextOf(outputs.takeError());
        continue;
      }
      for (size_t i = 0; i < outputs->size(); ++i) {
        if (IsBad((*outputs)[i]))
          trial.bad_fetches.push_back(
              {job.fetches()[i], RecordOf((*outputs)[i]), FetchKey(job, i), /*is_variable=*/false});
      }
      for (BadFetch& variable : BadVariables(job.session())) {
        if (bad_before.count(variable.name) > 0) continue;
        if (trial.bad_variables == 0) trial.bad_variables = trial.runs;
        if (blame_.is_of_variables) trial.bad_fetches.push_back(std::move(variable));
      }
    }
    trial.producers = watch.producers();
    return trial;
  }

  // Finds the shortest path along data edges from the harmful producer to a bad fetch.
  void FindPath() {
    const BadProducer* producer = blame_.first_harmful();
    if (!producer) return;
    const Graph& main = opened_.module().main;
    // For a producer in a function, starts the path at the outermost call, which is a main-graph
    // node.
    std::string start = producer->cause.node;
    for (const CallSite& call : llvm::reverse(producer->calls)) {
      if (!call.caller.empty()) start = call.caller;
    }
    Node from = main.Find(start);
    if (!from) return;
    llvm::DenseSet<NodeId> goals;
    for (const BadFetch& fetch : blame_.bad_fetches) {
      if (fetch.is_variable) continue;
      auto port = FindFetch(main, fetch.name);
      if (port)
        goals.insert(port->node);
      else
        llvm::consumeError(port.takeError());
    }
    llvm::DenseMap<NodeId, NodeId> before = {{from.id(), kNoNode}};
    std::deque<NodeId> open = {from.id()};
    while (!open.empty()) {
      NodeId id = open.front();
      open.pop_front();
      if (goals.count(id)) {
        for (NodeId at = id; at != kNoNode; at = before.lookup(at))
          blame_.path.push_back(main.node(at).name().str());
        std::reverse(blame_.path.begin(), blame_.path.end());
        return;
      }
      for (const Use& use : main.node(id).uses()) {
        bool is_data = static_cast<int>(use.slot) < main.node(use.node).num_inputs();
        if (is_data && before.try_emplace(use.node, id).second) open.push_back(use.node);
      }
    }
  }

  OpenedGraph& opened_;
  RunRequest request_;
  int runs_;
  ThreadPool pool_;
  std::set<BadNode> all_;
  RunBlame blame_;
};

}  // namespace

std::vector<BadFetch> BadVariables(const Session& session) {
  std::vector<BadFetch> bad;
  for (const auto& [name, object] : session.Resources()) {
    auto* variable = dynamic_cast<StoredVariable*>(object.get());
    Tensor value = variable ? variable->Get() : Tensor();
    if (value && IsBad(value)) bad.push_back({name, RecordOf(value), "", /*is_variable=*/true});
  }
  return bad;
}

const BadProducer* RunBlame::first_harmful() const {
  auto found =
      llvm::find_if(producers, [](const BlamedProducer& p) { return p.harm == Impact::kDone; });
  return found == producers.end() ? nullptr : &found->producer;
}

Expected<RunBlame> BlameRun(OpenedGraph& opened, const RunRequest& request, int runs) {
  return Blamer(opened, request, runs).Run();
}

}  // namespace grapnel
