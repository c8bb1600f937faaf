// The API under /api/: a table of methods, paths, limits and handlers.
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

// A handler's result: JSON, or a file to download.
struct Document {
  Document(std::string json) : text(std::move(json)) {}  // NOLINT(google-explicit-constructor)
  Document(std::string bytes, std::string name) : text(std::move(bytes)), file(std::move(name)) {}
  std::string text;
  std::string file;  // the file's name; "": JSON
};

// The graphs that are served now.
struct Served {
  std::shared_ptr<PageSet> pages;
  unsigned version = 0;  // counts reloads
  std::string problem;   // why the last reload failed; "": it did not
};

// One request, while it is being answered.
struct RouteCall {
  const Served& served;
  RunTable& runs;
  DebugTable& debugs;
  std::shared_ptr<Page> page;  // of {entry}; null where the path has none
  std::vector<std::pair<llvm::StringRef, uint32_t>> parts;
  llvm::StringRef body;
  // True if the client is gone: work may end. Costs nothing.
  llvm::function_ref<bool()> is_gone;

  PageSet& pages() const { return *served.pages; }
  // The value of a path parameter, by its name in the pattern.
  uint32_t operator[](llvm::StringRef name) const;
};

// {"entry": NUMBER}: the new page, or the first of several.
std::string EntryJson(size_t number);

enum class Method { kGet, kPost };

// Limits of bodies.
constexpr size_t kNoBody = 0;
constexpr size_t kLargestRequest = size_t{1} << 20;  // JSON: names and options
constexpr size_t kLargestTyped = size_t{1} << 24;    // JSON with values that were typed
constexpr size_t kLargestFile = size_t{1} << 28;

// The threads that answer. A request never waits for one of another class.
enum class WorkerClass {
  kAtOnce,    // results that exist and only need to be written
  kDocument,  // computed for display: seconds at most
  kStart,     // starts work, or accepts a file
  kWork       // may take minutes: few at a time, stopped when the client hangs up
};

struct Route {
  Method method;
  // "{entry}/scope/{body}": {name} is a number from 0 on, {name=a|b} one of these words, of which
  // RouteCall has the index. {entry} is an existing page.
  std::string path;
  size_t limit;  // bytes of a body
  // Must be thread-safe. Errors are shown to the user: status 404 for a GET, 400 for a POST.
  std::function<Expected<Document>(const RouteCall&)> handle;
  WorkerClass worker_class = WorkerClass::kDocument;
};

// Finds the route of a path; tries each in turn.
class RouteTable {
 public:
  struct Row {
    Route route;
    const Tab* tab;  // only its pages have the route; null: all pages
  };
  struct Found {
    const Row* row;
    std::vector<std::pair<llvm::StringRef, uint32_t>> parts;
  };
  struct Refusal {
    int status;         // 404 or 405
    std::string why;    // for the user: similar names, the patterns of that name
    std::string allow;  // for 405: the methods that exist
  };

  // The routes of the page itself, then those of each registered tab.
  static const RouteTable& All();
  explicit RouteTable(std::vector<Row> rows) : rows_(std::move(rows)) {}

  llvm::ArrayRef<Row> rows() const { return rows_; }
  // `path`: the part after "/api/".
  std::optional<Found> Find(Method method, llvm::StringRef path) const;
  // The reason why Find returns nothing.
  Refusal WhyNot(Method method, llvm::StringRef path) const;

 private:
  std::vector<Row> rows_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_HTTP_ROUTES_H_
