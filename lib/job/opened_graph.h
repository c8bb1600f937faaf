// A graph that was opened for jobs, with the metadata of its file.
#ifndef GRAPNEL_LIB_JOB_OPENED_GRAPH_H_
#define GRAPNEL_LIB_JOB_OPENED_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/io/feeds_and_fetches.h"
#include "lib/support/public.h"

namespace grapnel {

// One graph of a model. Move-only: the owner may change its module in place. Shared graphs are
// const; to change one, make a Copy().
class GRAPNEL_PUBLIC OpenedGraph {
 public:
  // Opens `path` and selects its graph: the only one, or the one with the title `title` (the tags
  // of a SavedModel, a stage of a dump folder: lib/diff/stage_names.h). `path` may also be
  // PATH:TITLE. Errors: those of ReadGraphPath and OpenModel; no graph or several graphs match. The
  // messages name `by`, the caller's way to select a graph ("--graph"), where that helps.
  static Expected<OpenedGraph> Open(llvm::StringRef path, llvm::StringRef title = {},
                                    llvm::StringRef by = "its title");
  // Like Open(), but without a title returns every graph of a text file or program with several
  // graphs.
  static Expected<std::vector<OpenedGraph>> OpenEach(llvm::StringRef path, llvm::StringRef title,
                                                     llvm::StringRef by = "its title");
  // Of() and EachOf() are Open() and OpenEach() for a model that is already open.
  static Expected<OpenedGraph> Of(std::shared_ptr<Model> model, llvm::StringRef title,
                                  llvm::StringRef by = "its title");
  static Expected<std::vector<OpenedGraph>> EachOf(std::shared_ptr<Model> model,
                                                   llvm::StringRef title,
                                                   llvm::StringRef by = "its title");
  // Opens graph `index` of `model`. Make at most one such object per graph: it may change the
  // model's module in place.
  OpenedGraph(std::shared_ptr<Model> model, size_t index);

  OpenedGraph(OpenedGraph&&) = default;
  OpenedGraph& operator=(OpenedGraph&&) = default;

  const Model& model() const { return *model_; }
  // The file's data about this graph: title, signatures, how to restore it. The module in this data
  // may be another than module().
  const GraphInFile& file() const { return model_->graphs[index_]; }
  // A warning about how the graph's name was resolved, or "".
  const std::string& note() const { return note_; }
  // The module that jobs work on. A graph that a dump folder only lists has none.
  Module& module() { return *module_; }
  const Module& module() const { return *module_; }
  // Replaces the module that jobs work on; keeps the data that `module` refers to alive.
  void WorkOn(std::unique_ptr<Module> module);
  // Continues with `part`, a part of this graph that may refer to its data: from now on, file() is
  // `part`, and model() contains only this graph. `again` makes the same part of this graph after
  // it was opened again.
  void ContinueWith(GraphInFile part, std::function<Error(OpenedGraph*)> again);
  // Continues with `more`, a file that was made from this graph but is not part of it, such as one
  // with an additional call. `again` makes the same of this graph after it was opened again.
  void ContinueInstead(GraphInFile more, std::function<Error(OpenedGraph*)> again);
  // The graph that the file holds: the one that ContinueWith() or ContinueInstead() was first
  // called on, or this one.
  const OpenedGraph& whole() const { return whole_ ? *whole_ : *this; }
  // Returns a name for dumps and titles: the name of the file or directory up to the first dot, the
  // whole name of a case folder, or the name of a program's function; "graph" if there is no name.
  std::string name() const;

  // Returns the same graph with a copy of the module; see Module::Copy.
  OpenedGraph Copy() const;
  // Returns `module` as a graph of the same file.
  OpenedGraph With(std::unique_ptr<Module> module) const;
  // Opens the same graph again from the current contents of the file. Errors: those of Open.
  Expected<OpenedGraph> Reopen() const;
  // Sets how Reopen() makes a graph that is not in a file.
  void ReopenBy(std::function<Expected<OpenedGraph>()> again) { again_ = std::move(again); }
  // Releases the model's module; this object must not be used afterwards. Must not be called on the
  // result of Copy().
  std::unique_ptr<Module> TakeModule() { return std::move(model_->graphs[index_].module); }

 private:
  void Continue(GraphInFile file, bool is_part, std::function<Error(OpenedGraph*)> again);

  std::shared_ptr<Model> model_;
  size_t index_;
  std::shared_ptr<Module> module_;      // the module of model_, or another
  const OpenedGraph* whole_ = nullptr;  // kept alive by model_; null: this graph
  std::function<Expected<OpenedGraph>()> again_;
  std::string note_;
};

// Returns `feeds` and `fetches` if given, else those of the case, the text file or the signature,
// else none. Errors: there is no signature of that name.
GRAPNEL_PUBLIC Expected<FeedsAndFetches> FeedsAndFetchesOf(const OpenedGraph& opened,
                                                           llvm::ArrayRef<std::string> feeds,
                                                           llvm::ArrayRef<std::string> fetches,
                                                           llvm::StringRef signature = {});

// Returns "the one node without consumers is WHAT: 'x'", for the sinks of a graph, which are
// fetched because no fetches were given.
GRAPNEL_PUBLIC std::string EndsText(llvm::ArrayRef<std::string> ends, llvm::StringRef what);

// Reports all problems of the graph, for jobs that need a valid graph: warnings go to the sink;
// errors become an Error that lists the first 20, each with file and node.
GRAPNEL_PUBLIC Error CheckValid(const OpenedGraph& opened, const MessageSink& sink);

// Returns lines "path: node 'x': ..." for a report; for warnings, "path: warning: node 'x': ...".
GRAPNEL_PUBLIC std::vector<std::string> ProblemLines(const OpenedGraph& opened);
// Reports all problems as warnings, for jobs that show a graph even if it is broken.
GRAPNEL_PUBLIC void WarnOfProblems(const OpenedGraph& opened, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_OPENED_GRAPH_H_
