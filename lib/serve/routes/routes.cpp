#include "lib/serve/routes/routes.h"

#include <algorithm>
#include <cassert>

#include "lib/render/labels.h"
#include "lib/serve/routes/tab.h"
#include "lib/support/printable.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"

namespace grapnel {
namespace {

llvm::SmallVector<llvm::StringRef, 8> SplitPath(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 8> segments;
  path.split(segments, '/');
  return segments;
}

// Returns the value of one segment of a path, if the segment matches `wanted`, the pattern's
// segment.
std::optional<uint32_t> ValueOf(llvm::StringRef wanted, llvm::StringRef segment) {
  uint32_t number = 0;
  if (wanted.empty())
    return segment.getAsInteger(10, number) ? std::nullopt : std::optional(number);
  llvm::SmallVector<llvm::StringRef, 4> words;
  wanted.split(words, '|');
  const auto* found = llvm::find(words, segment);
  if (found == words.end()) return std::nullopt;
  return static_cast<uint32_t>(found - words.begin());
}

using Values = decltype(FoundRoute::values);

// Returns the values of the path parameters, or nullopt if the path does not match the pattern.
std::optional<Values> Match(llvm::StringRef pattern, llvm::StringRef path) {
  auto wanted = SplitPath(pattern), segments = SplitPath(path);
  if (wanted.size() != segments.size()) return std::nullopt;
  Values values = {};
  size_t count = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    llvm::StringRef name = wanted[i];
    if (!name.consume_front("{")) {
      if (name != segments[i]) return std::nullopt;
      continue;
    }
    std::optional<uint32_t> value = ValueOf(name.drop_back().split('=').second, segments[i]);
    if (!value) return std::nullopt;
    assert(count < values.size() && "the pattern has too many parameters");
    values[count++] = *value;
  }
  return values;
}

// Returns a pattern's first segment that is not a parameter: "scope" for
// "{entry}/{side=a|b}/scope/{body}".
llvm::StringRef NameOf(llvm::StringRef pattern) {
  for (llvm::StringRef segment : SplitPath(pattern))
    if (!segment.starts_with("{")) return segment;
  return "";
}

// Returns a path's first segment that is neither a number nor a side of a comparison ("a", "b"); ""
// if there is none.
llvm::StringRef NameOfPath(llvm::StringRef path) {
  for (llvm::StringRef segment : SplitPath(path))
    if (uint32_t number = 0; segment.getAsInteger(10, number) && segment != "a" && segment != "b")
      return segment;
  return "";
}

const char* MethodName(Method method) { return method == Method::kGet ? "GET" : "POST"; }

std::string VersionJson(const Served& served) {
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("version", served.version);
      if (!served.problem.empty()) json.attribute("problem", Printable(served.problem));
    });
  });
}

std::vector<Route> OwnRoutes() {
  return {{Method::kGet, "models", kNoBody,
           [](const RouteCall& call) -> Expected<Document> { return call.pages().Json(TabNames); },
           WorkerClass::kAtOnce},
          {Method::kGet, "node-data", kNoBody,
           [](const RouteCall& call) -> Expected<Document> { return call.pages().NodeDataJson(); }},
          {Method::kGet, "version", kNoBody,
           [](const RouteCall& call) -> Expected<Document> { return VersionJson(call.served); },
           WorkerClass::kAtOnce}};
}

}  // namespace

uint32_t RouteCall::operator[](llvm::StringRef name) const {
  size_t count = 0;
  for (llvm::StringRef segment : SplitPath(found.row->route.path)) {
    if (!segment.consume_front("{")) continue;
    if (segment.drop_back().split('=').first == name) return found.values[count];
    ++count;
  }
  llvm_unreachable("the pattern has no such parameter");
}

std::string EntryJson(size_t number) {
  return PageDocument(
      [&](llvm::json::OStream& json) { json.object([&] { json.attribute("entry", number); }); });
}

const RouteTable& RouteTable::All() {
  static const RouteTable table = [] {
    std::vector<RouteRow> rows;
    for (Route& route : OwnRoutes()) rows.push_back({std::move(route), nullptr});
    for (const Tab& tab : Tabs())
      for (const Route& route : tab.routes) rows.push_back({route, &tab});
    return RouteTable(std::move(rows));
  }();
  return table;
}

std::optional<FoundRoute> RouteTable::Find(Method method, llvm::StringRef path) const {
  for (const RouteRow& row : rows_) {
    if (row.route.method != method) continue;
    if (auto values = Match(row.route.path, path)) return FoundRoute{&row, *values};
  }
  return std::nullopt;
}

RouteTable::Refusal RouteTable::WhyNot(Method method, llvm::StringRef path) const {
  llvm::StringRef name = NameOfPath(path);
  llvm::StringSet<> names;
  std::vector<std::string> methods, patterns;
  for (const RouteRow& row : rows_) {
    if (Match(row.route.path, path)) methods.push_back(MethodName(row.route.method));
    names.insert(NameOf(row.route.path));
    if (NameOf(row.route.path) == name) patterns.push_back(row.route.path);
  }
  if (!methods.empty()) {
    std::string allow = llvm::join(methods, ", ");
    return {405, "'" + Printable(path) + "' accepts " + allow + ", not " + MethodName(method),
            allow};
  }
  if (!patterns.empty())
    return {404, "there is no '" + Printable(path) + "': it is " + llvm::join(patterns, " or "),
            ""};
  auto all = [&](NameSink take) {
    for (const auto& known : names) take(known.getKey());
  };
  return {404, "there is no '" + Printable(path) + "'" + DidYouMean(name, all), ""};
}

}  // namespace grapnel
