// The documents of the picture and its panel: the model, scopes, nodes and lists; for a comparison,
// also those of each graph alone.
#include <algorithm>

#include "lib/serve/pages/graph_documents.h"
#include "lib/serve/pages/scope_text.h"
#include "lib/serve/routes/tab.h"
#include "lib/support/json.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

struct GraphDocument {
  const char* path;
  Expected<Document> (*make)(GraphPage& graph, const RouteCall& call);
};

Expected<Document> Table(Expected<std::string> table) {
  if (!table) return table.takeError();
  return Document::Table(std::move(*table));
}

// Returns {"text": "..."}: see lib/serve/pages/scope_text.h.
Expected<Document> Text(GraphPage& graph, const RouteCall& call) {
  ASSIGN_OR_RETURN(std::string text, ScopeText(graph, call["body"], call["scope"]));
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] { json.attribute("text", llvm::json::fixUTF8(text)); });
  });
}

// The documents with {from} in their path are pages of a list.
constexpr GraphDocument kDocuments[] = {
    {"model",
     [](GraphPage& graph, const RouteCall&) -> Expected<Document> { return graph.ModelJson(); }},
    {"scope/{body}",
     [](GraphPage& graph, const RouteCall& call) {
       return Table(graph.ScopeTable(call["body"], std::nullopt));
     }},
    {"scope/{body}/{scope}",
     [](GraphPage& graph, const RouteCall& call) {
       return Table(graph.ScopeTable(call["body"], call["scope"]));
     }},
    {"node/{body}/{node}",
     [](GraphPage& graph, const RouteCall& call) {
       return Table(graph.NodeTable(call["body"], call["node"]));
     }},
    {"readers/{body}/{node}/{output}/{from}",
     [](GraphPage& graph, const RouteCall& call) {
       return Table(graph.ReadersTable(call["body"], call["node"], call["output"], call["from"],
                                       /*with_names=*/true));
     }},
    {"index/{body}/{from}",
     [](GraphPage& graph, const RouteCall& call) {
       return Table(graph.IndexTable(call["body"], call["from"], kIndexPage));
     }},
    {"marked/{kind}/{from}",
     [](GraphPage& graph, const RouteCall& call) -> Expected<Document> {
       return graph.MarkedJson(call["kind"], call["from"]);
     }},
    {"problems/{from}",
     [](GraphPage& graph, const RouteCall& call) -> Expected<Document> {
       return graph.ProblemsJson(call["from"]);
     }},
    {"facets",
     [](GraphPage& graph, const RouteCall&) -> Expected<Document> { return graph.FacetsJson(); }},
    {"layers",
     [](GraphPage& graph, const RouteCall&) -> Expected<Document> { return graph.LayersJson(); }},
    {"text/{body}/{scope}", Text},
};

Expected<Document> Match(const RouteCall& call) {
  ASSIGN_OR_RETURN(Panes * panes, call.page->SideBySide());
  return Document::Table(panes->MatchTable());
}

constexpr size_t kMostHits = 200, kLongestSearch = 32768;

// The body of the request is the user's query and, in a second line, the nodes that have a box:
// "BODY.NODE BODY.NODE".
Expected<Document> Search(const RouteCall& call) {
  ASSIGN_OR_RETURN(GraphPage * graph, call.page->Drawing());
  auto [query, nodes] = llvm::StringRef(call.body).split('\n');
  GraphPage::SeenNodes seen;
  llvm::SmallVector<llvm::StringRef, 0> places;
  nodes.split(places, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef place : places) {
    auto [before, after] = place.split('.');
    uint32_t body;
    NodeId node;
    if (!before.getAsInteger(10, body) && !after.getAsInteger(10, node)) seen.insert({body, node});
  }
  return graph->SearchJson(query, kMostHits, seen, call.is_gone);
}

