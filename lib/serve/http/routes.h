// What the server answers under /api/: a table of methods, paths, limits and handlers.
#ifndef GRAPNEL_LIB_SERVE_HTTP_ROUTES_H_
#define GRAPNEL_LIB_SERVE_HTTP_ROUTES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/serve/pages/page_set.h"
#include "lib/serve/work/debug_table.h"
#include "lib/serve/work/run_table.h"
#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

struct Tab;  // lib/serve/pages/tab.h

// What a handler gives: JSON, or a file to keep.
struct Document {
  Document(std::string json) : text(std::move(json)) {}  // NOLINT(google-explicit-constructor)
  Document(std::string bytes, std::string name) : text(std::move(bytes)), file(std::move(name)) {}
  std::string text;
  std::string file;  // what it is called; "": it is JSON
};

// The graphs as they are now.
struct Served {
  std::shared_ptr<PageSet> pages;
  unsigned version = 0;  // counts how often they were read again
  std::string problem;   // what has kept them from it since
};

// One request, for as long as it is answered.
struct RouteCall {
  const Served& served;
  RunTable& runs;
  DebugTable& debugs;
  std::shared_ptr<Page> page;  // of {entry}; null where the path has none
  std::vector<std::pair<llvm::StringRef, uint32_t>> parts;
  llvm::StringRef body;
  // Whether nobody waits for the answer any more: work may end. Costs nothing.
  llvm::function_ref<bool()> is_gone;

  PageSet& pages() const { return *served.pages; }
  // A part of the path, by its name in the pattern.
  uint32_t operator[](llvm::StringRef name) const;
};

// {"entry": NUMBER}: the page that was made, or the first of them.
std::string EntryJson(size_t number);

enum class Method { kGet, kPost };

// Limits of bodies.
constexpr size_t kNoBody = 0;
constexpr size_t kLargestRequest = size_t{1} << 20;  // JSON: names and options
constexpr size_t kLargestTyped = size_t{1} << 24;    // JSON with values that were typed
constexpr size_t kLargestFile = size_t{1} << 28;

// Which threads answer. A request waits for none of another class's.
enum class WorkerClass {
  kAtOnce,    // what is there, and needs no more than to be written
  kDocument,  // what is computed to be shown: seconds at most
  kStart,     // what begins work, or takes a file
  kWork       // what may take minutes: few at a time, and over when its client hangs up
};

struct Route {
  Method method;
  // "{entry}/scope/{body}": {name} is a number from 0 on, {name=a|b} one of these words, of which
  // RouteCall tells the index. {entry} is a page that is there.
  std::string path;
  size_t limit;  // bytes of a body
  // Safe to call from several threads. Errors are for the reader of the page: 404 of a GET, 400 of
  // a POST.
  std::function<Expected<Document>(const RouteCall&)> handle;
  WorkerClass worker_class = WorkerClass::kDocument;
};

// Finds the route of a path; costs a look at each.
class RouteTable {
 public:
  struct Row {
    Route route;
    const Tab* tab;  // whose pages alone have it; null: the page itself
  };
  struct Found {
    const Row* row;
    std::vector<std::pair<llvm::StringRef, uint32_t>> parts;
  };
  struct Refusal {
    int status;         // 404 or 405
    std::string why;    // for a reader: names that are near, the patterns of that name
    std::string allow;  // of 405: the methods that there are
  };

  // Those of the page itself, then those of each registered tab.
  static const RouteTable& All();
  explicit RouteTable(std::vector<Row> rows) : rows_(std::move(rows)) {}

  llvm::ArrayRef<Row> rows() const { return rows_; }
  // `path`: what follows "/api/".
  std::optional<Found> Find(Method method, llvm::StringRef path) const;
  // Why Find has nothing.
  Refusal WhyNot(Method method, llvm::StringRef path) const;

 private:
  std::vector<Row> rows_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_ROUTES_H_
