// A case that was captured from a signature, on any model that has this signature.
#ifndef GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_
#define GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_

#include <string>
#include <vector>

#include "lib/io/case.h"
#include "lib/job/run.h"

namespace grapnel {

struct CaseOfModel {
  // The case. Where `signature` is not empty, feeds and fetches are the model's tensors in the
  // place of those of the case's own graph.
  Case values;
  std::vector<std::string> feed_names, fetch_names;  // for people: keys, where the case has some
  // The tensors of the feeds and fetches in the case's own graph.
  std::vector<std::string> own_feeds, own_fetches;
  std::string signature;  // of the model; empty: the names were taken as they are
};

// Finds by their keys what a case's feeds and fetches are in `model`. A case that is of no
// signature stays as it is, and so does one on a model without signatures.
//
// Cases that were captured before case.json had keys are of a frozen graph: its inputs are named
// after the keys, and its results are in the order of the sorted keys. What a function captured is
// a feed of such a graph too; the model has its own, so it is left out. Errors: the model has no
// such signature; a feed or fetch is none of the signature's, and what the signature has.
Expected<CaseOfModel> CaseOnModel(Case values, const OpenedGraph& model);

// The same of the model that is the case: its tensors, with the keys as names.
Expected<CaseOfModel> CaseOnItself(Case values);

// Gives a run of `model` the case's feeds, but those that it has already, the case's fetches,
// unless it has some, and the signature. Errors: a file has another dtype or shape than the model's
// tensor, with the name of the feed; the outputs need an input that the case lacks.
Error FillFromCase(const CaseOfModel& on_model, const OpenedGraph& model, RunRequest* run);

// The tensors that two graphs have for the same keys, and the keys.
struct SameEnds {
  struct End {
    std::string a, b, key;
  };
  bool by_keys = false;  // both have the signature, though perhaps no key in common
  std::vector<End> inputs, outputs;
};
// Pairs the inputs and outputs of two graphs by the keys of `signature`; an empty name means the
// default signature of `a`. A case that was captured from a signature has its keys. `by_keys` is
// false if a graph has no signatures, or `b` lacks that of `a`. Errors: CaseOnModel's; `a` has no
// such signature.
Expected<SameEnds> FindSameEnds(const OpenedGraph& a, const OpenedGraph& b,
                                llvm::StringRef signature);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_
