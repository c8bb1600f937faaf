// The facts about one body that the writers of the page's documents share.
#ifndef GRAPNEL_LIB_RENDER_PAGE_BODY_H_
#define GRAPNEL_LIB_RENDER_PAGE_BODY_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "lib/render/graph_page.h"
#include "lib/render/loop_variables.h"
#include "lib/render/scope_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Returns the index of a function's body (GraphPage); nullopt if the library has no such function.
using BodyFinder = std::function<std::optional<size_t>(llvm::StringRef function)>;

// The stacks of a page's nodes as texts (PageTextKind::kStack). Thread-safe. Makes each text once,
// because it reads source files.
class StackTexts {
 public:
  // `lines` and `page_lines` must outlive this object.
  StackTexts(const LineTable& lines, const PageLines& page_lines)
      : lines_(lines), page_lines_(page_lines) {}
  // Returns the text for a node of a function, or of the main graph if `function` is empty; "" for
  // a node without a stack.
  std::string Of(llvm::StringRef function, const Node& node);

 private:
  std::string Make(LineTable::TraceId trace) const;
  void WriteFrame(const SourceFrame& frame, llvm::json::OStream& json) const;

  const LineTable& lines_;
  const PageLines& page_lines_;
  std::mutex mutex_;
  std::map<LineTable::TraceId, std::string> texts_;
};

// The values of the variables as texts for panels. Thread-safe. Makes each text once, because that
// reads the value: the variable's node and all nodes that read it have this text.
class ValueTexts {
 public:
  explicit ValueTexts(PageValues values) : values_(std::move(values)) {}

  struct Text {
    std::string value;       // its first elements
    std::string statistics;  // JSON (WriteStatisticsJson); empty: none
    uint64_t hash = 0;       // of both
  };
  // Returns the variable whose value the panel of a node shows; kNoNode if there is none.
  NodeId VariableOf(const Node& node) const;
  // Returns the text of a variable's value; null if the value is not known.
  const Text* Of(NodeId variable);

 private:
  struct Made {
    std::once_flag once;
    std::optional<Text> text;
  };

  const PageValues values_;
  std::mutex mutex_;
  std::map<NodeId, Made> made_;
};

struct PageBody {
  const BodyScopes& scopes;
  const BodyFinder& find;
  const PageMarks* marks;  // may be null
  llvm::ArrayRef<int8_t>
      kinds;                   // by node id: the kind of the node's mark, -1 without one; or empty
  const SignatureBody* entry;  // names the arguments' variables; may be null
  const XlaClusters& clusters;
  StackTexts& stacks;
  const BoxLayers& layers;
  ValueTexts* values;  // may be null
  LoopVariables variables;
};

// Writes "problem_count", and "problems", beginning at entry `from`, at most `limit`, as fields of
// the open object; "next_problem" is the `from` of the next page.
void WriteProblems(llvm::ArrayRef<Problem> problems, size_t from, size_t limit,
                   llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_BODY_H_
