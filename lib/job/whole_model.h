// Selects the parts of a SavedModel that may be optimized if the result must be a SavedModel too.
#ifndef GRAPNEL_LIB_JOB_WHOLE_MODEL_H_
#define GRAPNEL_LIB_JOB_WHOLE_MODEL_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/pass/pass_manager.h"

namespace grapnel {

// TensorFlow 2 loads a model by its functions: functions that signatures run are optimized and keep
// their names and arguments; the main graph only calls them. All other callable functions
// (functions of objects, through which gradients are taken; those that save and restore) stay
// unchanged: if a signature calls a function that they call too, the signature gets a copy of it.
// If inlining would make the model many times larger, large functions with several callers stay
// functions. A TensorFlow 1 model is its main graph: everything that signatures, saver,
// initializers and collections name is fetched.
class WholeModel {
 public:
  // Prepares the module: copies shared functions. Errors: there is no signature; in a model of
  // TensorFlow 2, no signature calls a function, or the object graph is damaged.
  static Expected<WholeModel> Prepare(OpenedGraph& opened);
  // Sets the bodies to optimize, or the feeds and fetches, for all signatures.
  void Fill(OptimizeOptions* options) const;
  // Called after the passes: removes unused functions and the marks that Prepare() set.
  void CleanUp(Module& module) const;

 private:
  void CopyShared(Module& module) const;
  void KeepCommon(Module& module);

  std::vector<std::string> bodies_;  // TensorFlow 2
  std::vector<std::string> kept_;    // functions with callers other than signatures
  struct Marked {
    std::string function;
    llvm::StringRef source;  // Function::source before Prepare()
  };
  std::vector<Marked> marked_;
  std::vector<std::string> feeds_, fetches_;  // TensorFlow 1
};

// Returns the number of nodes that a graph's signatures need, including the nodes of called
// functions. A node that two signatures need counts twice.
size_t CountOfSignatures(const GraphInFile& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_WHOLE_MODEL_H_
