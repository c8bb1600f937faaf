// What a page opens with, where a command says so.
#ifndef GRAPNEL_LIB_RENDER_PAGE_ADDRESS_H_
#define GRAPNEL_LIB_RENDER_PAGE_ADDRESS_H_

#include <string>

#include "lib/ir/module.h"
#include "lib/render/picture.h"
#include "lib/support/error.h"

namespace grapnel {

// The part of an address after '#' that has the page show what a picture with these options would:
// around and hops, path, hide (`hide`: as the command line has it), color. Empty: all as by itself.
// Errors: a node that is not there, no path.
Expected<std::string> PageAddress(const Module& module, const ViewOptions& options,
                                  llvm::StringRef hide);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_ADDRESS_H_
