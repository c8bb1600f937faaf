// The page as one file that needs no server: opens from a disk or a mail.
#ifndef GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_
#define GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_

#include "lib/serve/pages/page_set.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the page with what its tabs read of `pages`, but of stages that changed nothing: every
// scope, node and index, of a comparison both graphs and the two as one, some 700 bytes a node. It
// fetches nothing: its content policy allows its own script and style (by hash) and nothing else.
// Errors: a page cannot be drawn.
Error WriteHtmlFile(const PageSet& pages, llvm::StringRef title, llvm::raw_ostream& os);
// The same into the file `path`, which appears when it is whole; `-` is standard output.
Error SaveHtmlFile(const PageSet& pages, llvm::StringRef title, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_
