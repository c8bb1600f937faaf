// The functions of a library as the program that made them has them: which are traces of one Python
// function, how these differ, which function is the gradient of which, what each is for, and who
// runs it. `info`, the page and `query` show this.
#ifndef GRAPNEL_LIB_LIBRARY_FUNCTION_LIBRARY_H_
#define GRAPNEL_LIB_LIBRARY_FUNCTION_LIBRARY_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/library/function_name.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// What a function is for.
enum class FunctionRole {
  kTrace,      // of a Python function
  kForward,    // a trace that also gives what its gradient needs
  kBackward,   // the gradient
  kBody,       // of a loop
  kCondition,  // of a loop
  kBranch,     // of a conditional
  kDataset,    // given to a tf.data dataset
  kSignature,  // what a signature of a SavedModel runs
  kRestored,   // calls a function of a SavedModel that was loaded
  kSaver,      // saves or restores a SavedModel's variables
  kGradient,   // gradient of a function of TensorFlow 1
  kEagerOp,    // one op that the eager runtime ran
  kPlain       // any other
};

// Who runs a function.
enum class FunctionStatus {
  kEntry,       // Python, a signature or a loader; nothing in the file calls it
  kCalled,      // an entry point or the main graph, through however many calls
  kDataset,     // a dataset that Python made
  kEager,       // the eager runtime
  kSuperseded,  // none: its forward function runs in its place
  kUnused       // none
};

// A node that names a function.
struct FunctionUse {
  int caller = -1;  // a number of Module::functions; -1: the main graph
  Node node;
  std::string attribute;  // "then_branch"; empty: the function is the node's op
  int place = -1;         // in a list of functions: of `branches`
};

struct FunctionArgument {
  std::string name;  // in the signature
  DataType dtype = proto::DT_INVALID;
  std::string type;       // "float", or "N*float" and the like where a call decides it
  Shape shape;            // unknown where the file says nothing
  bool captured = false;  // it stands for a tensor or variable outside of the function
  // The process's number when it was captured, where the file says it: then no larger number was
  // given yet.
  std::optional<int64_t> captured_at;

  std::string ToString() const;  // "float[2,3]"; of what has no shape "resource"
};

// A value of Python's that a trace has as a constant or an attribute, where other traces have an
// argument or another value.
struct TraceConstant {
  std::string argument;            // of the other traces; empty: they have a constant too
  std::string value;               // "0.5"
  std::vector<std::string> nodes;  // "mul/x", or "Sum.keep_dims" of an attribute
};

struct LibraryFunction {
  const Function* function = nullptr;
  FunctionName name;
  FunctionRole role = FunctionRole::kPlain;
  std::string part;  // of an op: "body", "then branch", "branch 2", "map function"; or empty
  FunctionStatus status = FunctionStatus::kUnused;
  std::vector<FunctionUse> uses;    // in the order of the file
  std::vector<int> callers, calls;  // functions, each once, ascending; callers: -1 is main
  int forward = -1, backward = -1;  // of a trace, the pair that runs in its place
  int partner = -1;                 // of a forward function its backward function, and the reverse
  int trace = -1;                   // of both: the trace that they are made from
  int successor = -1;  // of a trace that makes variables: the next one, which finds them made
  bool makes_variables = false;  // where they are not yet: tf.function's first trace does
  std::vector<FunctionArgument> arguments;
  std::vector<FunctionArgument> results;
  // How it differs from the other traces of its Python function.
  std::vector<TraceConstant> constants;
  std::vector<std::string> has, lacks;  // nodes that at most half of the traces have; at least half
  size_t nodes = 0;                     // without arguments and results
  uint64_t bytes = 0;                   // in the file; 0 of what was not read from a message
  uint64_t hash = 0;                    // as BodyHashes
  int copy_of = -1;  // of functions with this body the one of the least number, if another
  int row = 0;       // in FunctionLibrary::rows
};

// One Python function, or the parts of one op.
struct FunctionRow {
  std::string name;          // "train_step"
  FunctionRole role;         // kTrace of all that was traced for itself
  std::vector<int> members;  // traces by number, then what is made of them
  size_t traces = 0;         // how many of them come first
  bool is_entry = false;
  bool one_body = false;  // all traces are copies of one
};

struct FunctionLibrary {
  std::vector<LibraryFunction> functions;  // in the order of the module
  std::vector<FunctionRow> rows;           // entry points first, then by name
  // Functions at which a reader begins, in the order of rows.
  std::vector<int> Entries() const;
};

// `from_outside`: functions that something beside the graph names, as a SavedModel's signatures and
// objects do; names that are not there do no harm. The module outlives the answer. Cost: linear in
// nodes, edges and bytes.
FunctionLibrary ReadFunctionLibrary(const Module& module,
                                    llvm::ArrayRef<std::string> from_outside = {});

llvm::StringRef RoleName(FunctionRole role);        // "trace", "forward", ...
llvm::StringRef StatusName(FunctionStatus status);  // "entry", "called", ...
// What it is for in a word or two: the part where it is one, else the role.
std::string RoleText(const LibraryFunction& function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_FUNCTION_LIBRARY_H_
