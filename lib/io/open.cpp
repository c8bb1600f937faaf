#include "lib/io/open.h"

#include <algorithm>

#include "lib/io/chunked_message.h"
#include "lib/io/event_file.h"
#include "lib/io/meta_graph.h"
#include "lib/io/recognize.h"
#include "lib/io/shape_claims.h"
#include "lib/io/text_proto.h"
#include "lib/io/value.h"
#include "lib/ir/attr.h"
#include "lib/ir/import.h"
#include "lib/ir/text.h"
#include "lib/support/file.h"
#include "lib/support/gzip.h"
#include "lib/support/name_list.h"
#include "lib/support/text.h"
#include "lib/support/zip.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// How many bytes of a compressed file to expand in order to recognize its contents.
constexpr size_t kHeadOfGzip = 1 << 16;

Error NotAGraph(const FileBytes& file) {
  return MakeError(
      "is not a TensorFlow graph: no GraphDef, SavedModel, MetaGraph or event file ({0})",
      LooksLike(file.bytes()));
}

// Converts a file in protobuf's text format to wire format and returns the type of its new
// contents. Leaves other files as they are.
Expected<Content> ReplaceTextByWire(std::shared_ptr<const FileBytes>* file, Content content,
                                    Model* model) {
  TextKind kind;
  switch (content) {
    case Content::kGraphText:
      kind = TextKind::kGraphDef;
      content = Content::kGraphDef;
      break;
    case Content::kSavedModelText:
      kind = TextKind::kSavedModel;
      content = Content::kSavedModel;
      break;
    case Content::kMetaGraphText:
      kind = TextKind::kMetaGraph;
      content = Content::kMetaGraph;
      break;
    default:
      return content;
  }
  ASSIGN_OR_RETURN(*file, TextToWire(**file, kind, &model->problems));
  return content;
}

Error ReadGraphDef(const std::shared_ptr<const FileBytes>& file, Model* model) {
  GraphInFile graph;
  graph.path = file->name();
  ASSIGN_OR_RETURN(graph.module, ImportGraphDef(file, file->bytes()));
  model->graphs.push_back(std::move(graph));
  return Error::success();
}

// Adds each graph of the text to the model, and compares the shapes that the text states with the
// inferred ones.
Error ReadText(const FileBytes& file, Model* model) {
  model->kind = FileKind::kText;
  for (TextGraph& text : ReadGraphText(file)) {
    CheckShapeClaims(text.claims, text.module.get());
    GraphInFile& graph = model->graphs.emplace_back();
    graph.path = file.name();
    graph.title = std::move(text.title);
    graph.module = std::move(text.module);
    graph.feeds = std::move(text.feeds);
    graph.fetches = std::move(text.fetches);
  }
  return Error::success();
}

Error ReadContent(const std::shared_ptr<const FileBytes>& file, Content content, Model* model) {
  switch (content) {
    case Content::kText:
      return ReadText(*file, model);
    case Content::kGraphDef:
      return ReadGraphDef(file, model);
    case Content::kSavedModel:
      model->kind = FileKind::kSavedModel;
      return ReadSavedModel(file, model);
    case Content::kMetaGraph:
      model->kind = FileKind::kMetaGraph;
      return ReadMetaGraph(file, file->bytes(), model);
    case Content::kRecords:
      model->kind = FileKind::kEventFile;
      return ReadEventFile(file, model);
    case Content::kEvent:
      model->kind = FileKind::kEventFile;
      return ReadBareEvent(file, model);
    default:
      return NotAGraph(*file);
  }
}

Expected<Model> ReadModel(std::shared_ptr<const FileBytes> file, llvm::StringRef path) {
  std::string name = file->name();
  Model model;
  model.path = path.str();
  if (file->bytes().empty()) return MakeError("{0}: is empty", name);
  Content content = Recognize(file->bytes());
  if (content == Content::kGzip) {
    auto inflated = Inflate(file->bytes());
    if (!inflated) return Annotate(name, inflated.takeError());
    if (inflated->bytes.empty()) return MakeError("{0}: is empty once decompressed", name);
    if (!inflated->problem.empty())
      model.problems.push_back({Severity::kError, "", inflated->problem});
    file = FileBytes::FromString(std::move(inflated->bytes), name);
    content = Recognize(file->bytes());
  }
  if (content == Content::kChunked) {
    auto merged = MergeChunks(file, &model.problems);
    if (!merged) return Annotate(name, merged.takeError());
    file = std::move(*merged);
    content = Recognize(file->bytes());
    if (content == Content::kUnknown && !model.problems.empty())
      return MakeError("{0}: {1}", name, model.problems.front().text);
  }
  if (content == Content::kGraphText) model.kind = FileKind::kGraphText;
  ASSIGN_OR_RETURN(content, ReplaceTextByWire(&file, content, &model));
  if (Error error = ReadContent(file, content, &model)) return Annotate(name, std::move(error));
  return model;
}

