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
  kBackward,   // the gradient
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
  kEntry,       // called by Python, a signature or a loader, but nowhere in the file
  kCalled,      // called by an entry point or the main graph, directly or not
  kDataset,     // called by a dataset that Python made
  kEager,       // called by the eager runtime
  kSuperseded,  // never called: its forward function runs instead
  kUnused       // never called
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
  std::string argument;  // the argument of other traces; empty: other traces have a constant too
  std::string value;     // "0.5"
  std::vector<std::string> nodes;  // "mul/x", or "Sum.keep_dims" for an attribute
};

struct LibraryFunction {
  const Function* function = nullptr;
  FunctionName name;
  FunctionRole role = FunctionRole::kPlain;
  std::string part;  // for an op: "body", "then branch", "branch 2", "map function"
  FunctionStatus status = FunctionStatus::kUnused;
  std::vector<FunctionUse> uses;    // in the order of the file
  std::vector<int> callers, calls;  // each function once, ascending; callers: -1 is the main graph
  int forward = -1, backward = -1;  // for a trace, the functions that run instead of it
  int partner = -1;                 // a forward function's backward function, and vice versa
  int trace = -1;      // for a forward or backward function, the trace that it is made from
  int successor = -1;  // for a trace that creates variables, the trace that follows it
  bool makes_variables = false;  // creates variables, as tf.function's first trace
  std::vector<FunctionArgument> arguments;
  std::vector<FunctionArgument> results;
  // How this trace differs from the other traces of its Python function.
  std::vector<TraceConstant> constants;
  std::vector<std::string> has, lacks;  // nodes that few (has) or most (lacks) traces have
  size_t nodes = 0;                     // without arguments and results
  uint64_t bytes = 0;  // size in the file; 0 if the function was not read from a message
  uint64_t hash = 0;   // see BodyHashes
  int copy_of = -1;    // the first function with the same body; -1: this one is the first
  int row = 0;         // index in FunctionLibrary::rows
};

// One Python function with its traces, or the functions that are the same part (such as
// `then_branch`) of an op in several traces.
struct FunctionRow {
  std::string name;          // "train_step"
  FunctionRole role;         // kTrace for all functions that Python traced
  std::vector<int> members;  // traces by number, then the functions made from them
  size_t traces = 0;         // how many members are traces
  bool is_entry = false;
  bool one_body = false;  // true if all traces have the same body
};

struct FunctionLibrary {
  std::vector<LibraryFunction> functions;  // in the order of the module
  std::vector<FunctionRow> rows;           // entry points first, then by name
  // The entry points, which are the functions to read first, in the order of `rows`.
  std::vector<int> Entries() const;
};

// Describes the functions of `module`. `from_outside`: functions that are referenced from outside
// the graph, as by a SavedModel's signatures and objects; unknown names are ignored. The module
// must outlive the result. Cost: linear in nodes, edges and bytes.
FunctionLibrary ReadFunctionLibrary(const Module& module,
                                    llvm::ArrayRef<std::string> from_outside = {});

llvm::StringRef RoleName(FunctionRole role);        // "trace", "forward", ...
llvm::StringRef StatusName(FunctionStatus status);  // "entry", "called", ...
// Returns the function's role in a word or two: its part in an op if it has one, otherwise `role`.
std::string RoleText(const LibraryFunction& function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_FUNCTION_LIBRARY_H_
