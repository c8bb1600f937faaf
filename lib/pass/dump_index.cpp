#include "lib/pass/dump_index.h"

#include "lib/io/write.h"
#include "lib/support/file.h"
#include "lib/support/folder_lock.h"
#include "lib/support/json.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kIndex("index.json");

// The parsed index.json, or null.
Expected<llvm::json::Value> ReadIndex(const std::string& path) {
  if (!FileExists(path)) return llvm::json::Value(nullptr);
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return ParseJson(file->bytes());
}

// The runs listed in an index; empty if there is no index yet.
Expected<std::vector<const llvm::json::Object*>> KnownRuns(const std::string& path,
                                                           const llvm::json::Value& index) {
  if (index.kind() == llvm::json::Value::Null) return std::vector<const llvm::json::Object*>();
  auto runs = RunsOf(index);
  if (runs) return runs;
  return MakeError("{0} was not written by grapnel ({1}) and is kept: use another folder", path,
                   TextOf(runs.takeError()));
}

// True if the file's name begins with NAME, a period and a digit, as the dumps of a run called
// `name` do ("NAME.0000.main...").
bool IsNameOf(llvm::StringRef file, llvm::StringRef name) {
  return file.consume_front(name) && file.consume_front(".") && !file.empty() &&
         llvm::isDigit(file[0]);
}

Expected<std::string> FreeName(llvm::StringRef folder, llvm::StringRef graph,
                               llvm::ArrayRef<const llvm::json::Object*> runs) {
  ASSIGN_OR_RETURN(std::vector<std::string> files, ListDirectory(folder));
  for (int i = 0;; ++i) {
    std::string name = graph.str() + (i ? "_" + std::to_string(i) : "");
    std::string part = FileNamePart(name);
    bool is_taken =
        llvm::any_of(runs, [&](const auto* run) { return run->getString("graph") == name; }) ||
        llvm::any_of(files, [&](const std::string& file) { return IsNameOf(file, part); });
    if (!is_taken) return name;
  }
}

// Writes `run` with `write`, and all other runs unchanged.
Error WriteIndex(const std::string& path, llvm::ArrayRef<const llvm::json::Object*> runs,
                 const DumpRun& run, llvm::function_ref<void(llvm::json::OStream&)> write) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, 1);
  auto write_run = [&](const llvm::json::Object* other) {
    if (other && other->getString("graph") != run.name) {
      for (const auto& attribute : *other) {
        if (attribute.first != "later") json.attribute(attribute.first, attribute.second);
      }
      return;
    }
    json.attribute("graph", run.name);
    if (!run.is_first) {
      json.attribute("ledger", run.ledger);
      json.attribute("timings", run.timings);
    }
    write(json);
  };
  bool is_known =
      llvm::any_of(runs, [&](const auto* other) { return other->getString("graph") == run.name; });
  std::vector<const llvm::json::Object*> all(runs.begin(), runs.end());
  if (!is_known) all.push_back(nullptr);
  json.object([&] {
    write_run(all[0]);
    if (all.size() == 1) return;
    json.attributeArray("later", [&] {
      for (const llvm::json::Object* other : llvm::drop_begin(all))
        json.object([&] { write_run(other); });
    });
  });
  os << "\n";
  return WriteFile(path, os.str());
}

}  // namespace

Expected<std::vector<const llvm::json::Object*>> RunsOf(const llvm::json::Value& index) {
  const llvm::json::Object* first = index.getAsObject();
  if (!first || !first->getArray("stages")) return MakeError("the index has no array 'stages'");
  std::vector<const llvm::json::Object*> runs = {first};
  if (const llvm::json::Array* later = first->getArray("later")) {
    for (const llvm::json::Value& value : *later) {
      const llvm::json::Object* run = value.getAsObject();
      if (!run || !run->getArray("stages"))
        return MakeError("an entry of 'later' has no array 'stages'");
      runs.push_back(run);
    }
  }
  return runs;
}

Expected<DumpRun> ClaimDumpRun(llvm::StringRef folder, llvm::StringRef graph) {
  std::string path = JoinPath(folder, kIndex);
  FolderLock lock(folder);
  ASSIGN_OR_RETURN(llvm::json::Value index, ReadIndex(path));
  ASSIGN_OR_RETURN(auto runs, KnownRuns(path, index));
  DumpRun run;
  ASSIGN_OR_RETURN(run.name, FreeName(folder, llvm::json::fixUTF8(graph), runs));
  run.is_first = runs.empty();
  if (!run.is_first) {
    run.ledger = FileNamePart(run.name + ".ledger.jsonl");
    run.timings = FileNamePart(run.name + ".timings.json");
  }
  RETURN_IF_ERROR(WriteIndex(path, runs, run, [](llvm::json::OStream& json) {
    json.attribute("complete", false);
    json.attributeArray("files", [] {});
    json.attributeArray("stages", [] {});
  }));
  return run;
}

Error FinishDumpRun(llvm::StringRef folder, const DumpRun& run,
                    llvm::function_ref<void(llvm::json::OStream&)> write) {
  std::string path = JoinPath(folder, kIndex);
  FolderLock lock(folder);
  ASSIGN_OR_RETURN(llvm::json::Value index, ReadIndex(path));
  ASSIGN_OR_RETURN(auto runs, KnownRuns(path, index));
  return WriteIndex(path, runs, run, write);
}

}  // namespace grapnel
