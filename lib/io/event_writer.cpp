#include "lib/io/event_writer.h"

#include "lib/io/record.h"
#include "lib/ir/import.h"
#include "lib/proto/event.pb.h"
#include "lib/support/file.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kEventFileMark = "tfevents";
constexpr size_t kTimeSize = 9;

// Serializes an event with the time 0. Writes this time although 0 is the default, because readers,
// including grapnel, recognize an event by its first field.
std::string AtTimeZero(const proto::Event& event) {
  std::string bytes(kTimeSize, '\0');
  bytes[0] = proto::Event::kWallTimeFieldNumber << 3 | 1;  // a fixed64
  event.AppendToString(&bytes);
  return bytes;
}

}  // namespace

Error WriteEvents(const Module& module, llvm::raw_ostream& os) {
  proto::Event version, graph;
  version.set_file_version("brain.Event:2");
  llvm::raw_string_ostream graph_def(*graph.mutable_graph_def());
  ExportGraphDef(module, graph_def);
  graph_def.flush();
  if (graph.ByteSizeLong() + kTimeSize > INT32_MAX) {
    return MakeError("a graph of {0} bytes is above the limit of an event, 2 GiB",
                     graph.graph_def().size());
  }
  WriteRecord(os, AtTimeZero(version));
  WriteRecord(os, AtTimeZero(graph));
  return Error::success();
}

Expected<std::string> EventFilePath(llvm::StringRef path) {
  if (path == "-") return path.str();
  if (path.ends_with("/") || IsDirectory(path)) {
    RETURN_IF_ERROR(CreateDirectories(path));
    return JoinPath(path, "events.out.tfevents.0000000000.grapnel");
  }
  if (llvm::sys::path::filename(path).contains(kEventFileMark)) return path.str();
  return MakeError(
      "{0}: TensorBoard reads only files with '{1}' in their names: name a folder, or "
      "events.out.tfevents.NAME",
      path, kEventFileMark);
}

}  // namespace grapnel
