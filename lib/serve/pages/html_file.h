// The page as one file that needs no server: opens from a disk or a mail.
#ifndef GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_
#define GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_

#include "lib/serve/pages/page_set.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes the page with every scope, node and index of `pages` in it, but of stages that changed
// nothing. It fetches nothing: its content policy allows its own script and style (by hash) and
// nothing else. Some 700 bytes a node; of a comparison both graphs are in it, and the two as one.
Error WriteHtmlFile(PageSet& pages, llvm::StringRef title, llvm::raw_ostream& os);

// The page's modules as one script: each in a function of its own, in the order in which they need
// one another. What it reads of a module are lines `import {a, b} from "./x.js";` and `export`
// before a declaration. For tests too.
Expected<std::string> BundleScript(llvm::StringRef entry);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_HTML_FILE_H_
