// A GraphDef in memory: the main graph, the function library, and the data they share.
#ifndef GRAPNEL_LIB_IR_MODULE_H_
#define GRAPNEL_LIB_IR_MODULE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/op_table.h"
#include "lib/support/error.h"
#include "lib/support/file.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

namespace grapnel {

// A defect found in a graph. `where` is a node ("add_3", "my_function/add_3"), or empty if the
// problem is not one of a node.
struct GRAPNEL_PUBLIC Problem {
  Severity severity = Severity::kError;  // kWarning: opt and run still accept the graph
  std::string where;
  std::string text;
  std::string place{};           // line and column in a text, "12:3"; or empty
  std::string ToString() const;  // "12:3: node 'add_3': input 2 ('relu:0') not found"
};

// A function of the library. `source` is a view of the file; once the function changes, export no
// longer writes it as it is.
class GRAPNEL_PUBLIC Function {
 public:
  Function(Module* module, StringId name) : name_id(name), body(module, this) {}

  llvm::StringRef name() const;
  // The function's own attributes (FunctionDef.attr), sorted by name.
  std::vector<std::pair<llvm::StringRef, AttrView>> Attrs() const;

  struct Result {
    std::string name;  // in the signature
    NodeId node;       // op _Retval
  };
  StringId name_id;
  Graph body;
  // The arguments, nodes of op _Arg, in the signature's order; one for a list of tensors has an
  // output for each tensor.
  std::vector<NodeId> args;
  std::vector<Result> results;  // of op _Retval, in the signature's order
  std::vector<std::pair<std::string, NodeId>> control_results;
  OpInfo info;             // the signature in the form of an op definition
  std::string signature;   // serialized OpDef
  llvm::StringRef source;  // the FunctionDef as read, also of a copy; empty for other new functions
  bool changed = false;    // body or signature changed: export rewrites the FunctionDef
  // The names of outputs of ops that the op table does not have: (node, port) -> ("out", index).
  // Export needs them for "node:out:index".
  llvm::DenseMap<std::pair<NodeId, int32_t>, std::pair<StringId, int32_t>> unknown_outputs;
};

class GRAPNEL_PUBLIC Module {
 public:
  Module() : main(this) {}
  // Returns a copy of the module with the same ids, names and files. Shares large data (constants,
  // the source file) with the original, which may change or be destroyed while the copy lives.
  // Linear in nodes, edges and names.
  std::unique_ptr<Module> Copy() const;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  StringTable strings;
  Graph main;
  std::vector<std::unique_ptr<Function>> functions;  // in the file's order, then new ones
  Function* FindFunction(llvm::StringRef name) const;
  Function* AddFunction(llvm::StringRef name);
  // Copies a function of this module under a new, unused name. Linear in its nodes.
  Function* AddCopy(const Function& function, llvm::StringRef name);
  // Keeps the functions for which keep(f) is true and removes the others.
  void RetainFunctions(llvm::function_ref<bool(const Function&)> keep);

  // `versions`: the serialized VersionDef. `other_fields` and `other_library_fields`: the fields of
  // GraphDef other than node, library and versions, and those of FunctionDefLibrary other than
  // function, with their tags.
  std::string versions;
  bool has_versions = false,
       has_library = false;  // the file has the field, even if it is empty: export then writes it
  std::string other_fields, other_library_fields;

  // Stores bytes for the lifetime of the module. Thread-safe.
  llvm::StringRef Keep(llvm::StringRef bytes) {
    return Keep(llvm::ArrayRef<llvm::StringRef>(bytes));
  }
  llvm::StringRef Keep(llvm::ArrayRef<llvm::StringRef> pieces);  // concatenated
  // Transfers the memory of a value that Keep() stored to the caller; no attribute may use the
  // value any more. The last copy of the returned pointer frees the whole pages of the value; the
  // module must live until then. Returns null and does nothing if the value is small, lies in a
  // file, or is shared with a copy of the module.
  std::shared_ptr<const void> TakeLarge(llvm::StringRef bytes);
  // The files that nodes and constants point into.
  std::vector<std::shared_ptr<const FileBytes>> sources;

  // Defects found while reading.
  std::vector<Problem> problems;
  // For a graph read from text (lib/ir/text.h): the line and column of each node and function. The
  // keys are names as in Problem::where.
  llvm::StringMap<std::string> places;

 private:
  static constexpr size_t kLargeValue = 16 * 1024;
  char* AllocateLarge(size_t size, size_t content);
  // Called in a copy of a module with bytes of the original; returns equal bytes that the copy may
  // refer to.
  llvm::StringRef Share(llvm::StringRef bytes);
  void CopyFunction(const Module& original, const Function& function);

  mutable std::mutex keeping_;  // guards the next four fields
  llvm::BumpPtrAllocator bytes_;
  // A block of memory for large values. A copy of the module shares the slabs of its original.
  struct Slab {
    std::shared_ptr<const char> bytes;
    size_t size;
  };
  std::vector<Slab> large_;
  char* large_at_ = nullptr;
  size_t large_left_ = 0;
  llvm::StringMap<Function*> functions_by_name_;
};

// One body of a module: the main graph, or the body of a function.
struct GRAPNEL_PUBLIC Body {
  Graph* graph;
  Function* function;  // null for the main graph
};
// Returns the bodies of a module: the main graph first, then the functions.
GRAPNEL_PUBLIC std::vector<Body> Bodies(Module& module);

// Returns the function that has this body; null for the main graph.
GRAPNEL_PUBLIC const Function* FunctionOf(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_MODULE_H_
