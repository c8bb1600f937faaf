#include "lib/io/write.h"

#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "lib/io/gzip.h"
#include "lib/ir/import.h"
#include "lib/proto/graph.pb.h"
#include "lib/support/file.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

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
    // What is left of the GraphDef: version, versions, debug info, in the order of their numbers.
    proto::GraphDef rest;
    RETURN_IF_ERROR(Parse(module_.other_fields, &rest));
    if (module_.has_versions || !module_.versions.empty()) {
      RETURN_IF_ERROR(Parse(module_.versions, rest.mutable_versions()));
    }
    Print(rest, 0);
    return Error::success();
  }

 private:
  // Damaged bytes are read as far as they go: reading listed the problem.
  static Error Parse(llvm::StringRef bytes, google::protobuf::Message* message) {
    if (bytes.size() > INT32_MAX) {
      return MakeError("a {0} of {1} bytes is above protobuf's limit of 2 GiB and has no text form",
                       message->GetDescriptor()->name(), bytes.size());
    }
    message->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
    return Error::success();
  }

  void Print(const google::protobuf::Message& message, int indent) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetInitialIndentLevel(indent);
    text_.clear();
    printer.PrintToString(message, &text_);
    os_ << text_;
  }

  Error WriteNode(const Node& node) {
    proto::NodeDef message;
    llvm::StringRef unchanged = module_.main.UnchangedSource(node.id());
    std::string made;
    if (unchanged.empty()) unchanged = made = ExportNodeDef(node);
    if (Error error = Parse(unchanged, &message))
      return Annotate("node '" + node.name() + "'", std::move(error));
    os_ << "node {\n";
    Print(message, 1);
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
      if (Error error = Parse(ExportFunctionDef(*function), &message)) {
        return Annotate("function '" + function->name() + "'", std::move(error));
      }
      os_ << "  function {\n";
      Print(message, 2);
      os_ << "  }\n";
    }
    proto::FunctionDefLibrary rest;
    RETURN_IF_ERROR(Parse(module_.other_library_fields, &rest));
    Print(rest, 1);
    os_ << "}\n";
    return Error::success();
  }

  const Module& module_;
  llvm::raw_ostream& os_;
  std::string text_;
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

Error WriteGraph(const Module& module, llvm::StringRef path, llvm::ArrayRef<NodeId> order) {
  llvm::StringRef stem = path;
  bool compress = stem.consume_back(".gz");
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  auto write = [&](llvm::raw_ostream& os) -> Error {
    if (HasSuffix(stem, ".pbtxt")) return Annotate(path, WriteGraphText(module, os, order));
    ExportGraphDef(module, os, order);
    return Error::success();
  };
  if (compress) {
    GzipStream gzip(&file->os());
    RETURN_IF_ERROR(write(gzip));
    gzip.Finish();
  } else {
    RETURN_IF_ERROR(write(file->os()));
  }
  return file->Commit();
}

std::string FileNamePart(llvm::StringRef name) {
  std::string part = name.str();
  for (char& c : part) {
    if (llvm::StringRef("/[]*?").contains(c)) c = '_';
  }
  return part;
}

}  // namespace grapnel
