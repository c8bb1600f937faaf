// Builds the page's address for a command.
#ifndef GRAPNEL_LIB_RENDER_PAGE_ADDRESS_H_
#define GRAPNEL_LIB_RENDER_PAGE_ADDRESS_H_

#include <string>

#include "lib/ir/module.h"
#include "lib/render/picture.h"
#include "lib/support/error.h"

namespace grapnel {

// Returns the part of the page's address after '#' for the options of a picture that the page
// supports: around and hops, path, hide (`hide` is the text of the command-line flag), color. Empty
// for the page's defaults. Errors: a node that does not exist; no path, or ends of it in different
// bodies.
Expected<std::string> PageAddress(const Module& module, const ViewOptions& options,
                                  llvm::StringRef hide);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_ADDRESS_H_
