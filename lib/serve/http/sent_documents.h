// Embeds the documents for the first picture into the page, so that the browser needs no requests.
#ifndef GRAPNEL_LIB_SERVE_HTTP_SENT_DOCUMENTS_H_
#define GRAPNEL_LIB_SERVE_HTTP_SENT_DOCUMENTS_H_

#include <optional>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the answer to a GET of a path below /api/; nullopt: refused.
using AnswerOf = llvm::function_ref<std::optional<std::string>(const std::string& path)>;

// Returns the element of a document, for source.js to read. Empty if there is no document, or a
// long one: the page then requests it.
std::string SentDocument(const std::string& path, AnswerOf answer);

// Returns elements of the first graph's document, of its initially open scopes unless they are
// long, and of the values that color its boxes. Costs as much as those answers.
std::string SentPicture(AnswerOf answer);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_SENT_DOCUMENTS_H_
