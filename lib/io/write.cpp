#include "lib/io/write.h"

#include "lib/io/text_print.h"
#include "lib/ir/import.h"
#include "lib/ir/text.h"
#include "lib/proto/graph.pb.h"
#include "lib/support/file.h"
#include "lib/support/gzip.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// Extensions that WriteGraph rejects: of files that are not graphs, and of other programs' graphs.
constexpr llvm::StringLiteral kOtherKinds[] = {".dot", ".html", ".json",   ".npy", ".onnx",
                                               ".png", ".svg",  ".tflite", ".txt", ".yaml"};

class TextWriter {
 public:
  TextWriter(const Module& module, llvm::raw_ostream* os) : module_(module), os_(*os) {}

  Error Run(llvm::ArrayRef<NodeId> order) {
    if (order.empty()) {
      for (Node node : module_.main.nodes()) RETURN_IF_ERROR(WriteNode(node));
    } else {
      for (NodeId id : order) {
        if (module_.main.IsAlive(id)) RETURN_IF_ERROR(WriteNode(module_.main.node(id)));
      }
    }
    RETURN_IF_ERROR(WriteLibrary());
    // The fields of the GraphDef after nodes and library: version, versions and debug info, in the
    // order of their numbers.
    proto::GraphDef rest;
    RETURN_IF_ERROR(ParseForText(module_.other_fields, &rest));
    if (module_.has_versions || !module_.versions.empty()) {
      RETURN_IF_ERROR(ParseForText(module_.versions, rest.mutable_versions()));
    }
    PrintMessage(rest, 0, os_);
    return Error::success();
  }

 private:
  Error WriteNode(const Node& node) {
    proto::NodeDef message;
    llvm::StringRef unchanged = module_.main.UnchangedSource(node.id());
    std::string made;
    if (unchanged.empty()) unchanged = made = ExportNodeDef(node);
    if (Error error = ParseForText(unchanged, &message))
      return Annotate("node '" + node.name() + "'", std::move(error));
    os_ << "node {\n";
    PrintMessage(message, 1, os_);
    os_ << "}\n";
    return Error::success();
  }

  Error WriteLibrary() {
    if (!module_.has_library && module_.functions.empty() && module_.other_library_fields.empty()) {
      return Error::success();
    }
    os_ << "library {\n";
    for (const auto& function : module_.functions) {
      proto::FunctionDef message;
      if (Error error = ParseForText(ExportFunctionDef(*function), &message)) {
        return Annotate("function '" + function->name() + "'", std::move(error));
      }
      os_ << "  function {\n";
      PrintMessage(message, 2, os_);
      os_ << "  }\n";
    }
    proto::FunctionDefLibrary rest;
    RETURN_IF_ERROR(ParseForText(module_.other_library_fields, &rest));
    PrintMessage(rest, 1, os_);
    os_ << "}\n";
    return Error::success();
  }

  const Module& module_;
  llvm::raw_ostream& os_;
};

}  // namespace

Error WriteGraphText(const Module& module, llvm::raw_ostream& os, llvm::ArrayRef<NodeId> order) {
  return TextWriter(module, &os).Run(order);
}

std::string GraphText(const Module& module, llvm::ArrayRef<NodeId> order) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (Error error = WriteGraphText(module, os, order))
    os << "# " << TextOf(std::move(error)) << "\n";
  return text;
}

Error WriteCompressible(llvm::StringRef path, llvm::function_ref<Error(llvm::raw_ostream&)> write) {
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  if (HasSuffix(path, ".gz")) {
    GzipStream gzip(&file->os());
    if (Error error = write(gzip)) return Annotate(path, std::move(error));
    gzip.Finish();
  } else if (Error error = write(file->os())) {
    return Annotate(path, std::move(error));
  }
  return file->Commit();
}

bool NamesGraphFile(llvm::StringRef path) {
  path.consume_back(".gz");
  return path == "-" || HasSuffix(path, ".pb") || HasSuffix(path, ".pbtxt") ||
         HasSuffix(path, ".gtxt");
}

Error WriteGraph(const Module& module, llvm::StringRef path, llvm::ArrayRef<NodeId> order) {
  llvm::StringRef stem = path;
  stem.consume_back(".gz");
  if (llvm::StringRef promised = llvm::sys::path::extension(stem);
      llvm::is_contained(kOtherKinds, promised)) {
    return MakeError("{0}: a graph is written as .pb, .pbtxt or .gtxt, and {1} is not one of them",
                     path, promised);
  }
  return WriteCompressible(path, [&](llvm::raw_ostream& os) -> Error {
    if (HasSuffix(stem, ".pbtxt")) return WriteGraphText(module, os, order);
    if (HasSuffix(stem, ".gtxt")) {
      TextOptions exact;
      exact.exact = true;
      WriteGraphAsText(module, exact, os);
      return Error::success();
    }
    ExportGraphDef(module, os, order);
    return Error::success();
  });
}

std::string FileNamePart(llvm::StringRef name) {
  std::string part = name.str();
  for (char& c : part) {
    if (llvm::StringRef("/[]*?").contains(c)) c = '_';
  }
  return part;
}

}  // namespace grapnel
