#include "lib/job/opened_graph.h"

#include "lib/diff/stage_names.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/graph_path.h"
#include "lib/support/file.h"
#include "lib/support/name_list.h"
#include "lib/support/printable.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

struct Picked {
  size_t index;
  std::string note;
};

std::vector<std::string> TitlesOf(const Model& model) {
  std::vector<std::string> titles;
  for (const GraphInFile& graph : model.graphs) titles.push_back(graph.title);
  return titles;
}

Error SeveralGraphs(const Model& model, llvm::StringRef by) {
  std::vector<std::string> titles = TitlesOf(model);
  return MakeError("{0}: holds {1} graphs: name one by {2}: {3}", model.path, titles.size(), by,
                   NameList(titles));
}

// Selects a stage of a dump folder by name (lib/diff/stage_names.h).
Expected<Picked> PickStage(const Model& model, llvm::StringRef name, llvm::StringRef by) {
  ThreadPool pool;
  ASSIGN_OR_RETURN(std::vector<OrderedDump> dumps, ReadDumps(model.path, "", pool));
  StageNames names(dumps, model.path);
  if (name.empty() && names.TellsStories()) {
    return MakeError("{0}: holds {1} graphs: {2}", model.path, model.graphs.size(),
                     names.Advice(by));
  }
  if (name.empty()) return SeveralGraphs(model, by);
  auto stage = names.Find(name);
  if (!stage && !names.TellsStories()) {
    llvm::consumeError(stage.takeError());
    return Annotate(model.path, NotFound("graph", name, TitlesOf(model)));
  }
  ASSIGN_OR_RETURN(FoundStage found, std::move(stage));
  const OrderedDump& dump = dumps[found.index];
  for (size_t i = 0; i < model.graphs.size(); ++i) {
    if (model.graphs[i].title != dump.dump.file) continue;
    return Picked{i, found.note.empty() ? "" : model.path + ": " + found.note};
  }
  return dump.module ? MakeError("{0}: is neither a GraphDef nor a graph as text",
                                 JoinPath(model.path, dump.dump.file))
                     : MakeError("{0}", dump.problem);
}

// True if the model is a single dump file, and `name` is the stage name that this dump would have
// in a folder.
bool IsOnlyStage(const Model& model, llvm::StringRef name) {
  bool is_graph = model.kind == FileKind::kGraphDef || model.kind == FileKind::kGraphText;
  if (!is_graph || model.graphs.size() != 1 || !model.graphs[0].title.empty()) return false;
  DumpContent unknown;
  auto content = [&](llvm::StringRef) -> const DumpContent& { return unknown; };
  std::vector<OrderedDump> dumps;
  for (DumpStage& stage : OrderDumps({llvm::sys::path::filename(model.path).str()}, "", content))
    dumps.push_back({std::move(stage), nullptr, ""});
  auto found = StageNames(dumps, model.path).Find(name);
  bool is_it = static_cast<bool>(found);
  llvm::consumeError(found.takeError());
  return is_it;
}

// Returns the graph with that title; without a title the only graph.
Expected<Picked> PickGraph(const Model& model, llvm::StringRef title, llvm::StringRef by) {
  for (size_t i = 0; i < model.graphs.size(); ++i) {
    if (model.graphs[i].title == title) return Picked{i, ""};
  }
  if (model.kind == FileKind::kDumpFolder) return PickStage(model, title, by);
  if (IsOnlyStage(model, title)) return Picked{0, ""};
  if (!title.empty()) return Annotate(model.path, NotFound("graph", title, TitlesOf(model)));
  if (model.graphs.size() == 1) return Picked{0, ""};
  return SeveralGraphs(model, by);
}

// Opens one dump of a folder as a model of its own, so that messages, logs and diffs show the name
// of the dump's file.
Expected<std::shared_ptr<Model>> OpenDump(const std::string& path, const std::string& title) {
  ASSIGN_OR_RETURN(Model model, OpenModel(path));
  if (model.graphs.size() != 1)
    return MakeError("{0}: holds {1} graphs, one was expected", path, model.graphs.size());
  model.graphs[0].title = title;
  return std::make_shared<Model>(std::move(model));
}

}  // namespace

OpenedGraph::OpenedGraph(std::shared_ptr<Model> model, size_t index)
    : model_(std::move(model)),
      index_(index),
      module_(model_, model_->graphs[index].module.get()) {}

Expected<OpenedGraph> OpenedGraph::Open(llvm::StringRef path, llvm::StringRef title,
                                        llvm::StringRef by) {
  ASSIGN_OR_RETURN(GraphPath named, ReadGraphPath(path, title, by));
  ASSIGN_OR_RETURN(Model model, OpenModel(named.path));
  return Of(std::make_shared<Model>(std::move(model)), named.title, by);
}

Expected<std::vector<OpenedGraph>> OpenedGraph::OpenEach(llvm::StringRef path,
                                                         llvm::StringRef title,
                                                         llvm::StringRef by) {
  ASSIGN_OR_RETURN(GraphPath named, ReadGraphPath(path, title, by));
  ASSIGN_OR_RETURN(Model model, OpenModel(named.path));
  return EachOf(std::make_shared<Model>(std::move(model)), named.title, by);
}

