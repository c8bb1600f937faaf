// Requests of the page to run a graph, and the form for them.
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

// The form: signatures, inputs (placeholders, arguments, the case's feeds) with dtype and shape,
// outputs, modes of taps.
std::string RunFormJson(const OpenedGraph& opened);

struct PageRunRequest {
  struct Feed {
    std::string tensor;
    std::string kind;         // "text", "zeros", "ones", "normal", "file" or "case"
    std::string text, shape;  // as typed
    uint64_t seed = 0;
    uint64_t file = 0;  // of an upload
  };
  std::vector<Feed> feeds;
  std::vector<std::string> fetches;
  std::vector<Glob> taps;
  std::optional<TapMode> mode;  // nullopt: no taps
  std::string devices;          // CPUs to spread the run over; empty: none
};

// Parses {"feeds": [{"tensor", "kind", "text", "shape", "seed", "file"}], "fetches": [...], "taps":
// "a*,b*", "mode": "FULL_HEALTH", "devices": "cpu:2"}, the last three of which may be missing or
// empty. Errors say what is wrong with it.
Expected<PageRunRequest> ParsePageRunRequest(llvm::StringRef json);

// Finds uploads by number. Errors: no such upload.
using UploadFinder = std::function<Expected<std::shared_ptr<const FileBytes>>(uint64_t upload)>;

// Makes the job's request, including the values of feeds. Errors name the tensor.
Expected<RunRequest> MakeRunRequest(const OpenedGraph& opened, const PageRunRequest& asked,
                                    const UploadFinder& find);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RUN_REQUEST_H_
