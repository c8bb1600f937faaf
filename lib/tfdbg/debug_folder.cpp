#include "lib/tfdbg/debug_folder.h"

#include <algorithm>
#include <map>

#include "lib/io/record.h"
#include "lib/support/text.h"
#include "lib/tfdbg/autograph_source.h"
#include "lib/tfdbg/debug_calls.h"
#include "lib/tfdbg/debug_records.h"
#include "lib/tfdbg/v1_dump.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

// The kinds of files in a set, in the order in which to read them, each with the fields of
// DebugEvent that its records have.
struct FileOfSet {
  llvm::StringRef suffix;
  std::vector<uint32_t> fields;
};
const std::vector<FileOfSet>& FilesOfSet() {
  static const auto* files = new std::vector<FileOfSet>{
      {".metadata", {kMetadata}},       {".source_files", {kSourceFile}},
      {".stack_frames", {kStackFrame}}, {".graphs", {kGraphOp, kDebuggedGraph, kGraphId, kDevice}},
      {".execution", {kExecution}},     {".graph_execution_traces", {kTrace}},
  };
  return *files;
}

// True if the first record is an event with one of `fields`, the kinds that the file name implies.
bool StartsWithEvent(llvm::StringRef bytes, llvm::ArrayRef<uint32_t> fields) {
  RecordReader records(bytes);
  if (!records.Next()) return false;
  WireReader event(records.data());
  while (event.Next()) {
    if (event.type() == WireType::kBytes) return llvm::is_contained(fields, event.field());
    if (event.field() > 2) return false;
  }
  return false;
}

// The files of one process: a prefix such as "tfdbg_events.1795232296.vm" with six suffixes.
struct FileSet {
  std::string prefix;
  std::map<llvm::StringRef, std::shared_ptr<const FileBytes>> files;  // by suffix
  std::string run_id;
  llvm::StringRef tensorflow_version, file_version;
  double start_time = 0;
};

// True if the set has all six files and all are empty: TensorFlow creates them at once, and writes
// most of them at the first flush.
bool IsEmptySet(const FileSet& set) {
  return set.files.size() == FilesOfSet().size() &&
         llvm::all_of(set.files, [](const auto& file) { return file.second->bytes().empty(); });
}

// Returns the sets of files in a folder, by prefix. Sets `is_debug` to true if a file is tfdbg's by
// its contents, or a set is empty. Files that cannot be opened are skipped, and reported if
// `problems` is not null.
std::map<std::string, FileSet> FindSets(llvm::StringRef path, bool* is_debug,
                                        std::vector<std::string>* problems) {
  std::map<std::string, FileSet> sets;
  auto names = ListDirectory(path);
  if (!names) {
    llvm::consumeError(names.takeError());
    return sets;
  }
  for (const std::string& name : *names) {
    for (const FileOfSet& kind : FilesOfSet()) {
      std::string file_path = JoinPath(path, name);
      if (!HasSuffix(name, kind.suffix) || !llvm::sys::fs::is_regular_file(file_path)) continue;
      auto file = FileBytes::Open(file_path);
      if (!file) {
        std::string text = TextOf(file.takeError());
        if (problems) problems->push_back(std::move(text));
        continue;
      }
      *is_debug |= StartsWithEvent((*file)->bytes(), kind.fields);
      FileSet& set = sets[llvm::StringRef(name).drop_back(kind.suffix.size()).str()];
      set.prefix = JoinPath(path, llvm::StringRef(name).drop_back(kind.suffix.size()));
      set.files[kind.suffix] = *file;
    }
  }
  for (const auto& [prefix, set] : sets) *is_debug |= IsEmptySet(set);
  return sets;
}

void ReadMetadata(FileSet* set, DebugFolder* folder) {
  auto file = set->files.find(".metadata");
  if (file == set->files.end() || file->second->bytes().empty()) return;
  RecordReader records(file->second->bytes());
  if (!records.Next() || !records.DataIsIntact()) {
    folder->problems.push_back(set->prefix + ".metadata: its record is truncated or damaged");
    return;
  }
  WireReader event(records.data());
  while (event.Next()) {
    if (event.Is(kWallTime, WireType::kFixed64)) {
      uint64_t bits = event.number();
      std::memcpy(&set->start_time, &bits, 8);
    }
    if (!event.Is(kMetadata, WireType::kBytes)) continue;
    WireReader metadata(event.bytes());
    while (metadata.Next()) {
      if (metadata.Is(1, WireType::kBytes)) set->tensorflow_version = metadata.bytes();
      if (metadata.Is(2, WireType::kBytes)) set->file_version = metadata.bytes();
      if (metadata.Is(3, WireType::kBytes)) set->run_id = metadata.bytes().str();
    }
  }
}

// Reports missing files, and an empty metadata file, without which TensorBoard does not find the
// set.
void ReportMissing(const FileSet& set, DebugFolder* folder) {
  for (const FileOfSet& kind : FilesOfSet()) {
    auto file = set.files.find(kind.suffix);
    if (file == set.files.end()) {
      folder->problems.push_back(set.prefix + kind.suffix.str() + ": is missing");
    } else if (kind.suffix == ".metadata" && file->second->bytes().empty()) {
      folder->problems.push_back(set.prefix + kind.suffix.str() + ": is empty");
    }
  }
}

