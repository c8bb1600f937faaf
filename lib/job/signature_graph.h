// The network that a signature runs, as a graph of its own.
#ifndef GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_
#define GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_

#include <string>
#include <vector>

#include "lib/job/shape_overrides.h"

namespace grapnel {

struct SignatureGraph {
  std::string name;      // of the signature
  std::string function;  // whose body it was; empty: the main graph
  // Tensors that the signature takes and hands back, in its order.
  std::vector<std::string> inputs, outputs;
};

// Makes the body that signature `name` runs (BodyOf; without a name the default one) the main graph
// of what is worked on. Arguments become Placeholders, called by the signature's keys where those
// are free, of the shapes that the calls hand in after `given` filled them; variables, tables and
// constants of the main graph stand where the body reads them. The library keeps what is called.
// Errors: ChooseSignature's, FillSizes'; a file without signatures; an argument of unknown dtype.
// Cost: linear in the module.
Expected<SignatureGraph> TakeSignature(llvm::StringRef name, const ShapeOverrides& given,
                                       OpenedGraph* opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SIGNATURE_GRAPH_H_
