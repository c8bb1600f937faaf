// The tab that compares any two graphs of the list; the comparison becomes a new page.
#include "lib/io/signature.h"
#include "lib/job/signature_graph.h"
#include "lib/serve/pages/debug_page.h"
#include "lib/serve/pages/diff_page.h"
#include "lib/serve/pages/model_page.h"
#include "lib/serve/pages/stored_values.h"
#include "lib/serve/routes/tab.h"
#include "lib/support/json.h"
#include "llvm/Support/Casting.h"

namespace grapnel {
namespace {

// Parses {"with": the number of the other page} and returns that page.
Expected<std::shared_ptr<Page>> ParseOther(const PageSet& pages, llvm::StringRef body) {
  ASSIGN_OR_RETURN(llvm::json::Value value, ParseJson(body));
  const llvm::json::Object* object = value.getAsObject();
  std::optional<int64_t> with = object ? object->getInteger("with") : std::nullopt;
  if (!with || *with < 0) return MakeError("'with' has to be the number of a graph");
  return pages.Find(static_cast<size_t>(*with));
}

bool HasNetwork(const Page& page) {
  std::shared_ptr<const OpenedGraph> opened = page.opened();
  return opened && DefaultSignature(opened->file());
}

// Returns a page with the network of the page's default signature.
Expected<std::shared_ptr<Page>> NetworkOf(const Page& page) {
  OpenedGraph network = page.opened()->Copy();
  RETURN_IF_ERROR(TakeNetwork({}, &network).takeError());
  return std::make_shared<ModelPage>(std::make_shared<const OpenedGraph>(std::move(network)),
                                     page.title());
}

// Returns a function that finds the layers of the page's graph, which must outlive it.
std::function<LayerTable()> LayersIn(const Page& page) {
  return [opened = page.opened(), module = page.module()] {
    bool is_of_file = opened && &opened->module() == module;
    return is_of_file ? LayersOf(opened->file()) : LayersOf(*module);
  };
}

std::optional<PageValues> ValuesIn(const Page& page) {
  std::shared_ptr<const OpenedGraph> opened = page.opened();
  if (!opened || &opened->module() != page.module()) return std::nullopt;
  return StoredValuesOf(*opened);
}

Expected<Document> Compare(const RouteCall& call) {
  std::shared_ptr<Page> a = call.page;
  ASSIGN_OR_RETURN(std::shared_ptr<Page> b, ParseOther(call.pages(), call.body));
  for (const auto& page : {a, b}) {
    if (!page->module()) return MakeError("{0} is not a graph that can be compared", page->title());
  }
  if (a == b) return MakeError("choose two graphs: both are {0}", a->title());
  if (HasNetwork(*a) && HasNetwork(*b)) {
    ASSIGN_OR_RETURN(a, NetworkOf(*a));
    ASSIGN_OR_RETURN(b, NetworkOf(*b));
  }
  Diff diff = DiffModules(*a->module(), *b->module(), {});
  ASSIGN_OR_RETURN(
      std::unique_ptr<DiffPage> made,
      DiffPage::Make(*a->module(), *b->module(), diff, a->title() + " \xe2\x86\x92 " + b->title(),
                     {a, b}, nullptr, {LayersIn(*a), LayersIn(*b)}, {ValuesIn(*a), ValuesIn(*b)}));
  std::vector<std::unique_ptr<Page>> one;
  one.push_back(std::move(made));
  return EntryJson(call.pages().AddMade(std::move(one), call.page->model()));
}

GRAPNEL_TAB({.place = 60,
             .name = "diff",
             .needs_server = true,
             .is_on = [](const Page& page) { return !llvm::isa<DebugPage>(page); },
             .routes = {
                 {Method::kPost, "{entry}/diff", kLargestRequest, Compare, WorkerClass::kWork}}});

}  // namespace
}  // namespace grapnel
