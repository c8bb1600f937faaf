// Functions that each write a part of the JSON documents of graph_page.h.
#ifndef GRAPNEL_LIB_RENDER_PAGE_WRITERS_H_
#define GRAPNEL_LIB_RENDER_PAGE_WRITERS_H_

#include <functional>
#include <optional>

#include "lib/render/graph_page.h"
#include "lib/render/scope_view.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Returns the index of a function's body (GraphPage); nullopt if the library has no such function.
using BodyFinder = std::function<std::optional<size_t>(llvm::StringRef function)>;

struct PageBody {
  const BodyScopes& scopes;
  const BodyFinder& find;
  const PageMarks* marks;      // may be null
  const SignatureBody* entry;  // names the arguments' variables; may be null
  const XlaClusters* clusters;
  const LineTable* lines = nullptr;  // source lines; null: write none
  const PageLines* page_lines = nullptr;
};

void WriteScope(const PageBody& body, ScopeId scope, llvm::json::OStream& json);
// Writes "count", and "readers" of one output (or kControlPort), beginning at entry `from`, at most
// `limit`, as fields of the open object; "next" is the `from` of the next page.
void WriteReaders(const Node& node, int port, size_t from, size_t limit, llvm::json::OStream& json);
void WriteNode(const PageBody& body, const Node& node, llvm::json::OStream& json);

// Writes "problem_count", and "problems", beginning at entry `from`, at most `limit`, like
// WriteReaders; "next_problem" is the `from` of the next page.
void WriteProblems(llvm::ArrayRef<Problem> problems, size_t from, size_t limit,
                   llvm::json::OStream& json);

// Writes the array of functions that a node calls: {"role": "then_branch", "name": "...", "body":
// 3}. Writes nothing for a node that calls none.
void WriteCalls(const Node& node, const BodyFinder& find, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_WRITERS_H_
