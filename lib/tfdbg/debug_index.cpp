#include "lib/tfdbg/debug_index.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

DebugIndex::DebugIndex(const DebugRun& run)
    : run_(run),
      calls_(run),
      traces_(run.graphs.size()),
      readers_(run.graphs.size()),
      inside_(run.executions.size()) {
  for (size_t g = 0; g < run.graphs.size(); ++g) {
    const std::vector<DebugOp>& ops = run.graphs[g].ops;
    traces_[g].resize(ops.size());
    readers_[g].resize(ops.size());
    for (size_t i = 0; i < ops.size(); ++i)
      for (const DebugInput& input : ops[i].inputs) {
        int graph = static_cast<int>(g), reader = static_cast<int>(i);
        if (input.op >= 0) {
          readers_[g][input.op].push_back(reader);
        } else if (auto result = calls_.InsideUnrecorded(graph, ops[i], input)) {
          unrecorded_readers_[{result->graph, result->op}].push_back({graph, reader, 0});
        }
      }
  }
  for (size_t i = 0; i < run.traces.size(); ++i) {
    const DebugTrace& trace = run.traces[i];
    int index = static_cast<int>(i);
    if (trace.op >= 0) traces_[trace.graph][trace.op].push_back(index);
    if (trace.execution < 0) continue;
    Inside& inside = inside_[trace.execution];
    ++inside.traces;
    inside.bad += trace.value.bad;
    if (inside.first < 0) inside.first = index;
    if (trace.value.bad && inside.first_bad < 0) inside.first_bad = index;
  }
  for (size_t i = 0; i < run.executions.size(); ++i)
    for (int64_t id : run.executions[i].input_ids) {
      std::vector<int>& readers = eager_readers_[id];
      if (readers.empty() || readers.back() != static_cast<int>(i))
        readers.push_back(static_cast<int>(i));
    }
}

llvm::ArrayRef<int> DebugIndex::Traces(int graph, int op) const { return traces_[graph][op]; }

int DebugIndex::TraceNear(int graph, int op, int slot, int near, bool after) const {
  const std::vector<int>& traces = traces_[graph][op];
  auto fits = [&](int trace) {
    return run_.traces[trace].slot == slot &&
           run_.traces[trace].execution == run_.traces[near].execution;
  };
  auto at = std::lower_bound(traces.begin(), traces.end(), near);
  auto next = std::find_if(at, traces.end(), fits);
  int later = next == traces.end() ? -1 : *next;
  if (after) return later;
  while (at != traces.begin() && !fits(*std::prev(at))) --at;
  int earlier = at == traces.begin() ? -1 : *std::prev(at);
  if (earlier < 0 || later < 0) return std::max(earlier, later);
  return near - earlier <= later - near ? earlier : later;
}

int DebugIndex::TraceIn(DebugTensor tensor, int execution) const {
  for (int trace : llvm::reverse(traces_[tensor.graph][tensor.op]))
    if (run_.traces[trace].slot == tensor.slot && run_.traces[trace].execution == execution)
      return trace;
  return -1;
}

std::vector<int> DebugIndex::Readers(DebugTensor tensor) const {
  std::vector<int> readers;
  for (int reader : readers_[tensor.graph][tensor.op]) {
    bool reads = llvm::any_of(
        run_.graphs[tensor.graph].ops[reader].inputs,
        [&](const DebugInput& in) { return in.op == tensor.op && in.slot == tensor.slot; });
    if (reads && !llvm::is_contained(readers, reader)) readers.push_back(reader);
  }
  return readers;
}

std::vector<DebugTensor> DebugIndex::ReadersOutside(DebugTensor result) const {
  std::vector<DebugTensor> readers;
  auto unrecorded = unrecorded_readers_.find({result.graph, result.op});
  if (unrecorded != unrecorded_readers_.end()) readers = unrecorded->second;
  int caller = calls_.Caller(result.graph), outer = run_.graphs[result.graph].outer;
  for (int slot = 0; caller >= 0; ++slot) {
    auto at = calls_.Result(result.graph, slot);
    if (!at) break;
    if (at->op != result.op) continue;
    for (int reader : Readers({outer, caller, slot})) readers.push_back({outer, reader, 0});
  }
  return readers;
}

llvm::ArrayRef<int> DebugIndex::EagerReaders(int64_t id) const {
  auto at = eager_readers_.find(id);
  return at == eager_readers_.end() ? llvm::ArrayRef<int>() : llvm::ArrayRef<int>(at->second);
}

bool DebugIndex::IsBad(int execution) const {
  return inside_[execution].bad > 0 ||
         llvm::any_of(run_.executions[execution].outputs,
                      [](const RecordedTensor& output) { return output.bad; });
}

std::map<int, DebugIndex::Line> DebugIndex::LinesOf(int source) const {
  std::vector<int> line_of(run_.stacks.size());  // by stack; 0: it has no frame in the file
  for (size_t i = 0; i < run_.stacks.size(); ++i)
    for (int frame : run_.stacks[i])
      if (frame >= 0 && run_.frames[frame].source == source) line_of[i] = run_.frames[frame].line;
  std::map<int, Line> lines;
  auto line = [&](int stack) { return stack < 0 ? 0 : line_of[stack]; };
  for (size_t g = 0; g < run_.graphs.size(); ++g)
    for (size_t i = 0; i < run_.graphs[g].ops.size(); ++i)
      if (int at = line(run_.graphs[g].ops[i].stack))
        lines[at].ops.push_back({static_cast<int>(g), static_cast<int>(i), 0});
  for (size_t i = 0; i < run_.executions.size(); ++i)
    if (int at = line(run_.executions[i].stack))
      lines[at].executions.push_back(static_cast<int>(i));
  return lines;
}

}  // namespace grapnel
