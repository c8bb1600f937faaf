#include "lib/serve/work/run_json.h"

#include <cmath>

#include "lib/ir/tensor_name.h"
#include "lib/render/labels.h"
#include "lib/serve/work/node_links.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

constexpr int kMostElements = 40;  // elements of a value as text
constexpr size_t kMostLinks = 4;   // nodes of an error that become links

// The outcome of a node in a run, the most important first. The page's colors have the same order.
enum Outcome { kBadOutcome, kFiniteOutcome, kZeroOutcome, kRanOutcome, kNumOutcomes };
constexpr const char* kOutcomeNames[kNumOutcomes] = {"NaN or infinity", "finite", "only zeros",
                                                     "ran, its values not watched"};

const char* StateName(PageRun::State state) {
  switch (state) {
    case PageRun::State::kWaiting:
      return "waiting";
    case PageRun::State::kRunning:
      return "running";
    case PageRun::State::kDone:
      return "done";
    case PageRun::State::kFailed:
      return "failed";
    default:
      return "stopped";
  }
}

// Writes links to the nodes that an error message mentions, as names in quotes.
void WriteNamed(const Module& module, llvm::StringRef error, llvm::json::OStream& json) {
  std::vector<const Graph*> bodies = BodiesOf(module);
  std::vector<std::string> found;
  json.attributeArray("named", [&] {
    for (auto [skipped, rest] = error.split('\''); !rest.empty();
         std::tie(skipped, rest) = rest.split('\'')) {
      llvm::StringRef quoted = rest.take_until([](char c) { return c == '\''; });
      llvm::StringRef name = ReadFunctionTensorName(quoted).node;
      if (llvm::is_contained(found, name.str()) || found.size() == kMostLinks) continue;
      for (size_t body = 0; body < bodies.size(); ++body) {
        Node node = bodies[body]->Find(name);
        if (!node) continue;
        found.push_back(name.str());
        WriteNodeLink(body, node, json);
        break;
      }
    }
  });
}

struct Range {
  double min = INFINITY, max = -INFINITY, mean = 0;
  int64_t count = 0;
};

// Returns the range of a value's finite elements.
Range RangeOf(const Literal& literal) {
  Range range;
  if (!IsFloating(literal.dtype()) && !IsInteger(literal.dtype())) return range;
  double sum = 0;
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    double value = literal.AsDouble(i);
    if (!std::isfinite(value)) continue;
    range.min = std::min(range.min, value);
    range.max = std::max(range.max, value);
    sum += value;
    ++range.count;
  }
  if (range.count) range.mean = sum / static_cast<double>(range.count);
  return range;
}

RecordedTensor WholeRecord(const Tensor& tensor) {
  RecordedTensor record;
  record.what = Recorded::kCounts;
  record.dtype = tensor.dtype();
  record.rank = tensor.rank();
  record.dims = tensor.dims().vec();
  record.health = HealthOf(tensor);
  record.health.elements = tensor.num_elements();
  record.bad = record.health.IsBad();
  return record;
}

void WriteTensorValue(const Tensor& value, llvm::json::OStream& json) {
  if (!value) {
    json.attribute("text", "a node without outputs: it ran");
    return;
  }
  json.attribute("dtype", DataTypeName(value.dtype()));
  json.attribute("shape", DimsText(value.dims()));
  if (value.HoldsObjects()) {
    json.attribute("text", Printable(value.ToString()));
    return;
  }
  Literal literal = value.ToLiteral();
  RecordedTensor record = WholeRecord(value);
  json.attribute("health", RecordedTensorText(record));
  json.attribute("bad", record.bad);
  if (Range range = RangeOf(literal); range.count) {
    json.attribute("min", range.min);
    json.attribute("max", range.max);
    json.attribute("mean", range.mean);
  }
  json.attribute("text", Printable(literal.ToString(kMostElements)));
  json.attribute("file", true);
}

