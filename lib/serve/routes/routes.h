// The API under /api/: a table of methods, paths, limits and handlers.
#ifndef GRAPNEL_LIB_SERVE_ROUTES_ROUTES_H_
#define GRAPNEL_LIB_SERVE_ROUTES_ROUTES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/serve/pages/page_set.h"
#include "lib/serve/work/debug_table.h"
#include "lib/serve/work/run_table.h"
#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

struct Tab;  // lib/serve/routes/tab.h

// A handler's result: JSON, a table in columns (lib/render/columns.h), or a file to download.
struct Document {
  Document(std::string json) : text(std::move(json)) {}  // NOLINT(google-explicit-constructor)
  Document(std::string bytes, std::string name) : text(std::move(bytes)), file(std::move(name)) {}
  static Document Table(std::string bytes) {
    Document table(std::move(bytes));
    table.is_table = true;
    return table;
  }
  std::string text;
  std::string file;  // the name of the file; "" for JSON and tables
  bool is_table = false;
};

// The graphs that are served now.
struct Served {
  std::shared_ptr<PageSet> pages;
  unsigned version = 0;  // counts reloads
  std::string problem;   // the reason why the last reload failed; "" if it succeeded
};

struct RouteRow;

// The route of a request and the values of its path parameters, in the pattern's order.
struct FoundRoute {
  static constexpr size_t kMostParameters = 8;
  const RouteRow* row = nullptr;
  std::array<uint32_t, kMostParameters> values = {};
};

// One request, while it is being answered.
struct RouteCall {
  const Served& served;
  RunTable& runs;
  DebugTable& debugs;
  std::shared_ptr<Page> page;  // the page of {entry}; null if the path has no {entry}
  FoundRoute found;
  llvm::StringRef body;
  // Returns true if the client has disconnected, so that work for it may stop. Costs nothing.
  llvm::function_ref<bool()> is_gone;

  PageSet& pages() const { return *served.pages; }
  // Returns the value of a path parameter, by its name in the pattern.
  uint32_t operator[](llvm::StringRef name) const;
};

// Returns {"entry": NUMBER}, the number of a new page, or of the first of several new pages.
std::string EntryJson(size_t number);

enum class Method { kGet, kPost };

// Limits in bytes on the bodies of requests.
constexpr size_t kNoBody = 0;
constexpr size_t kLargestRequest = size_t{1} << 20;  // JSON: names and options
constexpr size_t kLargestTyped = size_t{1} << 24;    // JSON with values that the user typed
constexpr size_t kLargestFile = size_t{1} << 28;

// The groups of threads that make answers. A request never waits for a request of another class.
enum class WorkerClass {
  kAtOnce,    // existing results only need to be written
  kDocument,  // computed for display: seconds at most
  kStart,     // starts work, or accepts a file
  kWork       // may take minutes: few at a time, stopped when the client hangs up
};

struct Route {
  Method method;
  // The pattern of the path, "{entry}/scope/{body}": {name} matches a number; {name=a|b} matches
  // one of the words, and its value is the index of that word. {entry} must be the number of an
  // existing page.
  std::string path;
  size_t limit;  // the largest body, in bytes
  // Must be thread-safe. The page shows errors to the user: status 404 for a GET, 400 for a POST.
  std::function<Expected<Document>(const RouteCall&)> handle;
  WorkerClass worker_class = WorkerClass::kDocument;
};

struct RouteRow {
  Route route;
  const Tab* tab;  // only pages with this tab have the route; null: all pages
};

// The list of routes, which is searched linearly.
class RouteTable {
 public:
  struct Refusal {
    int status;         // 404 or 405
    std::string why;    // for the user: similar names, or the patterns with that name
    std::string allow;  // for 405: the allowed methods
  };

  // The routes of the page itself, then those of each registered tab.
  static const RouteTable& All();
  explicit RouteTable(std::vector<RouteRow> rows) : rows_(std::move(rows)) {}

  llvm::ArrayRef<RouteRow> rows() const { return rows_; }
  // Returns the route for a path, without "/api/"; nullopt if there is none.
  std::optional<FoundRoute> Find(Method method, llvm::StringRef path) const;
  // Returns the reason why Find returns nullopt.
  Refusal WhyNot(Method method, llvm::StringRef path) const;

 private:
  std::vector<RouteRow> rows_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_ROUTES_ROUTES_H_
