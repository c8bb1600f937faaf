// From a SavedModel's files to a session and back: variables, and what its initializer makes.
#ifndef GRAPNEL_LIB_EXEC_SAVED_STATE_H_
#define GRAPNEL_LIB_EXEC_SAVED_STATE_H_

#include <string>
#include <vector>

#include "lib/exec/session.h"
#include "lib/io/open.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// The op that fills the tables of a frozen graph. TensorFlow's tables_initializer uses this name.
inline constexpr llvm::StringLiteral kTableInit = "init_all_tables";
// kTableInit, if the graph has an op of that name that does nothing but wait for others; else
// empty.
std::string TableInitOf(const Graph& main);

// The node of the main graph that initializes a model once its variables have values: fills tables.
// The file names it, or it is TableInitOf. Empty if the model has none.
std::string InitOpOf(const GraphInFile& graph);

// A variable that no value was found for.
struct MissingVariable {
  NodeId variable;  // of the main graph
  std::string reason;
};

struct RestoredState {
  std::vector<MissingVariable> missing;  // no error until somebody needs one
  std::string ambiguous;  // a sentence: of which variables the checkpoint has two values; or empty
};

// As TensorFlow's loaders do: runs the saver's restore op on `variables_prefix` (unless that is
// empty, or there is no saver), gives variables then the values that BindVariables finds (of a file
// of Keras, KerasWeights) where the saver read none, or read another tensor of the checkpoint than
// tf.saved_model.load does; then those that the graph has beside it (GraphInFile::initial_values);
// and runs the initializer (signature __saved_model_init_op, or collection saved_model_main_op or
// legacy_init_op; of a GraphDef, TableInitOf) with the assets' paths fed. What the saver cannot
// read, such as the checkpoint of a tf.train.Checkpoint, is read without it; an error of the saver
// is one where nothing of the model is found. Errors name the op that failed.
Expected<RestoredState> RestoreSession(const GraphInFile& graph, llvm::StringRef variables_prefix,
                                       Session& session, ThreadPool& pool);

// After RestoreSession from another checkpoint: seed generators of Keras that it has no value for
// keep those that the model came with, in `own_prefix`, and are no longer missing. Keras does not
// save the generators of recurrent and image layers, and what it loads leaves them as they are.
// Errors: the model's checkpoint is damaged.
Error KeepOwnSeeds(const GraphInFile& graph, llvm::StringRef own_prefix, Session& session,
                   RestoredState* state);

// Gives the session what a case says that it has before the first run: values of variables, and
// what its graph of initializers makes. Errors name the variable, the file, or the op that failed.
Error RestoreCase(const GraphInFile& graph, const Case& values, Session& session, ThreadPool& pool);

// Errors: the model has no ops that save its variables, which SaveVariables needs. It costs
// nothing, and may be asked before a long run.
Error CheckHasSaver(const GraphInFile& graph);

// Writes the variables to PREFIX.index and PREFIX.data-00000-of-00001, by the saver's own ops, and
// those of objects where the checkpoint that the model came with (`variables_prefix`; empty: none)
// has them. What has no value gets the one of that checkpoint, for the saver writes all. After an
// error PREFIX is what it was.
Error SaveVariables(const GraphInFile& graph, llvm::StringRef prefix,
                    llvm::StringRef variables_prefix, Session& session, ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_SAVED_STATE_H_
