// A graph that was opened for jobs, with what its file says beside it.
#ifndef GRAPNEL_LIB_JOB_OPENED_GRAPH_H_
#define GRAPNEL_LIB_JOB_OPENED_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/io/feeds_and_fetches.h"
#include "lib/support/public.h"

namespace grapnel {

// One graph of a model. Move-only: who has it may change its module in place. A graph that several
// look at is shared as const, and who has to change it takes a Copy().
class GRAPNEL_PUBLIC OpenedGraph {
 public:
  // Opens `path` and picks its graph: the only one, or the one of that `title` (tags of a
  // SavedModel, a stage of a dump folder: lib/diff/stage_names.h). `path` may be PATH:TITLE too.
  // Errors: OpenModel's; none or several graphs fit, where `by` tells the
  // caller's way to name one ("--graph").
  static Expected<OpenedGraph> Open(llvm::StringRef path, llvm::StringRef title = {},
                                    llvm::StringRef by = "its title");
  // The same; of a text or a program with several graphs and no title, each.
  static Expected<std::vector<OpenedGraph>> OpenEach(llvm::StringRef path, llvm::StringRef title,
                                                     llvm::StringRef by = "its title");
  // The same of a model that is open.
  static Expected<OpenedGraph> Of(std::shared_ptr<Model> model, llvm::StringRef title,
                                  llvm::StringRef by = "its title");
  static Expected<std::vector<OpenedGraph>> EachOf(std::shared_ptr<Model> model,
                                                   llvm::StringRef title,
                                                   llvm::StringRef by = "its title");
  // Graph `index` of `model`; of those of one model each is to be made once.
  OpenedGraph(std::shared_ptr<Model> model, size_t index);

  OpenedGraph(OpenedGraph&&) = default;
  OpenedGraph& operator=(OpenedGraph&&) = default;

  const Model& model() const { return *model_; }
  // What the file says of this graph: title, signatures, what restores it. Its module is the one as
  // it was opened.
  const GraphInFile& file() const { return model_->graphs[index_]; }
  // A warning about how the graph's name was resolved; may be empty.
  const std::string& note() const { return note_; }
  // What is worked on; there is none in a dump folder's list.
  Module& module() { return *module_; }
  const Module& module() const { return *module_; }
  // From now on another module is worked on; what it was made of is kept.
  void WorkOn(std::unique_ptr<Module> module);
  // For dumps and titles: the name of the file, without suffix, of the folder, or of a program's
  // function.
  std::string name() const;

  // The same graph with a module of its own; see Module::Copy.
  OpenedGraph Copy() const;
  // What `module` holds, as a graph of the same file.
  OpenedGraph With(std::unique_ptr<Module> module) const;
  // The same graph from its file again, as it is there. Errors: Open's.
  Expected<OpenedGraph> Reopen() const;
  // Of a graph that no file holds: how Reopen() makes it.
  void ReopenBy(std::function<Expected<OpenedGraph>()> again) { again_ = std::move(again); }
  // The module by itself; nothing else of this may be used afterwards. Not for a copy.
  std::unique_ptr<Module> TakeModule() { return std::move(model_->graphs[index_].module); }

 private:
  std::shared_ptr<Model> model_;
  size_t index_;
  std::shared_ptr<Module> module_;  // the model's, or a copy
  std::function<Expected<OpenedGraph>()> again_;
  std::string note_;
};

// Feeds and fetches: those given, else those of the case, the text or the signature, else none.
// Errors: there is no signature of that name.
GRAPNEL_PUBLIC Expected<FeedsAndFetches> FeedsAndFetchesOf(const OpenedGraph& opened,
                                                           llvm::ArrayRef<std::string> feeds,
                                                           llvm::ArrayRef<std::string> fetches,
                                                           llvm::StringRef signature = {});

// "the one node that nobody reads is WHAT: 'x'", of the ends of a graph that stand for fetches that
// nobody gave.
GRAPNEL_PUBLIC std::string EndsText(llvm::ArrayRef<std::string> ends, llvm::StringRef what);

// All problems of the graph, for jobs that work on none that is broken: warnings go to the sink;
// errors make an Error that lists them (the first 20), each with file and node.
GRAPNEL_PUBLIC Error CheckValid(const OpenedGraph& opened, const MessageSink& sink);

// Lines "path: node 'x': ..." for a report, those of warnings "path: warning: node 'x': ...".
GRAPNEL_PUBLIC std::vector<std::string> ProblemLines(const OpenedGraph& opened);
// The same as warnings: for jobs that show a graph as it is, broken or not.
GRAPNEL_PUBLIC void WarnOfProblems(const OpenedGraph& opened, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_OPENED_GRAPH_H_
