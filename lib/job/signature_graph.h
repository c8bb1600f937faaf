// Extracts the graph that a signature runs.
#ifndef GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_
#define GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_

#include <string>
#include <vector>

#include "lib/job/shape_overrides.h"

namespace grapnel {

struct SignatureGraph {
  std::string name;      // the signature's name
  std::string function;  // the function whose body became the graph; empty: none
  // Inputs and outputs, in the signature's order, without inputs that the graph does not read and
  // outputs that only forward an argument.
  std::vector<std::string> inputs, outputs;
};

// Makes the body that signature `name` runs (BodyOf; "" is the default signature) the main graph of
// `opened`. Arguments become Placeholders, named by the signature's keys if these are free, with
// the shapes that the calls pass after applying `given`; variables, tables and constants of the
// main graph replace the arguments that the body reads them through. The library keeps the called
// functions. Errors: those of ChooseSignature and FillSizes; a file without signatures; an argument
// of unknown dtype. Cost: linear in the module.
Expected<SignatureGraph> TakeSignature(llvm::StringRef name, const ShapeOverrides& given,
                                       OpenedGraph* opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_