// Writes the fetched values. The caller must have locked run.mutex.
void WriteFetches(const PageRun& run, llvm::json::OStream& json) {
  json.attributeArray("fetches", [&] {
    for (size_t i = 0; i < run.values.size(); ++i) {
      json.object([&] {
        json.attribute("name", Printable(run.request.fetches[i]));
        WriteTensorValue(run.values[i], json);
        if (!run.compared[i].empty()) json.attribute("compared", Printable(run.compared[i]));
      });
    }
  });
}

void WriteFirstBad(const PageRun& run, llvm::json::OStream& json) {
  std::optional<Cause> cause = run.watch.first_bad();
  if (!cause) return;
  WatchedPort port = run.watch.first_bad_port();
  size_t body = BodyNumber(run.opened->module(), *port.graph);
  json.attributeObject("first_bad", [&] {
    json.attribute("text", Printable(CauseSentence(*cause)));
    json.attributeBegin("node");
    WriteNodeLink(body, port.graph->node(port.node), json);
    json.attributeEnd();
  });
  json.attribute("num_bad", run.watch.num_bad());
}

Outcome OutcomeOf(const PortHistory& history) {
  const RecordedTensor& last = history.last;
  if (history.bad_times) return kBadOutcome;
  if (!last.TellsBad() || (last.what == Recorded::kCounts && last.health.elements == 0))
    return kRanOutcome;
  bool counted = last.what == Recorded::kCounts;
  return counted && last.health.zero == last.health.elements ? kZeroOutcome : kFiniteOutcome;
}

// Returns the node of the page's graph for a row of the profile; a null node if there is none.
Node WatchedOf(const PageRun& run, const Profile::Row& row) {
  return row.graph ? run.watch.Watched(row.graph->node(row.node)) : Node();
}

// The outcomes of the nodes of one body, by node id.
struct BodyOutcomes {
  std::vector<int> outcome;   // an Outcome; -1: the node did not run
  std::vector<int64_t> time;  // nanoseconds in the node itself
};

BodyOutcomes OutcomesOf(const PageRun& run, const Graph& graph,
                        const std::map<WatchedPort, PortHistory>& history,
                        llvm::ArrayRef<Profile::Row> rows) {
  BodyOutcomes made;
  made.outcome.assign(graph.end_id(), -1);
  made.time.assign(graph.end_id(), 0);
  llvm::BitVector ran = run.watch.Ran(graph);
  for (unsigned id : ran.set_bits()) made.outcome[id] = kRanOutcome;
  for (auto it = history.lower_bound({&graph, 0, 0});
       it != history.end() && it->first.graph == &graph; ++it) {
    int& outcome = made.outcome[it->first.node];
    int other = OutcomeOf(it->second);
    outcome = outcome < 0 ? other : std::min(outcome, other);
  }
  for (const Profile::Row& row : rows) {
    Node node = WatchedOf(run, row);
    if (node && &node.graph() == &graph) made.time[node.id()] += row.own;
  }
  return made;
}

// Writes [id, outcome, nanoseconds] for nodes, and [scope, number of nodes with each outcome...,
// nanoseconds] for scopes.
void WriteBody(size_t body, const BodyOutcomes& outcomes, GraphPage& page,
               llvm::json::OStream& json) {
  std::map<ScopeId, std::array<int64_t, kNumOutcomes + 1>> scopes;
  json.attribute("body", body);
  json.attributeArray("nodes", [&] {
    for (NodeId id = 0; id < outcomes.outcome.size(); ++id) {
      int outcome = outcomes.outcome[id];
      if (outcome < 0) continue;
      json.array([&] {
        json.value(id);
        json.value(outcome);
        json.value(outcomes.time[id]);
      });
      for (ScopeId scope : page.ScopesAround(body, id)) {
        ++scopes[scope][outcome];
        scopes[scope][kNumOutcomes] += outcomes.time[id];
      }
    }
  });
  json.attributeArray("scopes", [&] {
    for (const auto& [scope, counts] : scopes) {
      json.array([&, &scope = scope, &counts = counts] {
        json.value(scope);
        for (int64_t count : counts) json.value(count);
      });
    }
  });
}

}  // namespace

