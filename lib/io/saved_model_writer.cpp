#include "lib/io/saved_model_writer.h"

#include <farmhash.h>

#include "lib/io/editable_message.h"
#include "lib/io/meta_graph.h"
#include "lib/ir/import.h"
#include "lib/ir/wire.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// Field numbers of SavedModel, MetaGraphDef and FingerprintDef.
enum { kSchemaVersion = 1, kMetaGraphs = 2 };
enum { kCollections = 4 };
enum { kChecksum = 1, kProgramHash = 2, kUuid = 7 };

constexpr const char* kModelFile = "saved_model.pb";
constexpr const char* kTextFile = "saved_model.pbtxt";
constexpr const char* kChunkedFile = "saved_model.cpb";
constexpr const char* kFingerprint = "fingerprint.pb";
constexpr const char* kExtraFolder = "assets.extra";
constexpr const char* kNoteFile = "grapnel.json";

bool IsModelFile(llvm::StringRef name) {
  return name == kModelFile || name == kTextFile || name == kChunkedFile;
}

// Returns the folder of the model, if the graph comes from a file called saved_model.pb, .pbtxt or
// .cpb. Otherwise empty: the folder of another file may contain anything.
std::string FolderOfModel(const Model& model) {
  llvm::StringRef path = model.graphs.front().path, name = llvm::sys::path::filename(path);
  if (!IsModelFile(name)) return "";
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return folder.empty() ? "." : folder.str();
}

bool SpeaksOfControlFlow(llvm::StringRef collection) {
  WireReader entry(collection);
  while (entry.Next()) {
    if (entry.Is(kMapKey, WireType::kBytes))
      return entry.bytes() == "while_context" || entry.bytes() == "cond_context";
  }
  return false;
}

struct Written {
  std::string bytes;
  uint64_t graph_hash = 0;  // hash of the first graph
};

std::string GraphBytes(const Module& module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  std::vector<NodeId> order = TopologicalOrder(module.main);
  // The order omits nodes on a cycle that is not a loop; such a graph keeps the order of its ids.
  if (order.size() < module.main.num_nodes()) order.clear();
  ExportGraphDef(module, os, order);
  return bytes;
}

// Appends the MetaGraphDef of `graph`, with `graph_def`, its current nodes, in place of the graph
// in it.
void AppendMetaGraph(const GraphInFile& graph, const std::string& graph_def, bool changed,
                     std::string* out) {
  bool has_graph = false;
  WireReader reader(graph.meta_graph);
  while (reader.Next()) {
    bool is_message = reader.type() == WireType::kBytes;
    if (is_message && reader.field() == kGraphOfMetaGraph) {
      if (!has_graph) AppendBytesField(out, kGraphOfMetaGraph, graph_def);
      has_graph = true;
    } else if (!(changed && is_message && reader.field() == kCollections &&
                 SpeaksOfControlFlow(reader.bytes()))) {
      *out += reader.whole_field();
    }
  }
}

Expected<Written> ModelBytes(const Model& model) {
  Written written;
  AppendTag(&written.bytes, kSchemaVersion, WireType::kVarint);
  AppendVarint(&written.bytes, 1);
  for (const GraphInFile& graph : model.graphs) {
    std::string graph_def = GraphBytes(*graph.module), meta_graph;
    const Graph& main = graph.module->main;
    bool changed = main.num_nodes() != main.end_id();  // nodes were removed
    for (Node node : main.nodes()) changed |= main.UnchangedSource(node.id()).empty();
    AppendMetaGraph(graph, graph_def, changed, &meta_graph);
    constexpr size_t kLargest = INT32_MAX;
    if (meta_graph.size() > kLargest) {
      return MakeError("{0}: the meta graph '{1}' takes {2}, above protobuf's limit of 2 GiB",
                       model.path, graph.title, HumanBytes(meta_graph.size()));
    }
    if (&graph == &model.graphs.front()) written.graph_hash = util::Fingerprint64(graph_def);
    AppendBytesField(&written.bytes, kMetaGraphs, meta_graph);
  }
  return written;
}

void AppendNumberField(std::string* out, uint32_t field, uint64_t number) {
  AppendTag(out, field, WireType::kVarint);
  AppendVarint(out, number);
}