// Opens the file. If it was truncated while it was read, returns only that error: the graphs and
// problems that were read are not valid.
Expected<Model> OpenBytes(const std::shared_ptr<const FileBytes>& file, llvm::StringRef path) {
  Expected<Model> model = ReadModel(file, path);
  if (Error cut = file->CheckWhole()) {
    if (!model) llvm::consumeError(model.takeError());
    return cut;
  }
  return model;
}

// Compares names so that "a2" comes before "a10".
bool NaturalLess(llvm::StringRef a, llvm::StringRef b) {
  while (!a.empty() && !b.empty()) {
    llvm::StringRef x = a.take_while(llvm::isDigit), y = b.take_while(llvm::isDigit);
    if (!x.empty() && !y.empty()) {
      a = a.drop_front(x.size());
      b = b.drop_front(y.size());
      llvm::StringRef x_number = x.ltrim('0'), y_number = y.ltrim('0');
      if (x_number.size() != y_number.size()) return x_number.size() < y_number.size();
      if (x_number != y_number) return x_number < y_number;
      if (x.size() != y.size()) return x.size() < y.size();
      continue;
    }
    if (a[0] != b[0]) return a[0] < b[0];
    a = a.drop_front();
    b = b.drop_front();
  }
  return a.size() < b.size();
}

// Returns the type of the file's contents, from its beginning; kUnknown if it cannot be read or is
// not recognized.
Content ContentOf(llvm::StringRef path) {
  auto file = FileBytes::Open(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return Content::kUnknown;
  }
  Content content = Recognize((*file)->bytes());
  if (content != Content::kGzip) return content;
  auto head = Inflate((*file)->bytes(), kHeadOfGzip);
  if (!head) {
    llvm::consumeError(head.takeError());
    return Content::kUnknown;
  }
  return Recognize(head->bytes);
}

// Turns a case's placeholders for variables into variables. A function that captured a variable has
// a placeholder for the variable's handle; if the case gives a value for it, the placeholder
// becomes a VarHandleOp.
Error HoldVariables(const Case& values, Model& model) {
  Graph& graph = model.graphs[0].module->main;
  for (const Case::Feed& given : values.variables) {
    Node node = graph.Find(given.tensor);
    if (!node)
      return MakeError("{0}: the case's variable '{1}' is not a node of its graph", values.folder,
                       given.tensor);
    if (node.op() != "Placeholder" || node.GetType("dtype") != proto::DT_RESOURCE) continue;
    ASSIGN_OR_RETURN(Literal value, LoadNpyLiteral(given.file));
    graph.SetOp(node.id(), "VarHandleOp");
    graph.SetAttr(node.id(), "dtype", attr::Type(value.dtype()));
    graph.SetAttr(node.id(), "shape", attr::ShapeOf(Shape(value.dims())));
    graph.SetAttr(node.id(), "shared_name", attr::String(given.tensor));
  }
  return Error::success();
}

Expected<Model> OpenCase(llvm::StringRef folder) {
  ASSIGN_OR_RETURN(Case values, LoadCase(folder));
  ASSIGN_OR_RETURN(Model model, OpenModel(values.graph));
  model.kind = FileKind::kCaseFolder;
  model.path = folder.str();
  RETURN_IF_ERROR(HoldVariables(values, model));
  model.case_info = std::move(values);
  return model;
}

// The names in a folder: of graph files, of other files that contain graphs, and of models (folders
// and archives).
struct FolderContents {
  std::vector<std::string> graphs, others, models;
  size_t files = 0;
};

constexpr const char* kSavedModelFiles[] = {"saved_model.pb", "saved_model.pbtxt",
                                            "saved_model.cpb"};

bool HoldsSavedModel(llvm::StringRef folder) {
  return llvm::any_of(kSavedModelFiles,
                      [&](const char* name) { return FileExists(JoinPath(folder, name)); });
}

Expected<FolderContents> LookThrough(llvm::StringRef folder) {
  FolderContents contents;
  ASSIGN_OR_RETURN(std::vector<std::string> names, ListDirectory(folder));
  std::sort(names.begin(), names.end(), NaturalLess);
  for (const std::string& name : names) {
    std::string path = JoinPath(folder, name);
    // Skips temporary files of unfinished dumps.
    if (name[0] == '.' || llvm::StringRef(name).contains(".tmp")) continue;
    if (IsCaseFolder(path) || (IsDirectory(path) && HoldsSavedModel(path)))
      contents.models.push_back(name);
    if (!llvm::sys::fs::is_regular_file(path)) continue;
    ++contents.files;
    switch (ContentOf(path)) {
      case Content::kGraphDef:
      case Content::kGraphText:
      case Content::kText:
        contents.graphs.push_back(name);
        break;
      case Content::kUnknown:
      case Content::kGzip:
        break;
      default:
        contents.others.push_back(name);
    }
  }
  return contents;
}

