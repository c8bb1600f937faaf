#include "lib/io/event_file.h"

#include "lib/io/meta_graph.h"
#include "lib/io/recognize.h"
#include "lib/io/record.h"
#include "lib/ir/import.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

enum { kEventGraphDef = 4, kEventTaggedRunMetadata = 8, kEventMetaGraphDef = 9 };
enum { kTaggedTag = 1, kTaggedRunMetadata = 2 };
enum { kRunPartitionGraphs = 3, kRunFunctionGraphs = 4 };
enum { kFunctionPartition = 1, kFunctionBefore = 2, kFunctionAfter = 3 };
enum { kDebuggedGraph = 8 };
enum { kDebuggedId = 1, kDebuggedName = 2, kDebuggedOriginal = 4, kDebuggedInstrumented = 5 };

class EventReader {
 public:
  EventReader(std::shared_ptr<const FileBytes> file, Model* model)
      : file_(std::move(file)), model_(*model) {}

  // Adds the graphs of an Event; returns whether it contains any.
  bool ReadEvent(llvm::StringRef event) {
    bool any = false;
    CutReader reader(event);
    while (reader.Next()) {
      if (reader.type() != WireType::kBytes) continue;
      if (reader.field() == kEventGraphDef) {
        any = true;
        AddGraph("graph", reader.bytes());
      } else if (reader.field() == kEventMetaGraphDef) {
        any = true;
        size_t before = model_.graphs.size();
        if (Error error = ReadMetaGraph(file_, reader.bytes(), &model_))
          Report(TextOf(std::move(error)));
        if (model_.graphs.size() > before) {
          GraphInFile& graph = model_.graphs.back();
          graph.title = Unique(graph.title.empty() ? "meta_graph" : "meta_graph " + graph.title);
        }
      } else if (reader.field() == kEventTaggedRunMetadata) {
        any |= ReadTaggedRunMetadata(reader.bytes());
      }
    }
    return any;
  }

  bool ReadDebugEvent(llvm::StringRef event) {
    bool any = false;
    CutReader reader(event);
    while (reader.Next()) {
      if (!reader.Is(kDebuggedGraph, WireType::kBytes)) continue;
      std::string name;
      WireReader graph(reader.bytes());
      while (graph.Next()) {
        if (graph.Is(kDebuggedId, WireType::kBytes) && name.empty()) name = graph.bytes().str();
        if (graph.Is(kDebuggedName, WireType::kBytes) && !graph.bytes().empty())
          name = graph.bytes().str();
        if (graph.Is(kDebuggedOriginal, WireType::kBytes)) any |= AddGraph(name, graph.bytes());
        if (graph.Is(kDebuggedInstrumented, WireType::kBytes))
          any |= AddGraph(name + " (instrumented)", graph.bytes());
      }
    }
    return any;
  }

  void Report(std::string text) {
    model_.problems.push_back({Severity::kError, "", std::move(text)});
  }

 private:
  bool ReadTaggedRunMetadata(llvm::StringRef tagged) {
    std::string tag;
    llvm::StringRef run_metadata;
    WireReader reader(tagged);
    while (reader.Next()) {
      if (reader.Is(kTaggedTag, WireType::kBytes)) tag = reader.bytes().str();
      if (reader.Is(kTaggedRunMetadata, WireType::kBytes)) run_metadata = reader.bytes();
    }
    bool any = false;
    int partition = 0, function = 0;
    CutReader run(run_metadata);
    while (run.Next()) {
      if (run.Is(kRunPartitionGraphs, WireType::kBytes)) {
        any |= AddGraph(tag + "/partition_" + std::to_string(partition++), run.bytes());
      } else if (run.Is(kRunFunctionGraphs, WireType::kBytes)) {
        any |= ReadFunctionGraphs(tag + "/function_" + std::to_string(function++), run.bytes());
      }
    }
    return any;
  }

  bool ReadFunctionGraphs(const std::string& title, llvm::StringRef graphs) {
    bool any = false;
    int partition = 0;
    CutReader reader(graphs);
    while (reader.Next()) {
      if (reader.Is(kFunctionPartition, WireType::kBytes)) {
        any |= AddGraph(title + "/partition_" + std::to_string(partition++), reader.bytes());
      }
      if (reader.Is(kFunctionBefore, WireType::kBytes))
        any |= AddGraph(title + "/before", reader.bytes());
      if (reader.Is(kFunctionAfter, WireType::kBytes))
        any |= AddGraph(title + "/after", reader.bytes());
    }
    return any;
  }

  bool AddGraph(const std::string& title, llvm::StringRef graph_def) {
    if (graph_def.empty()) return false;
    auto module = ImportGraphDef(file_, graph_def);
    if (!module) {
      Report("graph '" + title + "': " + TextOf(module.takeError()));
      return false;
    }
    GraphInFile graph;
    graph.title = Unique(title);
    graph.path = file_->name();
    graph.module = std::move(*module);
    model_.graphs.push_back(std::move(graph));
    return true;
  }

  std::string Unique(const std::string& title) {
    int count = ++titles_[title];
    return count == 1 ? title : title + "_" + std::to_string(count);
  }

  std::shared_ptr<const FileBytes> file_;
  Model& model_;
  llvm::StringMap<int> titles_;
};

// True if the record states the version of an event file. The first record of an event file does;
// that of a debug file does not.
bool IsEventVersion(llvm::StringRef event) {
  WireReader reader(event);
  while (reader.Next()) {
    if (reader.Is(kEventFileVersion, WireType::kBytes))
      return HasPrefix(reader.bytes(), "brain.Event:");
  }
  return false;
}

bool IsEventLike(llvm::StringRef record) {
  WireReader reader(record);
  return reader.Next() && reader.Is(1, WireType::kFixed64);
}

}  // namespace

Error ReadEventFile(const std::shared_ptr<const FileBytes>& file, Model* model) {
  EventReader events(file, model);
  RecordReader records(file->bytes());
  bool is_event_file = false;
  size_t count = 0;
  while (records.Next()) {
    llvm::StringRef record = records.data();
    if (count == 0 && !IsEventLike(record)) {
      return MakeError(
          "is a TFRecord file, but not an event file: its first record does not begin with the "
          "time of an event");
    }
    if (count++ == 0) is_event_file = IsEventVersion(record);
    bool any = is_event_file ? events.ReadEvent(record) : events.ReadDebugEvent(record);
    // Checks the checksums only of records with graphs: checking all of them would read the whole
    // file.
    if (any && !records.DataIsIntact()) {
      events.Report(llvm::formatv("record {0} has a wrong checksum or is cut off", count).str());
    }
  }
  if (!records.problem().empty()) events.Report(records.problem().str());
  if (model->graphs.empty()) {
    if (!is_event_file)
      return MakeError(
          "has no graph, and does not begin with the version of an event file: if it is one file "
          "of a debug folder, name the folder instead");
    return MakeError("is an event file without a graph ({0}{1})", Plural(count, "record"),
                     model->problems.empty() ? "" : "; " + model->problems.front().text);
  }
  return Error::success();
}

Error ReadBareEvent(const std::shared_ptr<const FileBytes>& file, Model* model) {
  EventReader(file, model).ReadEvent(file->bytes());
  if (model->graphs.empty())
    return MakeError("is an event (a value that tfdbg dumped) without a graph");
  return Error::success();
}

}  // namespace grapnel
