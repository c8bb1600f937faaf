// The functions of a SavedModel's objects, as tf.saved_model.load returns them: `encode` for
// loaded.encode, `net.encode` for loaded.net.encode.
#ifndef GRAPNEL_LIB_IO_OBJECT_FUNCTIONS_H_
#define GRAPNEL_LIB_IO_OBJECT_FUNCTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/io/python_structure.h"

namespace grapnel {

// One trace of such a function: a function of the library, for arguments of certain types and
// certain Python values.
struct ObjectTrace {
  struct Parameter {
    std::string name, text;  // "x", "float[?,3]"; "training", "True"
    bool is_value = false;   // `text` is a Python value, not a type
  };

  std::string function;  // the name in the library
  std::vector<Parameter> parameters;
  std::string returns;  // "{code: float[1]}"
  // The tensors that the library's function takes, without those that it captures, and returns.
  // SignatureTensor::tensor is the name of the argument or result in the library.
  std::vector<SignatureTensor> inputs, outputs;
  std::vector<FlatStructure::Value> values;  // the Python values among the arguments
  // The captured objects, indices in SavedObjectGraph.nodes, in the order of the last arguments.
  std::vector<int> captures;

  // Returns "float[?,3], training=True".
  std::string Arguments() const;
  // Returns "x: float[?,3], training=True".
  std::string Parameters() const;
};

struct ObjectFunction {
  std::string path;                 // "net.encode"; "layers[0].encode" in a list
  std::vector<ObjectTrace> traces;  // none: the program never called the function
  // Returns "net.encode(float[?,3])", a name that selects the trace.
  std::string NameOf(const ObjectTrace& trace) const {
    return path + "(" + trace.Arguments() + ")";
  }
};

// Returns the functions of the objects, each under its shortest path, those of outer objects first;
// without signatures, the functions that TensorFlow's loader calls, and private ones without a
// trace. Empty if the file has no objects. Linear in the objects.
std::vector<ObjectFunction> ObjectFunctionsOf(const GraphInFile& graph);

// A trace that was asked for by name.
struct ChosenTrace {
  std::string path;  // of the function; that of the library's function if it was asked for
  ObjectTrace trace;
};
// Finds the trace that `name` means: "net.encode" if it has one trace; "net.encode(float[?,3])",
// with the arguments as ObjectTrace::Arguments() or Parameters() returns them, or only some of
// them. Items of lists and dicts are written as in Python, or like attributes ("layers.0.encode").
// Nullopt if the objects have no such function. Errors: it was never traced, or several traces
// match (the error lists them).
Expected<std::optional<ChosenTrace>> FindObjectFunction(const GraphInFile& graph,
                                                        llvm::StringRef name);
// Finds the trace that is the library's function `function`. Nullopt if the objects do not have it.
std::optional<ChosenTrace> FindTraceOf(const GraphInFile& graph, llvm::StringRef function);

// Returns success if a model has signatures or no functions of objects; else the error that it has
// no signature, which lists the functions.
Error CheckHasSignature(const Model& model, const GraphInFile& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OBJECT_FUNCTIONS_H_
