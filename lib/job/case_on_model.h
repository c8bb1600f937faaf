// A case that was captured from a signature, on any model that has this signature.
#ifndef GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_
#define GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_

#include <string>

#include "lib/io/case.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// The case with the keys of the signature in the place of its own graph's tensors, for a run of
// `model` with that signature, whose name becomes `*signature`. A case that is of no signature
// stays as it is, and so does one whose signature the model lacks where it has no signatures.
//
// Cases that were captured before case.json had keys are of a frozen graph: its inputs are named
// after the keys, and its results are in the order of the sorted keys. Errors: the model has no
// such signature; a feed or fetch is none of the signature's, and what the signature has.
Expected<Case> CaseOnModel(Case values, const OpenedGraph& model, std::string* signature);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_