std::string RunStatusJson(const PageRun& run) {
  std::lock_guard lock(run.mutex);
  bool is_over = run.state > PageRun::State::kRunning;
  std::chrono::duration<double> seconds = (is_over ? run.ended : PageRun::Clock::now()) - run.began;
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("run", run.number);
      json.attribute("state", StateName(run.state));
      json.attribute("seconds", seconds.count());
      json.attribute("nodes", run.nodes);
      json.attribute("nodes_done", run.watch.main_nodes_run());
      json.attribute("nodes_run", run.watch.nodes_run());
      json.attribute("taps", run.watch.taps());
      json.attribute("tells_bad", run.watch.TellsBad());
      json.attribute("tensors", run.watch.num_tensors());
      WriteFirstBad(run, json);
      if (!is_over) return;
      if (!run.note.empty()) json.attribute("note", Printable(run.note));
      json.attributeArray("printed", [&] {
        for (const std::string& line : run.printed) json.value(Printable(line));
      });
      WriteFetches(run, json);
      if (run.state != PageRun::State::kFailed) return;
      json.attribute("error", PrintableLines(run.error));
      WriteNamed(run.opened->module(), run.error, json);
    });
  });
}

std::string RunTensorsJson(const PageRun& run, size_t from, size_t limit) {
  std::vector<const Graph*> bodies = BodiesOf(run.opened->module());
  std::vector<WatchedTensor> tensors = run.watch.Tensors(from, limit);
  size_t kept = std::min(run.watch.num_tensors(), RunWatch::kMostTensors);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("tensors", [&] {
        for (const WatchedTensor& watched : tensors) {
          Node node = watched.port.graph->node(watched.port.node);
          json.array([&] {
            json.value(llvm::find(bodies, watched.port.graph) - bodies.begin());
            json.value(node.id());
            json.value(OutputName(Printable(node.name()), watched.port.output));
            json.value(Printable(node.op()));
            json.value(watched.tensor.what == Recorded::kNothing
                           ? "ran"
                           : RecordedTensorText(watched.tensor));
            json.value(watched.tensor.bad);
            json.value(Printable(watched.value));
          });
        }
      });
      if (from + tensors.size() < kept) json.attribute("next", from + tensors.size());
      json.attribute("kept", kept);
    });
  });
}

std::string RunBoxesJson(const PageRun& run, GraphPage& page) {
  std::map<WatchedPort, PortHistory> history = run.watch.History();
  std::vector<Profile::Row> rows = run.profile.ByNode();
  std::vector<const Graph*> bodies = BodiesOf(run.opened->module());
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("kinds", [&] {
        for (const char* name : kOutcomeNames) json.value(name);
      });
      json.attributeArray("bodies", [&] {
        for (size_t body = 0; body < bodies.size(); ++body) {
          BodyOutcomes outcomes = OutcomesOf(run, *bodies[body], history, rows);
          if (llvm::all_of(outcomes.outcome, [](int outcome) { return outcome < 0; })) continue;
          json.object([&] { WriteBody(body, outcomes, page, json); });
        }
      });
    });
  });
}

std::string RunNodeJson(const PageRun& run, const Graph& graph, NodeId node) {
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("outputs", [&] {
        for (const auto& [output, history] : run.watch.HistoryOf(graph, node)) {
          json.object([&, &output = output, &history = history] {
            json.attribute("output", output);
            json.attribute("text", history.last.what == Recorded::kNothing
                                       ? "made"
                                       : RecordedTensorText(history.last));
            json.attribute("bad", history.last.bad);
            json.attribute("times", history.times);
            if (!history.bad_times || history.last.bad) return;
            json.attribute("worst", RecordedTensorText(history.worst));
            json.attribute("bad_times", history.bad_times);
          });
        }
      });
      for (const Profile::Row& row : run.profile.ByNode()) {
        if (WatchedOf(run, row) != Node(&graph, node)) continue;
        json.attribute("runs", row.calls);
        json.attribute("nanoseconds", row.own);
      }
    });
  });
}

}  // namespace grapnel
