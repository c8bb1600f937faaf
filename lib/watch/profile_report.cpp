#include "lib/watch/profile_report.h"

#include "lib/support/text.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

using Row = Profile::Row;

double PerRun(const Profile& profile, int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-6 / std::max<int64_t>(profile.counted_runs(), 1);
}

std::string Milliseconds(const Profile& profile, int64_t nanoseconds) {
  return llvm::formatv("{0:f3}", PerRun(profile, nanoseconds)).str();
}

std::string Percent(int64_t part, int64_t whole) {
  return llvm::formatv("{0:f1}%", whole ? 100.0 * part / whole : 0).str();
}

int64_t OwnOf(llvm::ArrayRef<Row> rows) {
  int64_t own = 0;
  for (const Row& row : rows) own += row.own;
  return own;
}

int64_t CompilingOf(llvm::ArrayRef<Row> by_op) {
  int64_t own = 0;
  for (const Row& row : by_op) own += row.op == Profile::kCompile ? row.own : 0;
  return own;
}

// Returns the node's time per call divided by its least time; nullopt if the least time is unknown
// or the node calls functions.
std::optional<double> TimesLeast(const Row& row, const Roofline* roofline) {
  if (!roofline || !row.graph || row.calls == 0 || row.own != row.total) return std::nullopt;
  auto least = roofline->LeastTime(*row.graph, row.nodes);
  if (!least) return std::nullopt;
  return static_cast<double>(row.own) / row.calls / *least;
}

void WriteRest(size_t rows, size_t most, const char* noun, llvm::raw_ostream& os) {
  if (rows > most) os << "... and " << Plural(rows - most, noun) << " more\n";
}

// Writes a table of sums; `name` is what they are sums of.
void WriteSums(const Profile& profile, llvm::ArrayRef<Row> sums, const char* name,
               std::string Row::*field, int64_t whole, size_t most, llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows = {
      {profile.counted_runs() > 1 ? "ms/run" : "ms", "share", "calls", name}};
  for (const Row& row : sums.take_front(most))
    rows.push_back({Milliseconds(profile, row.own), Percent(row.own, whole), WithCommas(row.calls),
                    row.*field});
  os << Table(rows);
  WriteRest(sums.size(), most, name, os);
}

void WriteNodes(const Profile& profile, int64_t whole, size_t most, const Roofline* roofline,
                llvm::raw_ostream& os) {
  std::vector<Row> by_node = profile.ByNode();
  if (roofline) {
    os << llvm::formatv(
        "x fastest: how many times longer a node took than its arithmetic and its memory traffic "
        "take at the best rates measured here, {0:f0} GFLOP/s and {1:f1} GB/s\n",
        roofline->rates().flops * 1e-9, roofline->rates().bytes * 1e-9);
  }
  std::vector<std::vector<std::string>> rows = {
      {profile.counted_runs() > 1 ? "ms/run" : "ms", "share", "calls", "bytes"}};
  if (roofline) rows[0].push_back("x fastest");
  rows[0].insert(rows[0].end(), {"op", "node"});
  for (const Row& row : llvm::ArrayRef(by_node).take_front(most)) {
    rows.push_back({Milliseconds(profile, row.own), Percent(row.own, whole), WithCommas(row.calls),
                    WithCommas(row.output_bytes)});
    std::optional<double> times = TimesLeast(row, roofline);
    if (roofline) rows.back().push_back(times ? llvm::formatv("{0:f1}", *times).str() : "-");
    rows.back().insert(rows.back().end(), {row.op, row.name});
  }
  os << Table(rows);
  WriteRest(by_node.size(), most, "node", os);
}

// Returns the rows of nodes. A node that ran in several partitions has one row.
std::vector<Row> NodesOf(const Profile& profile) {
  std::vector<Row> rows;
  std::map<std::string, size_t> places;
  for (Row& row : profile.ByNode()) {
    if (row.op == Profile::kCompile) continue;
    auto [place, is_new] = places.try_emplace(row.name, rows.size());
    if (is_new) {
      rows.push_back(std::move(row));
      continue;
    }
    Row& sum = rows[place->second];
    sum.calls += row.calls;
    sum.own += row.own;
    sum.output_bytes = std::max(sum.output_bytes, row.output_bytes);
  }
  return rows;
}

// Writes a number of milliseconds with the precision of the clock.
void WriteTime(llvm::StringRef key, double milliseconds, llvm::json::OStream& json) {
  json.attributeBegin(key);
  json.rawValue(llvm::formatv("{0:f6}", milliseconds).str());
  json.attributeEnd();
}

