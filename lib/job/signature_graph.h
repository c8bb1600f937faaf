// Extracts the graph that a signature runs.
#ifndef GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_
#define GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_

#include <string>

#include "lib/job/shape_overrides.h"

namespace grapnel {

struct SignatureGraph {
  std::string function;  // the function whose body became the graph; empty: none
  Signature signature;   // with the tensors of the graph; all keys are there that the body has
};

// Makes the body that signature `name` runs (BodyOf; "" is the default signature) the graph of
// `opened`, in a file of its own that has this signature only. Arguments become Placeholders, named
// by the signature's keys if these are free, with the shapes that the calls pass after applying
// `given`; variables, tables and constants of the main graph replace the arguments that the body
// reads them through. The library keeps the called functions. Errors: those of ChooseOneSignature
// and FillSizes; a file without signatures; an argument of unknown dtype. Cost: linear in the
// module.
Expected<SignatureGraph> TakeSignature(llvm::StringRef name, const ShapeOverrides& given,
                                       OpenedGraph* opened);

// Makes the network of a model the graph of `opened`: the graph of its default signature
// (TakeSignature). A graph without signatures stays as it is, with the sizes `given`. Returns a
// line about what was taken and what else the file has: "signature 'serving_default'; 'serve' runs
// the same network"; "" for a graph without signatures. Errors: those of TakeSignature.
Expected<std::string> TakeNetwork(const ShapeOverrides& given, OpenedGraph* opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_
