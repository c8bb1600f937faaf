#include "lib/watch/profile.h"

#include <algorithm>

#include "lib/ir/module.h"
#include "lib/support/text.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

constexpr const char* kCompile = "(compile)";

int64_t Nanoseconds(RunProfiler::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

std::string FullName(const Node& node) {
  for (const auto& function : node.graph().module().functions) {
    if (&function->body == &node.graph()) return (function->name() + "/" + node.name()).str();
  }
  return node.name().str();
}

std::string Milliseconds(int64_t nanoseconds) {
  return llvm::formatv("{0:f3}", nanoseconds * 1e-6).str();
}

std::string Percent(int64_t part, int64_t whole) {
  return llvm::formatv("{0:f1}%", whole ? 100.0 * part / whole : 0).str();
}

bool IsDearer(const Profile::Row& a, const Profile::Row& b) {
  return std::tie(b.own, a.name, a.op) < std::tie(a.own, b.name, b.op);
}

// Of the kernels that run on this thread, the innermost last: nanoseconds spent in kernels of
// functions that they called.
thread_local llvm::SmallVector<int64_t, 8> time_inside;

}  // namespace

RunProfiler::Clock::time_point Profile::Begin() {
  time_inside.push_back(0);
  return Clock::now();
}

int Profile::ThreadNumber() {
  auto it = threads_.try_emplace(std::this_thread::get_id(), threads_.size()).first;
  return it->second;
}

uint32_t Profile::NumberOf(const Node& node) {
  std::vector<uint32_t>& numbers = numbers_[&node.graph()];
  if (numbers.size() <= node.id()) numbers.resize(node.graph().end_id(), 0);
  uint32_t& number = numbers[node.id()];
  if (number == 0) {
    Row row;
    row.name = FullName(node);
    row.op = node.op().str();
    row.graph = &node.graph();
    row.node = node.id();
    seen_.push_back(std::move(row));
    number = seen_.size();
  }
  return number - 1;
}

// Of a row: one more call, which ends on this thread. Under the lock.
Profile::Row& Profile::Add(uint32_t number, Clock::time_point began, Clock::time_point ended) {
  if (!start_) start_ = began;
  int64_t from = Nanoseconds(began - *start_), to = Nanoseconds(ended - *start_);
  int thread = ThreadNumber();
  int64_t inside = time_inside.pop_back_val();
  if (!time_inside.empty()) time_inside.back() += to - from;
  Row& row = seen_[number];
  ++row.calls;
  row.total += to - from;
  row.own += to - from - inside;
  if (events_.size() < kMaxEvents)
    events_.push_back({number, thread, from, to, memory.live()});
  else
    ++events_cut_;
  return row;
}

void Profile::Ran(const Node& node, Clock::time_point began, Clock::time_point ended,
                  llvm::ArrayRef<Tensor> outputs) {
  std::lock_guard lock(mutex_);
  Row& row = Add(NumberOf(node), began, ended);
  int64_t bytes = 0;
  for (const Tensor& output : outputs) bytes += output ? output.byte_size() : 0;
  row.output_bytes = std::max(row.output_bytes, bytes);
  // The top of the curve lies within a kernel; the first kernel to end after it is the one.
  if (memory.peak() > peak_bytes_) {
    peak_bytes_ = memory.peak();
    peak_node_ = row.name;
  }
}

void Profile::Compiled(const Function& function, Clock::time_point began, Clock::time_point ended) {
  std::lock_guard lock(mutex_);
  uint32_t& number = compiled_[&function];
  if (number == 0) {
    Row row;
    row.name = function.name().str();
    row.op = kCompile;
    seen_.push_back(std::move(row));
    number = seen_.size();
  }
  Add(number - 1, began, ended);
}

std::vector<Profile::Row> Profile::ByNode() const {
  std::vector<Row> rows = seen_;
  llvm::sort(rows, IsDearer);
  return rows;
}

