// What the first picture is drawn of, sent along with the page: a browser then asks for nothing.
#ifndef GRAPNEL_LIB_SERVE_HTTP_SENT_DOCUMENTS_H_
#define GRAPNEL_LIB_SERVE_HTTP_SENT_DOCUMENTS_H_

#include <optional>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// What a GET of a path below /api/ is answered; nullopt: it is refused.
using AnswerOf = llvm::function_ref<std::optional<std::string>(const std::string& path)>;

// The element of a document, for source.js to read. Empty when there is none, or a long one: the
// page asks for it.
std::string SentDocument(const std::string& path, AnswerOf answer);

// Elements of the first graph's document, of all scopes that are open in it at first as far as they
// are not long, and of the values that its boxes are colored by. Costs what these answers cost.
std::string SentPicture(AnswerOf answer);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_SENT_DOCUMENTS_H_