Error NoGraphIn(llvm::StringRef folder, const FolderContents& contents) {
  if (!contents.models.empty())
    return MakeError("{0}: is not a model, but contains {1}: name one, like '{2}'", folder,
                     Plural(contents.models.size(), "model"),
                     JoinPath(folder, contents.models.front()));
  std::string files = contents.files == 0 ? "no other graph file"
                      : contents.files == 1
                          ? "its only file is not a graph"
                          : llvm::formatv("none of its {0} files is a graph", contents.files).str();
  return MakeError(
      "{0}: contains no TensorFlow graph: no saved_model.pb, .pbtxt or .cpb, no case.json with "
      "feeds or fetches, and {1}",
      folder, files);
}

Expected<Model> OpenFolder(llvm::StringRef folder) {
  for (const char* name : kSavedModelFiles) {
    std::string path = JoinPath(folder, name);
    if (!FileExists(path)) continue;
    ASSIGN_OR_RETURN(Model model, OpenModel(path));
    if (model.kind != FileKind::kSavedModel) return MakeError("{0}: is not a SavedModel", path);
    model.path = folder.str();
    return model;
  }
  if (IsCaseFolder(folder)) return OpenCase(folder);
  ASSIGN_OR_RETURN(FolderContents contents, LookThrough(folder));
  if (contents.graphs.size() == 1) return OpenModel(JoinPath(folder, contents.graphs[0]));
  if (contents.graphs.empty() && contents.others.size() == 1)
    return OpenModel(JoinPath(folder, contents.others[0]));
  if (contents.graphs.empty() && !contents.others.empty()) {
    return MakeError("{0}: holds {1} models or event files, name one: {2}", folder,
                     contents.others.size(), NameList(contents.others));
  }
  if (contents.graphs.empty()) return NoGraphIn(folder, contents);
  Model model;
  model.kind = FileKind::kDumpFolder;
  model.path = folder.str();
  for (const std::string& name : contents.graphs) {
    GraphInFile graph;
    graph.title = name;
    graph.path = JoinPath(folder, name);
    model.graphs.push_back(std::move(graph));
  }
  return model;
}

}  // namespace

llvm::StringRef FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kGraphDef:
      return "GraphDef";
    case FileKind::kGraphText:
      return "GraphDef (text)";
    case FileKind::kText:
      return "text";
    case FileKind::kSavedModel:
      return "SavedModel";
    case FileKind::kMetaGraph:
      return "MetaGraph";
    case FileKind::kEventFile:
      return "event file";
    case FileKind::kCaseFolder:
      return "case folder";
    case FileKind::kDumpFolder:
      return "dump folder";
    case FileKind::kProgram:
      return "C++ program";
  }
  return "";
}

Expected<Model> OpenModel(llvm::StringRef path) {
  if (path != "-" && IsDirectory(path)) return OpenFolder(path);
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  if (path != "-" && IsZip(file->bytes())) {
    if (IsCaseFolder(path)) return OpenCase(path);
    auto names = ListZip(file->bytes());
    if (!names) return Annotate(path, names.takeError());
  }
  ASSIGN_OR_RETURN(Model model, OpenBytes(file, path));
  if (model.kind == FileKind::kSavedModel && path != "-") {
    FindFilesBeside(llvm::sys::path::parent_path(path), &model);
  }
  return model;
}

Expected<Model> OpenModelBytes(std::shared_ptr<const FileBytes> file) {
  std::shared_ptr<const FileBytes> kept = std::move(file);
  return OpenBytes(kept, kept->name());
}

Expected<std::unique_ptr<Module>> OpenGraph(llvm::StringRef path) {
  ASSIGN_OR_RETURN(Model model, OpenModel(path));
  if (model.graphs.size() != 1) {
    std::vector<std::string> titles;
    for (const GraphInFile& graph : model.graphs) titles.push_back(graph.title);
    return MakeError("{0}: holds {1} graphs, one was expected ({2})", path, model.graphs.size(),
                     NameList(titles));
  }
  std::unique_ptr<Module> module = std::move(model.graphs[0].module);
  module->problems.insert(module->problems.begin(), model.problems.begin(), model.problems.end());
  return module;
}

}  // namespace grapnel