Expected<OpenedGraph> OpenedGraph::Of(std::shared_ptr<Model> model, llvm::StringRef title,
                                      llvm::StringRef by) {
  ASSIGN_OR_RETURN(Picked picked, PickGraph(*model, title, by));
  const GraphInFile& graph = model->graphs[picked.index];
  if (graph.module) return OpenedGraph(std::move(model), picked.index);
  auto open = [path = graph.path, title = graph.title]() -> Expected<OpenedGraph> {
    ASSIGN_OR_RETURN(std::shared_ptr<Model> own, OpenDump(path, title));
    return OpenedGraph(std::move(own), 0);
  };
  ASSIGN_OR_RETURN(OpenedGraph opened, open());
  opened.ReopenBy(open);
  opened.note_ = std::move(picked.note);
  return std::move(opened);
}

Expected<std::vector<OpenedGraph>> OpenedGraph::EachOf(std::shared_ptr<Model> model,
                                                       llvm::StringRef title, llvm::StringRef by) {
  std::vector<OpenedGraph> graphs;
  bool has_texts = model->kind == FileKind::kText || model->kind == FileKind::kProgram;
  if (has_texts && title.empty()) {
    for (size_t i = 0; i < model->graphs.size(); ++i) graphs.emplace_back(model, i);
  } else {
    ASSIGN_OR_RETURN(OpenedGraph graph, Of(std::move(model), title, by));
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

// The name of a case is that of its folder, whose name may contain dots, or that of its archive
// without ".zip". In other names, a dot begins the suffix.
std::string OpenedGraph::name() const {
  if (model_->kind == FileKind::kProgram) return file().title;
  llvm::StringRef path = model_->path;
  llvm::StringRef name = llvm::sys::path::filename(path.rtrim('/'));
  if (model_->kind == FileKind::kCaseFolder)
    name.consume_back(".zip");
  else
    name = name.split('.').first;
  return path == "-" || name.empty() ? "graph" : name.str();
}

OpenedGraph OpenedGraph::Copy() const { return With(module().Copy()); }

OpenedGraph OpenedGraph::With(std::unique_ptr<Module> module) const {
  OpenedGraph copy(model_, index_);
  copy.module_ = std::move(module);
  copy.whole_ = whole_;
  copy.again_ = again_;
  return copy;
}

void OpenedGraph::WorkOn(std::unique_ptr<Module> module) {
  struct Both {
    std::shared_ptr<Module> before;
    std::unique_ptr<Module> now;
  };
  auto both = std::make_shared<Both>(Both{std::move(module_), std::move(module)});
  module_ = std::shared_ptr<Module>(both, both->now.get());
}

void OpenedGraph::ContinueWith(GraphInFile part, std::function<Error(OpenedGraph*)> again) {
  Continue(std::move(part), /*is_part=*/true, std::move(again));
}

void OpenedGraph::ContinueInstead(GraphInFile more, std::function<Error(OpenedGraph*)> again) {
  Continue(std::move(more), /*is_part=*/false, std::move(again));
}

void OpenedGraph::Continue(GraphInFile file, bool is_part,
                           std::function<Error(OpenedGraph*)> again) {
  struct Continued {
    OpenedGraph from;
    Model model;
  };
  const Model& model = *model_;
  auto own = std::make_shared<Continued>(Continued{
      std::move(*this),
      {model.kind, model.path, {}, {}, model.asset_files, model.variables_prefix, model.problems}});
  if (is_part) file.whole = &own->from.file();
  own->model.graphs.push_back(std::move(file));
  *this = OpenedGraph(std::shared_ptr<Model>(own, &own->model), 0);
  whole_ = &own->from.whole();
  note_ = own->from.note_;
  again_ = [own, again = std::move(again)]() -> Expected<OpenedGraph> {
    ASSIGN_OR_RETURN(OpenedGraph opened, own->from.Reopen());
    RETURN_IF_ERROR(again(&opened));
    return std::move(opened);
  };
}

Expected<OpenedGraph> OpenedGraph::Reopen() const {
  return again_ ? again_() : Open(model_->path, file().title);
}

Expected<FeedsAndFetches> FeedsAndFetchesOf(const OpenedGraph& opened,
                                            llvm::ArrayRef<std::string> feeds,
                                            llvm::ArrayRef<std::string> fetches,
                                            llvm::StringRef signature) {
  ASSIGN_OR_RETURN(FeedsAndFetches tensors,
                   FeedsAndFetchesOf(opened.model(), opened.file(), signature));
  if (!feeds.empty()) tensors.feeds.assign(feeds.begin(), feeds.end());
  if (!fetches.empty()) tensors.fetches.assign(fetches.begin(), fetches.end());
  return tensors;
}

Error CheckValid(const OpenedGraph& opened, const MessageSink& sink) {
  return CheckValid(opened.model(), opened.file(), sink);
}

std::string EndsText(llvm::ArrayRef<std::string> ends, llvm::StringRef what) {
  llvm::StringSet<> nodes;  // names each sink only once
  for (llvm::StringRef end : ends) nodes.insert(ReadTensorName(end).node);
  std::string head = nodes.size() == 1
                         ? "the one node without consumers is "
                         : "the " + Plural(nodes.size(), "node") + " without consumers are ";
  return head + what.str() + ": '" + Printable(ends[0]) + (nodes.size() == 1 ? "'" : "', ...");
}

std::vector<std::string> ProblemLines(const OpenedGraph& opened) {
  std::vector<std::string> lines;
  for (const Problem& problem : ProblemsOf(opened.model(), opened.file())) {
    lines.push_back(opened.model().path + ": " +
                    (problem.severity == Severity::kError ? "" : "warning: ") + problem.ToString());
  }
  return lines;
}

void WarnOfProblems(const OpenedGraph& opened, const MessageSink& sink) {
  for (const Problem& problem : ProblemsOf(opened.model(), opened.file()))
    sink(Severity::kWarning, opened.model().path + ": " + problem.ToString());
}

}  // namespace grapnel
