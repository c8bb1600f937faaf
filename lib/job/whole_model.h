// What is optimized of a SavedModel that is to stay one, and what must stay as it is.
#ifndef GRAPNEL_LIB_JOB_WHOLE_MODEL_H_
#define GRAPNEL_LIB_JOB_WHOLE_MODEL_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/pass/pass_manager.h"

namespace grapnel {

// A model of TensorFlow 2 is loaded by its functions: those that signatures run are optimized,
// under their names and with their arguments; the main graph only calls them. What else may be
// called of the model (functions of objects, through which gradients are taken; those that save and
// restore) stays as it was read: where a signature shares a function with them, it gets a copy.
// A large function that is called in several places stays one, for else the model would grow.
// A model of TensorFlow 1 is its main graph: all that signatures, saver, initializers and
// collections name is fetched.
class WholeModel {
 public:
  // Copies what is shared. Errors: there is no signature.
  static Expected<WholeModel> Prepare(OpenedGraph& opened);
  // Bodies, or feeds and fetches, instead of those of one signature.
  void Fill(OptimizeOptions* options) const;
  // After the passes: drops functions that nothing needs any more, and marks of Prepare.
  void CleanUp(Module& module) const;

 private:
  void CopyShared(Module& module) const;
  void KeepCommon(Module& module);

  std::vector<std::string> bodies_;  // of TensorFlow 2
  std::vector<std::string> kept_;    // functions that others than signatures call
  struct Marked {
    std::string function;
    llvm::StringRef source;  // as it was before
  };
  std::vector<Marked> marked_;
  std::vector<std::string> feeds_, fetches_;  // of TensorFlow 1
};

// Nodes that the signatures of a graph need, those of the functions that they call too; what two
// need counts twice.
size_t CountOfSignatures(const GraphInFile& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_WHOLE_MODEL_H_
