// The documents of graph_page.h, one function each.
#ifndef GRAPNEL_LIB_RENDER_PAGE_WRITERS_H_
#define GRAPNEL_LIB_RENDER_PAGE_WRITERS_H_

#include <functional>
#include <optional>

#include "lib/render/graph_page.h"
#include "lib/render/scope_view.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// The number of the body that a function has; nullopt: the library has no such function.
using BodyFinder = std::function<std::optional<size_t>(llvm::StringRef function)>;

struct PageBody {
  const BodyScopes& scopes;
  const BodyFinder& find;
  const PageMarks* marks;      // may be null
  const SignatureBody* entry;  // says what arguments stand for; may be null
  const XlaClusters* clusters;
  const LineTable* lines = nullptr;  // of the program; null: nothing is said of them
  const PageLines* page_lines = nullptr;
};

void WriteScope(const PageBody& body, ScopeId scope, llvm::json::OStream& json);
// "count", and "readers" of one output (or kControlPort) from the `from`-th on, at most `limit`,
// as fields of an object that is open; "next" is where to go on.
void WriteReaders(const Node& node, int port, size_t from, size_t limit, llvm::json::OStream& json);
void WriteNode(const PageBody& body, const Node& node, llvm::json::OStream& json);

// "problem_count", and "problems" from the `from`-th on, at most `limit`, as WriteReaders does;
// "next_problem" is where to go on.
void WriteProblems(llvm::ArrayRef<Problem> problems, size_t from, size_t limit,
                   llvm::json::OStream& json);

// What a function is called for, and its body: {"role": "then_branch", "name": "...", "body": 3}.
// Without the array when there is none.
void WriteCalls(const Node& node, const BodyFinder& find, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_WRITERS_H_
