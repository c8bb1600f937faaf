// Describes the functions of a library from the point of view of the program that made them: which
// functions are traces of one Python function, how these traces differ, which function is the
// gradient of which, the role of each function, and its callers. `info`, the page and `query` show
// this.
#ifndef GRAPNEL_LIB_LIBRARY_FUNCTION_LIBRARY_H_
#define GRAPNEL_LIB_LIBRARY_FUNCTION_LIBRARY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/library/function_name.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// The role of a function.
enum class FunctionRole {
  kTrace,      // a trace of a Python function
  kForward,    // a trace that also returns what its gradient needs
  kBackward,   // the gradient of a trace
  kBody,       // the body of a loop
  kCondition,  // the condition of a loop
  kBranch,     // a branch of a conditional
  kDataset,    // passed to a tf.data dataset
  kSignature,  // run by a signature of a SavedModel
  kRestored,   // calls a function of a SavedModel that was loaded
  kSaver,      // saves or restores a SavedModel's variables
  kGradient,   // the gradient of a function of TensorFlow 1
  kEagerOp,    // a single op that the eager runtime ran as a function
  kPlain       // any other
};

// The kind of caller that a function has, if any.
enum class FunctionStatus {
  kEntry,    // called from outside of the graph: by Python, a signature or a loader
  kCalled,   // called by the main graph or by a function that runs, directly or not
  kDataset,  // called by a dataset that Python made
  kEager,    // called by the eager runtime
  // Never called: its forward function or a later trace runs instead, or only superseded functions
  // call it.
  kSuperseded,
  kUnused  // never called
};

// A node that names a function.
struct FunctionUse {
  int caller = -1;  // an index in Module::functions; -1: the node is in the main graph
  Node node;
  std::string attribute;  // "then_branch"; empty: the function is the node's op
  int place = -1;         // the index if the attribute is a list, as `branches`
};

struct FunctionArgument {
  std::string name;  // the argument's name in the signature
  DataType dtype = proto::DT_INVALID;
  std::string type;       // "float", or "N*float" and the like if the call decides
  Shape shape;            // unknown if the file does not give it
  bool captured = false;  // the argument stands for a tensor or variable outside of the function
  // The process's counter of function numbers when the argument was captured, if the file has it.
  // Functions created before the capture have this number or smaller ones.
  std::optional<int64_t> captured_at;

  std::string ToString() const;  // "float[2,3]"; without a shape "resource"
};

// A Python value that is a constant or a node's attribute in this trace; in other traces of the
// same Python function it is an argument or has another value.
struct TraceConstant {
  std::string argument;            // the argument of other traces; empty: these have another value
  std::string value;               // "0.5"
  std::vector<std::string> nodes;  // "mul/x", or "Sum.keep_dims" for an attribute
};

struct LibraryFunction {
  const Function* function = nullptr;
  FunctionName name;
  FunctionRole role = FunctionRole::kPlain;
  // The use that an op makes of the function: "body", "then branch", "branch 2" or "map function".
  std::string part;
  FunctionStatus status = FunctionStatus::kUnused;
  std::vector<FunctionUse> uses;    // in the order of the file
  std::vector<int> callers, calls;  // each function once, ascending; callers: -1 is the main graph
  // The forward function that runs instead of this function if a gradient is needed, and the
  // gradient; -1: none.
  int forward = -1, backward = -1;
  int partner = -1;              // a forward function's backward function, and vice versa; -1: none
  int trace = -1;                // for a function made for a gradient, the one that it is made from
  int successor = -1;            // for a trace that creates variables, the trace that follows it
  bool makes_variables = false;  // creates variables, as tf.function's first trace
  std::vector<FunctionArgument> arguments;
  std::vector<FunctionArgument> results;
  // How this trace differs from the other traces of its Python function.
  std::vector<TraceConstant> constants;
  // Nodes of this trace that at most half of the traces have, and nodes that this trace lacks but
  // at least half of the traces have.
  std::vector<std::string> has, lacks;
  size_t nodes = 0;    // without arguments and results
  uint64_t bytes = 0;  // size in the file; 0 if the function was not read from a message
  uint64_t hash = 0;   // see BodyHashes
  // The function with the same body and the smallest number in its name; -1: it is this one.
  int copy_of = -1;
  int row = 0;  // index in FunctionLibrary::rows
};

// One Python function with its traces, the functions that are the same part (such as `then_branch`)
// of an op in several traces, other functions of the same name, or all eager ops.
struct FunctionRow {
  std::string name;          // "train_step"
  FunctionRole role;         // kTrace for traces and their forward and backward functions
  std::vector<int> members;  // traces (or other originals) by number, then those made from them
  size_t traces = 0;         // how many members are not made from others
  bool is_entry = false;     // true if a member is an entry point
  bool one_body = false;     // true if there are several traces, and all have the same body
};

struct FunctionLibrary {
  std::vector<LibraryFunction> functions;  // in the order of the module
  // First the traced and plain functions and the signatures that are entry points, then the other
  // traced and plain functions, then all others except eager ops, which come last; each by name.
  std::vector<FunctionRow> rows;
  // The entry points, which are the functions to read first, in the order of `rows`.
  std::vector<int> Entries() const;
};

// Describes the functions of `module`. `from_outside`: functions that are referenced from outside
// the graph, as by a SavedModel's signatures and objects; unknown names are ignored. The module
// must outlive the result. Cost: linear in nodes, edges and bytes, except that traces of functions
// with the same name are compared with each other.
FunctionLibrary ReadFunctionLibrary(const Module& module,
                                    llvm::ArrayRef<std::string> from_outside = {});

llvm::StringRef RoleName(FunctionRole role);        // "trace", "forward", ...
llvm::StringRef StatusName(FunctionStatus status);  // "entry", "called", ...
// Returns the function's role in a few words: its part in an op if it has one, otherwise `role`;
// for a branch or loop body that was made for a gradient also "forward" or "backward".
std::string RoleText(const LibraryFunction& function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_FUNCTION_LIBRARY_H_
