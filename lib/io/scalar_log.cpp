#include "lib/io/scalar_log.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lib/io/event_file.h"
#include "lib/io/record.h"
#include "lib/ir/literal.h"
#include "lib/ir/types.h"
#include "lib/ir/wire.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

// Limits on the nesting of directories and on the number of entries that are looked at, because the
// user may name a large directory by mistake.
constexpr int kDeepestFolder = 6;
constexpr size_t kMostEntries = 100'000;
constexpr size_t kLargestScalar = 1 << 20;

enum { kEventStep = 2, kEventSummary = 5 };
enum { kSummaryValue = 1 };
enum { kValueTag = 1, kValueSimple = 2, kValueTensor = 8, kValueMetadata = 9 };
enum { kMetadataPlugin = 1, kPluginName = 1 };

struct EventFile {
  std::string path, run;
};

// Finds the event files below a directory: as in TensorBoard, the files with "tfevents" in their
// names.
void FindEventFiles(const std::string& folder, const std::string& run, int depth, size_t* entries,
                    std::vector<EventFile>* files) {
  auto names = ListDirectory(folder);
  if (!names) return llvm::consumeError(names.takeError());
  for (const std::string& name : *names) {
    if (++*entries > kMostEntries) return;
    std::string path = JoinPath(folder, name);
    if (IsDirectory(path)) {
      std::string inner = run.empty() ? name : JoinPath(run, name);
      if (depth < kDeepestFolder) FindEventFiles(path, inner, depth + 1, entries, files);
    } else if (llvm::StringRef(name).contains("tfevents") && llvm::sys::fs::is_regular_file(path)) {
      files->push_back({path, run});
    }
  }
}

std::vector<EventFile> EventFilesAt(llvm::StringRef path) {
  std::vector<EventFile> files;
  size_t entries = 0;
  if (IsDirectory(path))
    FindEventFiles(path.str(), "", 0, &entries, &files);
  else if (FileExists(path))
    files.push_back({path.str(), ""});
  return files;
}

// One value of a Summary, which may or may not be a scalar.
struct SummaryValue {
  llvm::StringRef tag, tensor, plugin;
  std::optional<double> simple;
};

llvm::StringRef BytesAt(llvm::StringRef message, uint32_t field) {
  llvm::StringRef bytes;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.Is(field, WireType::kBytes)) bytes = reader.bytes();
  }
  return bytes;
}

SummaryValue ParseValue(llvm::StringRef bytes) {
  SummaryValue value;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(kValueTag, WireType::kBytes)) value.tag = reader.bytes();
    if (reader.Is(kValueSimple, WireType::kFixed32)) value.simple = reader.number_as_float();
    if (reader.Is(kValueTensor, WireType::kBytes)) value.tensor = reader.bytes();
    if (reader.Is(kValueMetadata, WireType::kBytes))
      value.plugin = BytesAt(BytesAt(reader.bytes(), kMetadataPlugin), kPluginName);
  }
  return value;
}

std::optional<double> NumberOf(llvm::StringRef tensor) {
  auto literal = Literal::FromTensorProto(tensor);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return std::nullopt;
  }
  bool is_number = IsFloating(literal->dtype()) || IsInteger(literal->dtype());
  if (literal->num_elements() != 1 || !is_number) return std::nullopt;
  return literal->AsDouble(0);
}

// Reads the scalars of one event file.
class ScalarReader {
 public:
  using Take = llvm::function_ref<void(llvm::StringRef tag, ScalarPoint point)>;

  // Reads the scalars and returns the problem of the file, or an empty text. Stops when `goes_on`
  // returns false, which is called before each record.
  std::string Read(llvm::StringRef bytes, Take take, llvm::function_ref<bool()> goes_on) {
    RecordReader records(bytes);
    size_t count = 0;
    while (goes_on() && records.Next()) {
      llvm::StringRef record = records.data();
      bool is_first = count++ == 0;
      if (is_first && !HasPrefix(BytesAt(record, kEventFileVersion), "brain.Event:")) return "";
      if (record.size() > kLargestScalar) continue;  // an image or a graph
      llvm::StringRef summary = BytesAt(record, kEventSummary);
      if (summary.empty()) continue;
      if (!records.DataIsIntact())
        return llvm::formatv("record {0} has a wrong checksum or is cut off", count).str();
      ReadSummary(record, take);
    }
    return records.problem().str();
  }

 private:
  void ReadSummary(llvm::StringRef event, Take take) {
    int64_t step = 0;
    WireReader reader(event);
    while (reader.Next()) {
      if (reader.Is(kEventStep, WireType::kVarint)) step = static_cast<int64_t>(reader.number());
    }
    WireReader values(BytesAt(event, kEventSummary));
    while (values.Next()) {
      if (!values.Is(kSummaryValue, WireType::kBytes)) continue;
      SummaryValue value = ParseValue(values.bytes());
      // TensorBoard writes the plugin's name only with the first value of each tag.
      if (value.plugin == "scalars") scalars_.insert(value.tag.str());
      std::optional<double> number = value.simple;
      if (!number && !value.tensor.empty() && scalars_.count(value.tag.str()))
        number = NumberOf(value.tensor);
      if (number) take(value.tag, {step, *number});
    }
  }

  std::set<std::string> scalars_;  // tags whose tensors are scalars
};

}  // namespace

bool HasScalars(llvm::StringRef path) {
  for (const EventFile& file : EventFilesAt(path)) {
    auto bytes = FileBytes::Open(file.path);
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      continue;
    }
    if (!StartsWithRecord((*bytes)->bytes())) continue;
    bool has_any = false;
    ScalarReader().Read((*bytes)->bytes(), [&](llvm::StringRef, ScalarPoint) { has_any = true; },
                        [&] { return !has_any; });
    if (has_any) return true;
  }
  return false;
}

Expected<ScalarLog> ReadScalarLog(llvm::StringRef path) {
  ScalarLog log;
  std::map<std::pair<std::string, std::string>, ScalarSeries> all;
  for (const EventFile& file : EventFilesAt(path)) {
    ASSIGN_OR_RETURN(auto bytes, FileBytes::Open(file.path));
    std::set<std::string> begun;
    auto take = [&](llvm::StringRef tag, ScalarPoint point) {
      ScalarSeries& series = all[{file.run, tag.str()}];
      series.run = file.run;
      series.tag = tag.str();
      if (begun.insert(series.tag).second)
        llvm::erase_if(series.points, [&](const ScalarPoint& p) { return p.step >= point.step; });
      series.points.push_back(point);
    };
    std::string problem = ScalarReader().Read(bytes->bytes(), take, [] { return true; });
    if (!problem.empty()) log.problems.push_back(file.path + ": " + problem);
    RETURN_IF_ERROR(bytes->CheckWhole());
  }
  for (auto& [key, series] : all) log.series.push_back(std::move(series));
  return std::move(log);
}

}  // namespace grapnel
