// From a picture to a file: whoever places boxes and routes edges stands behind this.
#ifndef GRAPNEL_LIB_RENDER_LAYOUT_H_
#define GRAPNEL_LIB_RENDER_LAYOUT_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/render/picture.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

enum class PictureFormat { kDot, kSvg, kPng };

// "dot", "svg", "png", with or without a dot before it; nullopt for any other.
std::optional<PictureFormat> ParsePictureFormat(llvm::StringRef name);

class Layout {
 public:
  virtual ~Layout() = default;
  // The bytes of a file in that format. The same picture gives the same bytes (of SVG and PNG: with
  // the same fonts).
  virtual Expected<std::string> Draw(const Picture& picture, PictureFormat format) = 0;
};

// Graphviz. DOT text needs only libcgraph, which is linked. SVG and PNG open libgvc.so.6 and its
// plugins when first drawn (some 50 ms); an error then names the Debian package that is missing.
// `dot` takes well under a second for 60 boxes, and grows with the square of that and more. One
// thread at a time: Graphviz has global state.
std::unique_ptr<Layout> MakeGraphvizLayout();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_LAYOUT_H_
