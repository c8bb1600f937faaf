// The picture and its panel: the model, scopes, nodes and lists of what is drawn, and of a
// comparison the same of both graphs alone.
#include "lib/serve/pages/graph_documents.h"
#include "lib/serve/pages/scope_text.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/serve/pages/tab.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

struct GraphDocument {
  const char* path;
  Expected<std::string> (*make)(GraphPage& graph, const RouteCall& call);
};

Expected<std::string> Index(GraphPage& graph, const RouteCall& call) {
  ASSIGN_OR_RETURN(IndexPage index, graph.IndexJson(call["body"], call["from"], kIndexPage));
  return std::move(index.json);
}

Expected<std::string> Links(GraphPage& graph, const RouteCall& call) {
  ASSIGN_OR_RETURN(IndexPage links, graph.LinksJson(call["body"], call["from"], kIndexPage));
  return std::move(links.json);
}

// {"text": "..."}: see lib/serve/pages/scope_text.h.
Expected<std::string> Text(GraphPage& graph, const RouteCall& call) {
  ASSIGN_OR_RETURN(std::string text, ScopeText(graph, call["body"], call["scope"]));
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] { json.attribute("text", llvm::json::fixUTF8(text)); });
  });
}

// {from}: further pages of a list.
constexpr GraphDocument kDocuments[] = {
    {"model",
     [](GraphPage& graph, const RouteCall&) -> Expected<std::string> { return graph.ModelJson(); }},
    {"scope/{body}",
     [](GraphPage& graph, const RouteCall& call) {
       return graph.ScopeJson(call["body"], std::nullopt);
     }},
    {"scope/{body}/{scope}",
     [](GraphPage& graph, const RouteCall& call) {
       return graph.ScopeJson(call["body"], call["scope"]);
     }},
    {"node/{body}/{node}",
     [](GraphPage& graph, const RouteCall& call) {
       return graph.NodeJson(call["body"], call["node"]);
     }},
    {"readers/{body}/{node}/{output}/{from}",
     [](GraphPage& graph, const RouteCall& call) {
       return graph.ReadersJson(call["body"], call["node"], call["output"], call["from"]);
     }},
    {"marked/{kind}/{from}",
     [](GraphPage& graph, const RouteCall& call) {
       return graph.MarkedJson(call["kind"], call["from"]);
     }},
    {"problems/{from}",
     [](GraphPage& graph, const RouteCall& call) -> Expected<std::string> {
       return graph.ProblemsJson(call["from"]);
     }},
    {"index/{body}/{from}", Index},
    {"links/{body}/{from}", Links},
    {"text/{body}/{scope}", Text},
};

Expected<Document> Match(const RouteCall& call) {
  ASSIGN_OR_RETURN(Panes * panes, call.page->SideBySide());
  return panes->MatchJson();
}

constexpr size_t kMostHits = 200, kLongestSearch = 4096;

// The body of the request is what was typed.
Expected<Document> Search(const RouteCall& call) {
  ASSIGN_OR_RETURN(GraphPage * graph, call.page->Drawing());
  return graph->SearchJson(call.body, kMostHits, call.is_gone);
}

std::vector<Route> Routes() {
  std::vector<Route> routes = {{Method::kGet, "{entry}/match", kNoBody, Match},
                               {Method::kPost, "{entry}/search", kLongestSearch, Search}};
  for (const GraphDocument& document : kDocuments) {
    auto drawn = [&document](const RouteCall& call) -> Expected<Document> {
      ASSIGN_OR_RETURN(GraphPage * graph, call.page->Drawing());
      return document.make(*graph, call);
    };
    auto alone = [&document](const RouteCall& call) -> Expected<Document> {
      ASSIGN_OR_RETURN(Panes * panes, call.page->SideBySide());
      return document.make(call["side"] == 0 ? panes->a() : panes->b(), call);
    };
    routes.push_back({Method::kGet, std::string("{entry}/") + document.path, kNoBody, drawn});
    routes.push_back(
        {Method::kGet, std::string("{entry}/{side=a|b}/") + document.path, kNoBody, alone});
  }
  return routes;
}

// Both graphs of a stage are left out: they would make the file three times as large.
Error Write(const PageSet&, Page& page, FileDocuments& file) {
  ASSIGN_OR_RETURN(GraphPage * graph, page.Drawing());
  RETURN_IF_ERROR(WriteGraphDocuments(*graph, file));
  if (!page.HasPanes() || llvm::isa<StagePage>(page)) return Error::success();
  ASSIGN_OR_RETURN(Panes * panes, page.SideBySide());
  file.Put("match", panes->MatchJson());
  FileDocuments a = file.Under("a/"), b = file.Under("b/");
  RETURN_IF_ERROR(WriteGraphDocuments(panes->a(), a));
  return WriteGraphDocuments(panes->b(), b);
}

GRAPNEL_TAB({.place = 20, .name = "graph", .routes = Routes(), .write = Write});

}  // namespace
}  // namespace grapnel
