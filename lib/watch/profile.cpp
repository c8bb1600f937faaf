#include "lib/watch/profile.h"

#include <algorithm>

#include "lib/ir/module.h"
#include "lib/support/text.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

int64_t Nanoseconds(RunProfiler::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

std::string FullName(const Node& node) {
  for (const auto& function : node.graph().module().functions) {
    if (&function->body == &node.graph()) return (function->name() + "/" + node.name()).str();
  }
  return node.name().str();
}

bool IsDearer(const Profile::Row& a, const Profile::Row& b) {
  return std::tie(b.own, a.name, a.op) < std::tie(a.own, b.name, b.op);
}

// For each kernel that is running on this thread, the innermost last: the nanoseconds spent so far
// in kernels of functions that it called.
thread_local llvm::SmallVector<int64_t, 8> time_inside;
thread_local const char* how_now = nullptr;  // OnVariant() of the innermost kernel

// Writes nanoseconds in microseconds, the unit of trace viewers, with three decimals.
void WriteMicroseconds(llvm::StringRef key, int64_t nanoseconds, llvm::json::OStream& json) {
  json.attributeBegin(key);
  json.rawValue(llvm::formatv("{0:f3}", nanoseconds * 1e-3).str());
  json.attributeEnd();
}

// Writes a metadata event with the name that trace viewers show for the process or a thread.
void WriteName(llvm::StringRef what, std::optional<size_t> thread, llvm::StringRef name,
               llvm::json::OStream& json) {
  json.object([&] {
    json.attribute("ph", "M");
    json.attribute("pid", 1);
    if (thread) json.attribute("tid", *thread);
    json.attribute("name", what);
    json.attributeObject("args", [&] { json.attribute("name", name); });
  });
}

}  // namespace

RunProfiler::Clock::time_point Profile::Begin() {
  time_inside.push_back(0);
  return Clock::now();
}

int Profile::ThreadNumber() {
  auto it = threads_.try_emplace(std::this_thread::get_id(), threads_.size()).first;
  return it->second;
}

void Profile::OnFused(const Node& last, llvm::ArrayRef<Node> nodes) {
  constexpr size_t kShown = 5;  // ops that are shown of a long fusion
  std::lock_guard lock(mutex_);
  Row& row = seen_[NumberOf(last)];
  row.stands_for.clear();
  row.nodes.clear();
  row.op.clear();
  for (const Node& node : nodes) {
    size_t before = row.stands_for.size();
    if (before < kShown) row.op += (before ? "+" : "") + node.op().str();
    row.stands_for.push_back(FullName(node));
    row.nodes.push_back(node.id());
  }
  if (nodes.size() > kShown) row.op += llvm::formatv("+{0} more", nodes.size() - kShown).str();
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
    row.nodes = {node.id()};
    seen_.push_back(std::move(row));
    number = seen_.size();
  }
  return number - 1;
}

// Adds one call of a kernel, which has just ended on this thread, to row `number`. Call it under
// the lock.
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

void Profile::OnKernel(const Node& node, Clock::time_point began, Clock::time_point ended,
                       llvm::ArrayRef<Tensor> outputs) {
  std::lock_guard lock(mutex_);
  Row& row = Add(NumberOf(node), began, ended);
  if (const char* how = std::exchange(how_now, nullptr)) {
    std::string said = llvm::formatv(" ({0})", how).str();
    if (!llvm::StringRef(row.op).ends_with(said)) row.op += said;
  }
  int64_t bytes = 0;
  for (const Tensor& output : outputs) bytes += output ? output.byte_size() : 0;
  row.output_bytes = std::max(row.output_bytes, bytes);
  // The peak occurs while a kernel runs: name the first kernel that ends afterwards.
  if (memory.peak() > peak_bytes_) {
    peak_bytes_ = memory.peak();
    peak_node_ = row.name;
  }
}

void Profile::OnVariant(const char* how) { how_now = how; }

void Profile::Compiled(const Function& function, Clock::time_point began, Clock::time_point ended) {
  std::lock_guard lock(mutex_);
  uint32_t& number = compiled_[&function];
  if (number == 0) {
    Row row;
    row.name = function.name().str();
    row.op = Profile::kCompile;
    seen_.push_back(std::move(row));
    number = seen_.size();
  }
  Add(number - 1, began, ended);
}

