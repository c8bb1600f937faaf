#include "tools/document.h"

namespace grapnel {

void WriteDocument(llvm::raw_ostream& os,
                   llvm::function_ref<void(llvm::json::OStream& json)> fields,
                   DocumentStyle style) {
  llvm::json::OStream json(os, style.on_one_line ? 0 : 1);
  json.object([&] {
    json.attribute("format", style.format);
    fields(json);
  });
  os << "\n";
}

}  // namespace grapnel
