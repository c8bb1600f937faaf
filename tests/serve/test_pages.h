// The pages that the server's tests serve.
#ifndef GRAPNEL_TESTS_SERVE_TEST_PAGES_H_
#define GRAPNEL_TESTS_SERVE_TEST_PAGES_H_

#include <memory>
#include <utility>

#include "lib/serve/pages/page_set.h"
#include "lib/serve/routes/router.h"

namespace grapnel {

// Serves testdata/harmonic_mean as 0, collatz as 1, an endless loop as 2, and a graph for any shape
// as 3. Its token is "secret".
inline std::unique_ptr<Router> MakeTestRouter() {
  auto pages = std::make_shared<PageSet>();
  for (const char* path :
       {"testdata/harmonic_mean", "testdata/collatz", "tests/serve/inputs/long_loop.gtxt",
        "tests/serve/inputs/any_shape.gtxt"})
    llvm::cantFail(pages->AddPath(path));
  return std::make_unique<Router>(std::move(pages), "secret");
}

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_SERVE_TEST_PAGES_H_
