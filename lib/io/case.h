// Case folders: a graph with the values that go in and the values that must come out.
#ifndef GRAPNEL_LIB_IO_CASE_H_
#define GRAPNEL_LIB_IO_CASE_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// case.json: {"feeds": {tensor: file.npy}, "fetches": {tensor: file.npy}, "rtol": number,
// "atol": one number, or {tensor: number}}, and for graphs with state "variables": {node:
// file.npy}, "init": file, "steps": [{"feeds": ..., "fetches": ...}, ...]. Of a case that was
// captured from a signature, "signature" is its name; its feeds and fetches may then be called by
// the signature's keys, and "tensors" says what of the case's own graph these are: {key: tensor}.
// Other keys are ignored. The order is the file's.
struct GRAPNEL_PUBLIC Case {
  struct Feed {
    std::string tensor;  // "x:0"
    std::string file;    // path of the .npy file, the folder included
  };
  struct Fetch {
    std::string tensor;
    std::string file;
    double atol = 0;  // |got - expected| <= max(atol + rtol * |expected|, 2 ulp)
  };
  std::string folder;
  std::string graph;  // path: graph.pb, else graph.pbtxt, graph.pb.gz, graph.pbtxt.gz
  std::vector<Feed> feeds;
  std::vector<Fetch> fetches;
  double rtol = 0;
  // What a session has before the first run: variables, `tensor` their node, and what the node
  // `kInitNode` of this graph makes (tables, iterators). Empty: nothing.
  std::vector<Feed> variables;
  std::string init_graph;
  // Runs that follow the first, in order, on what it left: files of the same feeds and fetches.
  struct Step {
    std::vector<std::string> feeds, fetches;
  };
  std::vector<Step> steps;
};

inline constexpr llvm::StringLiteral kInitNode = "init";

// Whether `folder` has a case.json that speaks of feeds and fetches (other tools keep other things
// under that name).
GRAPNEL_PUBLIC bool IsCaseFolder(llvm::StringRef folder);

// Reads case.json; values and graph are not opened. Errors name the file, the line, and what was
// expected.
GRAPNEL_PUBLIC Expected<Case> LoadCase(llvm::StringRef folder);

// What a case that was captured from a signature is called there.
struct GRAPNEL_PUBLIC CaseSignature {
  std::string name;                         // empty: the case is of no signature
  std::vector<std::string> feeds, fetches;  // names as in case.json, in the order of Case
};
// Errors: LoadCase's.
GRAPNEL_PUBLIC Expected<CaseSignature> SignatureOfCase(llvm::StringRef folder);

// Writes `folder`/case.json with feeds, fetches and variables. Files are named by the last part of
// their paths; the graph and values are the caller's.
GRAPNEL_PUBLIC Error SaveCase(llvm::StringRef folder, const Case& values);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_CASE_H_