// The body is the keys of two boxes, and "control" for control edges: "s12 n45 control".
Expected<Document> Edges(GraphPage& graph, const RouteCall& call) {
  auto [from, rest] = llvm::StringRef(call.body).split(' ');
  auto [to, kind] = rest.split(' ');
  return graph.EdgesJson(call["body"], from, to, kind == "control");
}

// Returns the answer, or {"problem": message} instead of an error, for errors in the user's input.
std::string OrProblem(Expected<std::string> answer) {
  if (answer) return std::move(*answer);
  std::string why = llvm::toString(answer.takeError());
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] { json.attribute("problem", llvm::json::fixUTF8(why)); });
  });
}

// The body is a node's name.
Expected<Document> Find(GraphPage& graph, const RouteCall& call) {
  return OrProblem(graph.FindJson(call.body));
}

// The body is {"hide": [word], "only": [word], "around", "hops", "from", "to"}, as in NodeFilter.
Expected<Document> Hidden(GraphPage& graph, const RouteCall& call) {
  ASSIGN_OR_RETURN(llvm::json::Value value, ParseJson(call.body));
  const llvm::json::Object* object = value.getAsObject();
  if (!object) return MakeError("the filter is not a JSON object");
  NodeFilter filter;
  auto words = [&](llvm::StringRef key, std::vector<std::string>* list) {
    const llvm::json::Array* array = object->getArray(key);
    if (!array) return;
    list->reserve(array->size());
    for (const llvm::json::Value& word : *array)
      list->push_back(word.getAsString().value_or("").str());
  };
  words("hide", &filter.hide);
  words("only", &filter.only);
  auto text = [&](llvm::StringRef key) { return object->getString(key).value_or("").str(); };
  filter.around = text("around");
  filter.hops =
      static_cast<int>(std::clamp<int64_t>(object->getInteger("hops").value_or(2), 0, 1000000));
  filter.from = text("from");
  filter.to = text("to");
  return OrProblem(graph.HiddenJson(call["body"], filter));
}

constexpr GraphDocument kAsked[] = {
    {"edges/{body}", Edges}, {"find", Find}, {"hidden/{body}", Hidden}};

std::vector<Route> Routes() {
  std::vector<Route> routes = {{Method::kGet, "{entry}/match", kNoBody, Match},
                               {Method::kPost, "{entry}/search", kLongestSearch, Search}};
  auto add = [&](const GraphDocument& document, Method method, size_t limit) {
    auto drawn = [&document](const RouteCall& call) -> Expected<Document> {
      ASSIGN_OR_RETURN(GraphPage * graph, call.page->Drawing());
      return document.make(*graph, call);
    };
    auto alone = [&document](const RouteCall& call) -> Expected<Document> {
      ASSIGN_OR_RETURN(Panes * panes, call.page->SideBySide());
      return document.make(call["side"] == 0 ? panes->a() : panes->b(), call);
    };
    std::string path = document.path;
    routes.push_back({method, "{entry}/" + path, limit, drawn});
    routes.push_back({method, "{entry}/{side=a|b}/" + path, limit, alone});
  };
  for (const GraphDocument& document : kDocuments) add(document, Method::kGet, kNoBody);
  for (const GraphDocument& document : kAsked) add(document, Method::kPost, kLargestRequest);
  return routes;
}

Error Write(const PageSet&, Page& page, FileDocuments& file) {
  ASSIGN_OR_RETURN(GraphPage * graph, page.Drawing());
  RETURN_IF_ERROR(WriteGraphDocuments(*graph, file));
  if (!page.HasPanesInFile()) return Error::success();
  ASSIGN_OR_RETURN(Panes * panes, page.SideBySide());
  file.PutTable("match", panes->MatchTable());
  FileDocuments a = file.Under("a/"), b = file.Under("b/");
  RETURN_IF_ERROR(WriteGraphDocuments(panes->a(), a));
  return WriteGraphDocuments(panes->b(), b);
}

GRAPNEL_TAB({.place = 20, .name = "graph", .routes = Routes(), .write = Write});

}  // namespace
}  // namespace grapnel