// Returns the FingerprintDef of the written model. Keeps the hashes of `old` for parts that do not
// change (signatures, objects, checkpoint). `old` is empty if the model had no fingerprint.
std::string Fingerprint(llvm::StringRef old, const Written& written) {
  uint64_t checksum = util::Fingerprint64(written.bytes);
  std::string out;
  AppendNumberField(&out, kChecksum, checksum);
  AppendNumberField(&out, kProgramHash, written.graph_hash);
  WireReader reader(old);
  while (reader.Next()) {
    if (reader.field() != kChecksum && reader.field() != kProgramHash && reader.field() != kUuid)
      out += reader.whole_field();
  }
  std::string uuid = std::to_string(checksum) + std::to_string(written.graph_hash);
  AppendBytesField(&out, kUuid, uuid);
  return out;
}

Error CopyFile(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(auto bytes, FileBytes::Open(from));
  RETURN_IF_ERROR(WriteFile(to, bytes->bytes()));
  return bytes->CheckWhole();
}

// Copies all files below the folder; at the `top`, not the model file and the fingerprint, which
// WriteSavedModel creates.
Error CopyFolder(const std::string& from, const std::string& to, bool top) {
  RETURN_IF_ERROR(CreateDirectories(to));
  ASSIGN_OR_RETURN(std::vector<std::string> names, ListDirectory(from));
  for (const std::string& name : names) {
    std::string source = JoinPath(from, name), target = JoinPath(to, name);
    if (IsDirectory(source)) {
      RETURN_IF_ERROR(CopyFolder(source, target, /*top=*/false));
    } else if (!top || (!IsModelFile(name) && name != kFingerprint)) {
      RETURN_IF_ERROR(CopyFile(source, target));
    }
  }
  return Error::success();
}

// Resolves symbolic links and ".." in the part of the path that exists.
std::string RealPath(llvm::StringRef path) {
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(path, real)) return real.str().str();
  llvm::SmallString<256> absolute(path.rtrim('/'));
  llvm::sys::fs::make_absolute(absolute);
  llvm::StringRef parent = llvm::sys::path::parent_path(absolute);
  if (parent.empty() || parent == absolute) return absolute.str().str();
  return JoinPath(RealPath(parent), llvm::sys::path::filename(absolute));
}

}  // namespace

Error CheckCanWrite(const Model& model, llvm::StringRef folder) {
  bool is_whole = model.kind == FileKind::kSavedModel && !FolderOfModel(model).empty() &&
                  llvm::none_of(model.graphs, [](const GraphInFile& graph) {
                    return graph.meta_graph.empty() || !graph.module;
                  });
  if (!is_whole) {
    return MakeError(
        "{0}: only a SavedModel from a file called saved_model.pb, .pbtxt or .cpb can be written "
        "as a folder (this is {1})",
        model.path, FileKindName(model.kind));
  }
  std::string own = RealPath(FolderOfModel(model)), target = RealPath(folder);
  if (target == own || llvm::StringRef(target).starts_with(own + "/")) {
    return MakeError("{0}: is the model itself or inside it, name another folder", folder);
  }
  if (!IsDirectory(folder)) {
    if (FileExists(folder)) return MakeError("{0}: is a file, a folder was expected", folder);
    return Error::success();
  }
  ASSIGN_OR_RETURN(std::vector<std::string> names, ListDirectory(folder));
  if (names.empty() || llvm::is_contained(names, kModelFile)) return Error::success();
  return MakeError("{0}: contains '{1}' and no saved_model.pb: name an empty folder or a new one",
                   folder, names.front());
}

Error WriteSavedModel(const Model& model, llvm::StringRef folder, llvm::StringRef note) {
  RETURN_IF_ERROR(CheckCanWrite(model, folder));
  std::string from = FolderOfModel(model), to = folder.str();
  ASSIGN_OR_RETURN(Written written, ModelBytes(model));
  RETURN_IF_ERROR(CopyFolder(from, to, /*top=*/true));
  std::shared_ptr<const FileBytes> old = FileBytes::FromString("", kFingerprint);
  if (std::string path = JoinPath(from, kFingerprint); FileExists(path)) {
    ASSIGN_OR_RETURN(old, FileBytes::Open(path));
  }
  RETURN_IF_ERROR(WriteFile(JoinPath(to, kFingerprint), Fingerprint(old->bytes(), written)));
  if (!note.empty()) {
    std::string extra = JoinPath(to, kExtraFolder);
    RETURN_IF_ERROR(CreateDirectories(extra));
    RETURN_IF_ERROR(WriteFile(JoinPath(extra, kNoteFile), note));
  }
  return WriteFile(JoinPath(to, kModelFile), written.bytes);
}

}  // namespace grapnel