void Profile::RunDone() {
  if (++runs_ == 1) first_run_ = seen_;
}

// Returns all rows or, after several runs, the rows without the first run and without kernels that
// only the first run called.
std::vector<Profile::Row> Profile::Counted() const {
  std::vector<Row> rows = seen_;
  if (runs_ < 2) return rows;
  for (size_t i = 0; i < first_run_.size(); ++i) {
    rows[i].calls -= first_run_[i].calls;
    rows[i].total -= first_run_[i].total;
    rows[i].own -= first_run_[i].own;
  }
  llvm::erase_if(rows, [](const Row& row) { return row.calls == 0; });
  return rows;
}

std::vector<Profile::Row> Profile::ByNode() const {
  std::vector<Row> rows = Counted();
  llvm::sort(rows, IsDearer);
  return rows;
}

// Sums the counted rows by what `key` returns.
std::vector<Profile::Row> Profile::SumsBy(llvm::function_ref<std::string(const Row&)> key,
                                          std::string Row::*field) const {
  std::map<std::string, Row> sums;
  for (const Row& row : Counted()) {
    Row& sum = sums[key(row)];
    sum.calls += row.calls;
    sum.total += row.total;
    sum.own += row.own;
    sum.output_bytes = std::max(sum.output_bytes, row.output_bytes);
  }
  std::vector<Row> rows;
  rows.reserve(sums.size());
  for (auto& [text, row] : sums) {
    row.*field = text;
    rows.push_back(std::move(row));
  }
  llvm::sort(rows, IsDearer);
  return rows;
}

std::vector<Profile::Row> Profile::ByOp() const {
  return SumsBy([](const Row& row) { return row.op; }, &Row::op);
}

std::vector<Profile::Row> Profile::ByLayer(const LayerNames& layers) const {
  return SumsBy([&](const Row& row) { return LayerOf(row, layers); }, &Row::name);
}

std::string Profile::LayerOf(const Row& row, const LayerNames& layers) {
  if (!row.graph) return row.op;
  std::string layer = layers.Of(row.graph->node(row.node));
  return layer.empty() ? "(no layer)" : layer;
}

int64_t Profile::first_run() const {
  int64_t sum = 0;
  for (const Row& row : first_run_) sum += row.own;
  return sum;
}

void Profile::WriteTrace(llvm::raw_ostream& os) const {
  // Trace viewers require that a slice comes before the slices that it contains.
  std::vector<const Event*> events;
  events.reserve(events_.size());
  for (const Event& event : events_) events.push_back(&event);
  llvm::sort(events, [](const Event* a, const Event* b) {
    return std::tie(a->began, b->ended) < std::tie(b->began, a->ended);
  });
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      WriteName("process_name", std::nullopt, "grapnel", json);
      for (size_t thread = 0; thread < threads_.size(); ++thread)
        WriteName("thread_name", thread, "thread " + std::to_string(thread), json);
      for (const Event* event : events) {
        const Row& row = seen_[event->node];
        std::string op = row.op == Profile::kCompile ? "compile " + row.name : row.op;
        json.object([&] {
          json.attribute("ph", "X");
          json.attribute("pid", 1);
          json.attribute("tid", event->thread);
          WriteMicroseconds("ts", event->began, json);
          WriteMicroseconds("dur", event->ended - event->began, json);
          json.attribute("name", llvm::json::fixUTF8(op));
          json.attribute("cat", llvm::json::fixUTF8(op));
          json.attributeObject("args", [&] {
            json.attribute("node", llvm::json::fixUTF8(row.name));
            if (row.stands_for.empty()) return;
            json.attributeArray("stands_for", [&] {
              for (const std::string& name : row.stands_for) json.value(llvm::json::fixUTF8(name));
            });
          });
        });
        json.object([&] {
          json.attribute("ph", "C");
          json.attribute("pid", 1);
          WriteMicroseconds("ts", event->ended, json);
          json.attribute("name", "memory");
          json.attributeObject("args", [&] { json.attribute("bytes", event->live_bytes); });
        });
      }
    });
  });
  os << "\n";
}

}  // namespace grapnel
