// Restores the variables and tables of a SavedModel into a session, and saves variables.
#ifndef GRAPNEL_LIB_EXEC_SAVED_STATE_H_
#define GRAPNEL_LIB_EXEC_SAVED_STATE_H_

#include <string>
#include <vector>

#include "lib/exec/session.h"
#include "lib/io/open.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// The op that fills the tables of a frozen graph, named as in TensorFlow's tables_initializer.
inline constexpr llvm::StringLiteral kTableInit = "init_all_tables";
// Returns kTableInit if the graph has an op of that name that only waits for others; else an empty
// string.
std::string TableInitOf(const Graph& main);

// Returns the node of the main graph that initializes a model (fills its tables) once its variables
// have values. The file names it, or it is TableInitOf. Empty if the model has none.
std::string InitOpOf(const GraphInFile& graph);

// A variable for which no value was found.
struct MissingVariable {
  NodeId variable;  // of the main graph
  std::string reason;
};

struct RestoredState {
  std::vector<MissingVariable> missing;  // not an error until a run reads one
  std::string ambiguous;  // a sentence on variables with two values in the checkpoint; or empty
};

// Restores a model as TensorFlow's loaders do:
//   1. runs the saver's restore op on `variables_prefix`, unless that is empty or there is no
//     saver;
//   2. assigns the values that BindVariables finds (KerasWeights for a Keras file) to the variables
//     that the saver did not restore, or restored from another tensor of the checkpoint than
//     tf.saved_model.load does;
//   3. assigns the values that come with the graph (GraphInFile::initial_values);
//   4. runs the initializer (signature __saved_model_init_op, or collection saved_model_main_op or
//     legacy_init_op; for a GraphDef, TableInitOf) with the assets' paths fed.
// A checkpoint that the saver cannot read, such as that of a tf.train.Checkpoint, is read without
// it; an error of the saver counts only if no value of the model is found. Errors name the op that
// failed.
Expected<RestoredState> RestoreSession(const GraphInFile& graph, llvm::StringRef variables_prefix,
                                       Session& session, ThreadPool& pool);

// To call after RestoreSession from another checkpoint: Keras's seed generators without a value in
// it keep their values from the model's own checkpoint, `own_prefix`, and are no longer missing.
// Keras does not save the generators of recurrent and image layers, and its loading leaves them
// unchanged. Errors: the model's checkpoint is damaged.
Error KeepOwnSeeds(const GraphInFile& graph, llvm::StringRef own_prefix, Session& session,
                   RestoredState* state);

// Restores into the session the state of a case before its first run: values of variables, and the
// results of its initializer graph. Errors name the variable, the file, or the op that failed.
Error RestoreCase(const GraphInFile& graph, const Case& values, Session& session, ThreadPool& pool);

// Errors: the model has no ops that save its variables, which SaveVariables needs. This is cheap,
// so call it before a long run.
Error CheckHasSaver(const GraphInFile& graph);

// Writes the variables to PREFIX.index and PREFIX.data-00000-of-00001 with the saver's own ops, and
// variables of objects if the model's own checkpoint (`variables_prefix`; empty if it has none) has
// them. A variable without a value gets its value from that checkpoint, because the saver writes
// all. After an error PREFIX is unchanged.
Error SaveVariables(const GraphInFile& graph, llvm::StringRef prefix,
                    llvm::StringRef variables_prefix, Session& session, ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_SAVED_STATE_H_