void WriteRow(const Profile& profile, const Row& row, int64_t whole, llvm::json::OStream& json) {
  WriteTime("ms", PerRun(profile, row.own), json);
  json.attributeBegin("share");
  json.rawValue(llvm::formatv("{0:f4}", whole ? static_cast<double>(row.own) / whole : 0).str());
  json.attributeEnd();
  json.attribute("calls", row.calls);
}

void WriteSumsJson(const Profile& profile, llvm::ArrayRef<Row> sums, const char* list,
                   const char* name, std::string Row::*field, int64_t whole,
                   llvm::json::OStream& json) {
  json.attributeArray(list, [&] {
    for (const Row& row : sums) {
      json.object([&] {
        json.attribute(name, llvm::json::fixUTF8(row.*field));
        WriteRow(profile, row, whole, json);
      });
    }
  });
}

}  // namespace

void WriteProfileText(const Profile& profile, const LayerNames& layers, size_t most,
                      const Roofline* roofline, llvm::raw_ostream& os) {
  std::vector<Row> by_op = profile.ByOp();
  int64_t whole = OwnOf(by_op), compiling = CompilingOf(by_op);
  WriteSums(profile, profile.ByLayer(layers), "layer", &Row::name, whole, most, os);
  os << "\n";
  WriteSums(profile, by_op, "op", &Row::op, whole, most, os);
  os << "\n";
  WriteNodes(profile, whole, most, roofline, os);
  os << "\n";
  if (profile.runs() > 1)
    os << "the first run, which includes setup, took "
       << llvm::formatv("{0:f3}", profile.first_run() * 1e-6) << " ms and is not counted above\n";
  os << Plural(profile.counted_runs(), "run") << (profile.runs() > 1 ? " after it, each " : ", ")
     << Milliseconds(profile, whole - compiling) << " ms in kernels";
  if (compiling > 0) os << ", " << Milliseconds(profile, compiling) << " ms compiling functions";
  os << "; tensors held at most " << WithCommas(profile.peak_bytes()) << " bytes";
  if (!profile.peak_node().empty()) os << ", around '" << profile.peak_node() << "'";
  os << "\n";
  if (profile.is_cut()) {
    os << "the trace ends after " << WithCommas(Profile::kMaxEvents) << " kernels; "
       << WithCommas(profile.events_cut()) << " more are only in the tables\n";
  }
}

void WriteProfileJson(const Profile& profile, const LayerNames& layers, const Roofline* roofline,
                      llvm::json::OStream& json) {
  std::vector<Row> by_op = profile.ByOp();
  int64_t whole = OwnOf(by_op), compiling = CompilingOf(by_op);
  json.attribute("runs", profile.counted_runs());
  if (profile.runs() > 1) WriteTime("first_run_ms", profile.first_run() * 1e-6, json);
  WriteTime("kernels_ms", PerRun(profile, whole - compiling), json);
  WriteTime("compiling_ms", PerRun(profile, compiling), json);
  json.attribute("peak_bytes", profile.peak_bytes());
  json.attribute("peak_node", llvm::json::fixUTF8(profile.peak_node()));
  if (roofline) {
    json.attribute("best_flops_per_second", static_cast<int64_t>(roofline->rates().flops));
    json.attribute("best_bytes_per_second", static_cast<int64_t>(roofline->rates().bytes));
  }
  WriteSumsJson(profile, profile.ByLayer(layers), "layers", "layer", &Row::name, whole, json);
  WriteSumsJson(profile, by_op, "ops", "op", &Row::op, whole, json);
  json.attributeArray("nodes", [&] {
    for (const Row& row : profile.ByNode()) {
      json.object([&] {
        json.attribute("node", llvm::json::fixUTF8(row.name));
        json.attribute("op", llvm::json::fixUTF8(row.op));
        json.attribute("layer", llvm::json::fixUTF8(Profile::LayerOf(row, layers)));
        WriteRow(profile, row, whole, json);
        json.attribute("bytes", row.output_bytes);
        if (auto times = TimesLeast(row, roofline)) {
          json.attributeBegin("times_fastest");
          json.rawValue(llvm::formatv("{0:f2}", *times).str());
          json.attributeEnd();
        }
      });
    }
  });
}

void WriteProfileCsv(const Profile& profile, const LayerNames& layers, llvm::raw_ostream& os) {
  os << "node,ms,calls,bytes,op,layer\n";
  for (const Row& row : NodesOf(profile)) {
    os << CsvField(row.name) << llvm::formatv(",{0:f6},", PerRun(profile, row.own)) << row.calls
       << "," << row.output_bytes << "," << CsvField(row.op) << ","
       << CsvField(Profile::LayerOf(row, layers)) << "\n";
  }
}

std::map<std::string, double> TimesOfNodes(const Profile& profile) {
  std::map<std::string, double> times;
  for (const Row& row : NodesOf(profile)) times[row.name] = PerRun(profile, row.own);
  return times;
}

}  // namespace grapnel
