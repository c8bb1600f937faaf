// Writes the page as a single file that needs no server, to open from disk or from a mail.
#ifndef GRAPNEL_LIB_SERVE_ROUTES_HTML_FILE_H_
#define GRAPNEL_LIB_SERVE_ROUTES_HTML_FILE_H_

#include "lib/serve/pages/page_set.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the page with the documents of `pages` that its tabs can read without a server: every
// scope and node, some 15 bytes per node; for a comparison, those of both graphs and of their
// union; for a debug folder, only some of the cards (lib/serve/tabs/debugger.cpp). Leaves out
// stages that changed nothing. The file loads nothing: its content policy allows only its own
// script and style (by hash). Uses up to `threads` threads, 0: one per core; the bytes are the same
// for any number. Errors: a page cannot be drawn.
Error WriteHtmlFile(const PageSet& pages, llvm::StringRef title, int threads,
                    llvm::raw_ostream& os);
// As WriteHtmlFile, to the file `path`, which appears when it is complete; `-` is standard output.
Error SaveHtmlFile(const PageSet& pages, llvm::StringRef title, int threads, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTES_HTML_FILE_H_
