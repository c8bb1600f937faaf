// Restores the variables and tables of a SavedModel into a session, and saves variables.
#ifndef GRAPNEL_LIB_EXEC_SAVED_STATE_H_
#define GRAPNEL_LIB_EXEC_SAVED_STATE_H_

#include <string>
#include <vector>

#include "lib/exec/session.h"
#include "lib/io/open.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// The name of the node that fills the tables of a frozen graph, the same as that of TensorFlow's
// tables_initializer.
inline constexpr llvm::StringLiteral kTableInit = "init_all_tables";
// Returns kTableInit if the graph has a NoOp of that name; else an empty string.
std::string TableInitOf(const Graph& main);

// Returns the node of the main graph that initializes a model (fills its tables) once its variables
// have values. The file names this node, or it is TableInitOf's. Returns an empty string if the
// model has no such node. For a part of a graph, this is a node of GraphInFile::whole.
std::string InitOpOf(const GraphInFile& graph);

// A variable for which no value was found.
struct MissingVariable {
  NodeId variable;  // a node of the main graph
  std::string reason;
};

struct RestoredState {
  std::vector<MissingVariable> missing;  // not an error until a run reads one
  std::string ambiguous;  // a sentence on variables with two values in the checkpoint; or empty
};

// Restores a model as TensorFlow's loaders do:
//   1. runs the saver's restore op on `variables_prefix`, unless that is a Keras file or there is
//      no saver; steps 1 and 2 are skipped if `variables_prefix` is empty;
//   2. assigns the values that BindVariables finds (KerasWeights for a Keras file) to the variables
//     that the saver did not restore, or restored from another tensor of the checkpoint than
//     tf.saved_model.load does;
//   3. assigns the values that come with the graph (GraphInFile::initial_values) to variables that
//      have no value yet;
//   4. runs the initializer (signature __saved_model_init_op, or collection saved_model_main_op or
//     legacy_init_op; for a GraphDef, TableInitOf) with the assets' paths fed.
// A checkpoint that the saver cannot read, such as that of a tf.train.Checkpoint, is read without
// it; an error of the saver counts only if no value of the model is found. Errors of ops name the
// op. For a part of a graph, runs the ops of GraphInFile::whole, and returns nodes of the part.
Expected<RestoredState> RestoreSession(const GraphInFile& graph, llvm::StringRef variables_prefix,
                                       Session& session, ThreadPool& pool);

// Call this after RestoreSession from a checkpoint other than the model's own, `own_prefix`: the
// states of Keras's seed generators that are missing in the former are restored from the latter,
// and are removed from state->missing. Keras does not save the generators of recurrent and image
// layers, and loading weights in Keras leaves them unchanged. Errors: such as a checkpoint of the
// model that cannot be read.
Error KeepOwnSeeds(const GraphInFile& graph, llvm::StringRef own_prefix, Session& session,
                   RestoredState* state);

// Restores into the session the state of a case (recorded inputs and state of a run) before its
// first run: assigns the values of variables, and runs the case's initializer graph. Errors name
// the variable, the file, or the op that failed.
Error RestoreCase(const GraphInFile& graph, const Case& values, Session& session, ThreadPool& pool);

// Returns an error if the model has no ops that save its variables, which SaveVariables needs. The
// check is cheap: make it before a long run.
Error CheckHasSaver(const GraphInFile& graph);

// Writes the variables to PREFIX.index and PREFIX.data-00000-of-00001 with the ops of the model's
// saver. The session's values of the object graph's variables that the model's own checkpoint has
// (`variables_prefix`; empty if the model has no checkpoint) are added, or replace those that the
// saver writes. A variable without a value gets its value from the model's own checkpoint, because
// the saver can only write all variables. After an error PREFIX has its previous
// checkpoint or the complete new one.
Error SaveVariables(const GraphInFile& graph, llvm::StringRef prefix,
                    llvm::StringRef variables_prefix, Session& session, ThreadPool& pool);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_SAVED_STATE_H_