TensorDebugMode MostFrequentMode(const DebugRun& run) {
  std::map<TensorDebugMode, size_t> counts;
  for (const DebugExecution& execution : run.executions)
    if (execution.mode != proto::UNSPECIFIED) ++counts[execution.mode];
  for (const DebugTrace& trace : run.traces)
    if (trace.mode != proto::UNSPECIFIED) ++counts[trace.mode];
  TensorDebugMode mode = proto::UNSPECIFIED;
  for (const auto& [candidate, count] : counts)
    if (!counts.count(mode) || count > counts[mode]) mode = candidate;
  return mode;
}

DebugRun ReadRun(llvm::ArrayRef<FileSet*> sets, DebugFolder* folder) {
  DebugRun run;
  run.id = sets[0]->run_id;
  run.tensorflow_version = sets[0]->tensorflow_version;
  run.file_version = sets[0]->file_version;
  run.start_time = sets[0]->start_time;
  DebugRecords records(folder, &run);
  for (FileSet* set : sets) {
    run.sets.push_back(set->prefix);
    records.BeginSet();
    for (const FileOfSet& kind : FilesOfSet()) {
      auto file = set->files.find(kind.suffix);
      if (file == set->files.end() || kind.suffix == ".metadata") continue;
      records.ReadFile(file->second->name(), file->second->bytes());
    }
  }
  auto earlier = [](const auto& a, const auto& b) { return a.wall_time < b.wall_time; };
  if (sets.size() > 1) {
    std::stable_sort(run.executions.begin(), run.executions.end(), earlier);
    std::stable_sort(run.traces.begin(), run.traces.end(), earlier);
  }
  records.Finish();
  MapAutographFrames(&run);
  LinkCalls(&run);
  run.mode = MostFrequentMode(run);
  return run;
}

}  // namespace

int DebugGraph::Find(llvm::StringRef op_name) const {
  auto at = op_by_name.find(op_name);
  return at == op_by_name.end() ? -1 : at->second;
}

int DebugRun::OutermostFunction(int graph) const {
  while (graphs[graph].outer >= 0 && graphs[graphs[graph].outer].outer >= 0)
    graph = graphs[graph].outer;
  int root = graphs[graph].outer;
  // The chain of outer graphs ends in the root graph, which has no name. If it ends in a graph with
  // a name, there is no root graph, and that graph is the outermost function.
  return root >= 0 && !graphs[root].name.empty() ? root : graph;
}

bool IsDebugFolder(llvm::StringRef path) {
  bool is_debug = false;
  if (IsDirectory(path)) FindSets(path, &is_debug, nullptr);
  return is_debug || IsV1Dump(path);
}

Expected<DebugFolder> ReadDebugFolder(llvm::StringRef path) {
  DebugFolder folder;
  folder.path = path.str();
  if (!IsDirectory(path))
    return MakeError("{0}: is not a folder: a debug folder was expected", path);
  bool is_debug = false;
  auto sets = FindSets(path, &is_debug, &folder.problems);
  if (!is_debug && IsV1Dump(path)) return ReadV1Dump(path);
  if (!is_debug)
    return MakeError(
        "{0}: is not a debug folder: it holds neither a file of TensorFlow's debugger (such as "
        "*.metadata or *.graphs) nor a dump of tfdbg v1",
        path);
  std::vector<FileSet*> by_time;
  for (auto& [prefix, set] : sets) {
    for (const auto& [suffix, file] : set.files) folder.files.push_back(file);
    ReadMetadata(&set, &folder);
    ReportMissing(set, &folder);
    by_time.push_back(&set);
  }
  std::stable_sort(by_time.begin(), by_time.end(), [](const FileSet* a, const FileSet* b) {
    return a->start_time < b->start_time;
  });
  std::vector<std::vector<FileSet*>> runs;
  for (FileSet* set : by_time) {
    auto same = llvm::find_if(runs, [&](const std::vector<FileSet*>& run) {
      return !set->run_id.empty() && run[0]->run_id == set->run_id;
    });
    if (same == runs.end()) same = runs.insert(runs.end(), std::vector<FileSet*>());
    same->push_back(set);
  }
  for (const auto& run : runs) folder.runs.push_back(ReadRun(run, &folder));
  return folder;
}

std::vector<llvm::StringRef> SourceLines(const DebugSource& source) {
  std::vector<llvm::StringRef> lines;
  WireReader reader(source.record);
  while (reader.Next())
    if (reader.Is(3, WireType::kBytes)) lines.push_back(reader.bytes());
  return lines;
}

bool IsFrameworkFrame(const DebugRun& run, int frame) {
  int source = frame < 0 ? -1 : run.frames[frame].source;
  return source < 0 || run.sources[source].is_framework;
}

int UserFrame(const DebugRun& run, int stack) {
  for (int frame : llvm::reverse(run.StackAt(stack)))
    if (!IsFrameworkFrame(run, frame)) return frame;
  return -1;
}

std::vector<llvm::StringRef> UserFunctions(const DebugRun& run, int stack) {
  std::vector<llvm::StringRef> functions;
  for (int frame : run.StackAt(stack)) {
    if (IsFrameworkFrame(run, frame)) continue;
    llvm::StringRef name = run.frames[frame].function;
    bool again = !functions.empty() && functions.back() == name;
    if (!name.empty() && name != "<module>" && !again) functions.push_back(name);
  }
  return functions;
}

}  // namespace grapnel
