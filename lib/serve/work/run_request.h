// The page's requests to run a graph, and the form with which the user makes them.
#ifndef GRAPNEL_LIB_SERVE_WORK_RUN_REQUEST_H_
#define GRAPNEL_LIB_SERVE_WORK_RUN_REQUEST_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/job/run.h"
#include "lib/support/file.h"
#include "lib/watch/tap.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// How many lines are kept that Print nodes of a run, or of a debugged run, print.
constexpr size_t kMostPrintedLines = 1000;

// Returns the document from which the page makes its form for a run: signatures, inputs
// (placeholders, arguments, the case's feeds) with dtype and shape, outputs, and the modes of taps
// (what to record of watched tensors).
std::string RunFormJson(const OpenedGraph& opened);

struct PageRunRequest {
  struct Feed {
    std::string tensor;
    std::string kind;         // "text", "zeros", "ones", "normal", "file" or "case"
    std::string text, shape;  // as the user typed them
    uint64_t seed = 0;
    uint64_t file = 0;  // the number of an upload
  };
  std::vector<Feed> feeds;
  std::vector<std::string> fetches;
  TapFilter taps;               // resolved by RunTable::Start
  std::optional<TapMode> mode;  // nullopt: watch no tensors
  std::string devices;          // to spread the run over, "cpu:2,gpu:2"; empty: run on one CPU
};

// Parses {"feeds": [{"tensor", "kind", "text", "shape", "seed", "file"}], "fetches": [...], "taps":
// "a*,b*", "mode": "FULL_HEALTH", "devices": "cpu:2"}, the last three of which may be missing or
// empty. Errors say what is wrong with the request.
Expected<PageRunRequest> ParsePageRunRequest(llvm::StringRef json);

// Returns an uploaded file by its number. Errors: no such upload.
using UploadFinder = std::function<Expected<std::shared_ptr<const FileBytes>>(uint64_t upload)>;

// Makes the request for lib/job, including the values of feeds. Errors name the tensor.
Expected<RunRequest> MakeRunRequest(const OpenedGraph& opened, const PageRunRequest& asked,
                                    const UploadFinder& find);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RUN_REQUEST_H_
