// Writes the documents of --json. Each has a schema in docs/schemas.
#ifndef GRAPNEL_TOOLS_DOCUMENT_H_
#define GRAPNEL_TOOLS_DOCUMENT_H_

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct DocumentStyle {
  // The format number. Increased, here and in the schema, when a field is removed or changes its
  // meaning (docs/reference/json.md).
  int format = 1;
  bool on_one_line = false;
};

// Writes a JSON object that begins with "format", and ends the line. `fields` adds the other
// attributes. tests/check_documents.py checks that all commands write documents this way.
void WriteDocument(llvm::raw_ostream& os,
                   llvm::function_ref<void(llvm::json::OStream& json)> fields,
                   DocumentStyle style = {});

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_DOCUMENT_H_
