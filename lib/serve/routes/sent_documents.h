// Embeds the documents for the first picture into the page, so that the browser needs no requests.
#ifndef GRAPNEL_LIB_SERVE_ROUTES_SENT_DOCUMENTS_H_
#define GRAPNEL_LIB_SERVE_ROUTES_SENT_DOCUMENTS_H_

#include <optional>
#include <string>

#include "lib/serve/routes/routes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Returns the answer to a GET of a path below /api/; nullopt if it would be refused.
using AnswerOf = llvm::function_ref<std::optional<Document>(const std::string& path)>;

// Returns an HTML element with a document, which source.js reads. Empty if there is no document, or
// if it is long: the page then requests it.
std::string SentDocument(const std::string& path, AnswerOf answer);

// Returns HTML elements with the first graph's document, with its initially open scopes, and with
// the values that color its boxes, but without documents that would make them too long. Takes as
// long as answering requests for them.
std::string SentPicture(AnswerOf answer);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTES_SENT_DOCUMENTS_H_