std::vector<Profile::Row> Profile::ByOp() const {
  std::map<std::string, Row> ops;
  for (const Row& row : seen_) {
    Row& sum = ops[row.op];
    sum.op = row.op;
    sum.calls += row.calls;
    sum.total += row.total;
    sum.own += row.own;
    sum.output_bytes = std::max(sum.output_bytes, row.output_bytes);
  }
  std::vector<Row> rows;
  rows.reserve(ops.size());
  for (auto& [op, row] : ops) rows.push_back(std::move(row));
  llvm::sort(rows, IsDearer);
  return rows;
}

void Profile::WriteTrace(llvm::raw_ostream& os) const {
  // Slices that enclose others come first, as viewers want them.
  std::vector<const Event*> events;
  events.reserve(events_.size());
  for (const Event& event : events_) events.push_back(&event);
  llvm::sort(events, [](const Event* a, const Event* b) {
    return std::tie(a->began, b->ended) < std::tie(b->began, a->ended);
  });
  os << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (size_t thread = 0; thread < threads_.size(); ++thread) {
    os << R"({"ph":"M","pid":1,"tid":)" << thread
       << R"(,"name":"thread_name","args":{"name":"thread )" << thread << "\"}},\n";
  }
  for (const Event* event : events) {
    const Row& row = seen_[event->node];
    std::string name = llvm::formatv("{0}", llvm::json::Value(llvm::json::fixUTF8(row.name)));
    std::string slice = row.op == kCompile ? "compile " + row.name : row.op;
    std::string op = llvm::formatv("{0}", llvm::json::Value(llvm::json::fixUTF8(slice)));
    os << llvm::formatv(
        R"({{"ph":"X","pid":1,"tid":{0},"ts":{1:f3},"dur":{2:f3},"name":{3},"cat":{3},"args":{{"node":{4}}},)",
        event->thread, event->began * 1e-3, (event->ended - event->began) * 1e-3, op, name);
    os << "\n";
    os << llvm::formatv(R"({{"ph":"C","pid":1,"ts":{0:f3},"name":"memory","args":{{"bytes":{1}}},)",
                        event->ended * 1e-3, event->live_bytes);
    os << "\n";
  }
  os << R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"grapnel"}}]})"
     << "\n";
}

void Profile::WriteTables(llvm::raw_ostream& os, size_t nodes) const {
  std::vector<Row> by_op = ByOp(), by_node = ByNode();
  int64_t whole = 0;
  for (const Row& row : by_op) whole += row.own;
  std::vector<std::vector<std::string>> rows = {{"ms", "share", "calls", "op"}};
  for (const Row& row : by_op)
    rows.push_back({Milliseconds(row.own), Percent(row.own, whole), WithCommas(row.calls), row.op});
  os << Table(rows);
  rows = {{"ms", "share", "calls", "bytes", "op", "node"}};
  for (size_t i = 0; i < std::min(nodes, by_node.size()); ++i) {
    const Row& row = by_node[i];
    rows.push_back({Milliseconds(row.own), Percent(row.own, whole), WithCommas(row.calls),
                    WithCommas(row.output_bytes), row.op, row.name});
  }
  os << "\n" << Table(rows);
  if (nodes < by_node.size())
    os << "... and " << WithCommas(by_node.size() - nodes) << " more nodes (the trace has all)\n";
  int64_t compiling = 0;
  for (const Row& row : by_op) compiling += row.op == kCompile ? row.own : 0;
  os << "\n" << Plural(runs_, "run") << ", " << Milliseconds(whole - compiling) << " ms in kernels";
  if (compiling > 0) os << ", " << Milliseconds(compiling) << " ms compiling functions";
  os << "; tensors held at most " << WithCommas(peak_bytes_) << " bytes";
  if (!peak_node_.empty()) os << ", around '" << peak_node_ << "'";
  os << "\n";
  if (events_cut_ > 0) {
    os << "the trace ends after " << WithCommas(events_.size()) << " kernels; "
       << WithCommas(events_cut_) << " more are in the sums alone\n";
  }
}

}  // namespace grapnel
