// Writes the page as a single file without a server, to open from disk or from a mail.
#ifndef GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_
#define GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_

#include "lib/serve/pages/page_set.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the page with everything that its tabs read of `pages`, without stages that changed
// nothing: every scope, node and index, for a comparison both graphs and their union, some 700
// bytes a node. The file loads nothing: its content policy allows only its own script and style (by
// hash). Errors: a page cannot be drawn.
Error WriteHtmlFile(const PageSet& pages, llvm::StringRef title, llvm::raw_ostream& os);
// Writes the same into the file `path`, which appears when it is complete; `-` is standard output.
Error SaveHtmlFile(const PageSet& pages, llvm::StringRef title, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_
