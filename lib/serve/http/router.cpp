#include "lib/serve/http/router.h"

#include "lib/render/labels.h"
#include "lib/serve/pages/debug_page.h"
#include "lib/serve/pages/diff_page.h"
#include "lib/serve/pages/passes_json.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/serve/web/web_files.h"
#include "lib/serve/work/place_work.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

WebAnswer Refused(int status, std::string why) {
  WebAnswer answer;
  answer.status = status;
  answer.body = std::move(why);
  return answer;
}

// In a time that does not tell how much of it was right.
bool SameToken(llvm::StringRef a, llvm::StringRef b) {
  unsigned char differs = a.size() != b.size();
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

WebAnswer FileAnswer(const WebFile& file) {
  WebAnswer answer;
  answer.type = file.type.str();
  answer.body = file.text.str();
  return answer;
}

// A document, or why there is none.
WebAnswer JsonAnswer(Expected<std::string> document, int refused = 404) {
  if (!document) return Refused(refused, PrintableLines(llvm::toString(document.takeError())));
  WebAnswer answer;
  answer.type = "application/json";
  answer.body = std::move(*document);
  return answer;
}

// What is said of a stage beside its graph.
Expected<std::string> PassesDocument(PageSet& pages, Page& page, llvm::StringRef kind) {
  if (kind == "match") {
    ASSIGN_OR_RETURN(Panes * panes, page.SideBySide());
    return panes->MatchJson();
  }
  auto* stage = llvm::dyn_cast<StagePage>(&page);
  if (!stage) return MakeError("{0} is no stage of a run of passes", page.title());
  return kind == "passes" ? PassesJson(pages, *stage) : RewritesJson(*stage);
}

Expected<size_t> Compare(PageSet& pages, Page& a, llvm::StringRef body) {
  ASSIGN_OR_RETURN(llvm::json::Value value, llvm::json::parse(body));
  const llvm::json::Object* object = value.getAsObject();
  std::optional<int64_t> with = object ? object->getInteger("with") : std::nullopt;
  if (!with || *with < 0) return MakeError("'with' has to be the number of a graph");
  ASSIGN_OR_RETURN(Page * b, pages.Find(static_cast<size_t>(*with)));
  for (Page* page : {&a, b}) {
    if (!page->module()) return MakeError("{0} is no graph that can be compared", page->title());
  }
  if (&a == b) return MakeError("choose two graphs: both are {0}", a.title());
  Diff diff = DiffModules(*a.module(), *b->module(), {});
  ASSIGN_OR_RETURN(
      std::unique_ptr<DiffPage> made,
      DiffPage::Make(*a.module(), *b->module(), diff, a.title() + " \xe2\x86\x92 " + b->title()));
  return pages.Add(std::move(made));
}

Expected<size_t> OptimizeFromPage(PageSet& pages, Page& page, llvm::StringRef body) {
  if (!page.opened()) return MakeError("{0} is no model from a file", page.title());
  ASSIGN_OR_RETURN(OptimizeRequest request, ParseOptimizeRequest(body));
  ASSIGN_OR_RETURN(PassRun run, RunPasses(*page.opened(), std::move(request), page.title()));
  return pages.AddAll(StagePages(std::move(run), page.title()));
}

// New pages, by what is asked for: {"entry": the first one's number}.
Expected<std::string> NewPages(PageSet& pages, size_t number, llvm::StringRef what,
                               llvm::StringRef body) {
  ASSIGN_OR_RETURN(Page * page, pages.Find(number));
  ASSIGN_OR_RETURN(size_t made, what == "passes" ? OptimizeFromPage(pages, *page, body)
                                                 : Compare(pages, *page, body));
  return PageDocument(
      [&](llvm::json::OStream& json) { json.object([&] { json.attribute("entry", made); }); });
}

WebAnswer WorkAnswer(Expected<std::string> document) {
  return JsonAnswer(std::move(document), 400);
}

// MODEL/model, MODEL/scope/BODY[/SCOPE], MODEL/node/BODY/ID, MODEL/index/BODY/FROM, and further
// pages of lists: MODEL/readers/BODY/ID/OUTPUT/FROM, MODEL/marked/KIND/FROM, MODEL/problems/FROM.
Expected<std::string> GraphDocument(GraphPage& page, llvm::ArrayRef<llvm::StringRef> parts,
                                    llvm::ArrayRef<uint32_t> numbers) {
  llvm::StringRef kind = parts[1];
  if (kind == "model" && parts.size() == 2) return page.ModelJson();
  if (kind == "scope" && parts.size() == 3) return page.ScopeJson(numbers[2], std::nullopt);
  if (kind == "scope" && parts.size() == 4) return page.ScopeJson(numbers[2], numbers[3]);
  if (kind == "node" && parts.size() == 4) return page.NodeJson(numbers[2], numbers[3]);
  if (kind == "readers" && parts.size() == 6)
    return page.ReadersJson(numbers[2], numbers[3], numbers[4], numbers[5]);
  if (kind == "marked" && parts.size() == 4) return page.MarkedJson(numbers[2], numbers[3]);
  if (kind == "problems" && parts.size() == 3) return page.ProblemsJson(numbers[2]);
  if (kind == "index" && parts.size() == 4) {
    ASSIGN_OR_RETURN(IndexPage index, page.IndexJson(numbers[2], numbers[3], kIndexPage));
    return std::move(index.json);
  }
  return MakeError("no such document");
}

}  // namespace

Router::Router(std::shared_ptr<PageSet> pages, std::string token)
    : pages_(std::move(pages)), token_(std::move(token)) {
  Warm();
}

void Router::Replace(std::shared_ptr<PageSet> pages) {
  {
    std::lock_guard lock(mutex_);
    pages_ = std::move(pages);
    ++version_;
    problem_.clear();
  }
  Warm();
}

void Router::SetProblem(std::string problem) {
  std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
}

std::shared_ptr<PageSet> Router::Pages() const {
  std::lock_guard lock(mutex_);
  return pages_;
}

std::string Router::VersionJson() const {
  std::lock_guard lock(mutex_);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("version", version_);
      if (!problem_.empty()) json.attribute("problem", Printable(problem_));
    });
  });
}

void Router::Warm() {
  warm_ = std::async(std::launch::async, [pages = Pages()] {
    if (pages->size() == 0) return;
    Expected<GraphPage*> drawing = pages->at(0).Drawing();
    if (!drawing) return llvm::consumeError(drawing.takeError());
    (*drawing)->ModelJson();
    llvm::consumeError((*drawing)->ScopeJson(0, std::nullopt).takeError());
  });
}

Router::~Router() = default;

bool Router::IsOurs(const WebRequest& request) const {
  std::string port = ":" + std::to_string(port_);
  bool host = request.host == "127.0.0.1" + port || request.host == "localhost" + port;
  return host && (request.origin.empty() || request.origin == "http://" + request.host);
}

WebAnswer Router::Answer(const WebRequest& request) {
  WebAnswer answer;
  llvm::StringRef path = request.path;
  if (!IsOurs(request)) {
    answer = Refused(403, "grapnel answers only pages of its own on this machine");
  } else if (request.method == "POST") {
    if (request.origin.empty() || !SameToken(request.token, token_)) {
      answer = Refused(403, "only grapnel's own page, with its token, may ask for work");
    } else {
      answer = path.consume_front("/api/") ? Work(path, request.body)
                                           : Refused(404, "there is no " + Printable(path));
    }
  } else if (request.method != "GET" && request.method != "HEAD") {
    answer = Refused(405, "grapnel is asked by GET and POST only");
  } else if (path == "/" || path.starts_with("/api/")) {
    if (!SameToken(request.token, token_)) {
      answer = Refused(403, "open the address that grapnel printed, with its token");
    } else {
      answer = path == "/" ? FileAnswer(*FindWebFile("index.html")) : Document(path.drop_front(5));
    }
  } else if (const WebFile* file = FindWebFile(path.drop_front(path.starts_with("/")))) {
    answer = FileAnswer(*file);
  } else {
    answer = Refused(404, "there is no " + Printable(path));
  }
  answer.headers.insert(answer.headers.end(), {{"Content-Security-Policy", kPolicy},
                                               {"X-Content-Type-Options", "nosniff"},
                                               {"Referrer-Policy", "no-referrer"},
                                               {"Cross-Origin-Resource-Policy", "same-origin"},
                                               {"Cache-Control", "no-store"}});
  return answer;
}

// "models", "version", or one of an entry: see GraphDocument, RunDocument, NpyAnswer,
// DebugDocument; MODEL/match, MODEL/passes, MODEL/rewrites. A graph's also as MODEL/a/... and
// MODEL/b/... of what is seen side by side.
WebAnswer Router::Document(llvm::StringRef path) {
  std::shared_ptr<PageSet> pages = Pages();
  if (path == "models") return JsonAnswer(pages->Json());
  if (path == "version") return JsonAnswer(VersionJson());
  llvm::SmallVector<llvm::StringRef, 4> parts;
  path.split(parts, '/');
  bool pane = parts.size() > 2 && (parts[1] == "a" || parts[1] == "b");
  bool is_b = pane && parts[1] == "b";
  if (pane) parts.erase(parts.begin() + 1);
  llvm::SmallVector<uint32_t, 4> numbers;
  for (size_t i = 0; i < parts.size(); ++i) {
    uint32_t number = 0;
    if (i != 1 && parts[i].getAsInteger(10, number)) return Refused(404, "no such document");
    numbers.push_back(number);
  }
  if (parts.size() < 2) return Refused(404, "no such document");
  Expected<Page*> page = pages->Find(numbers[0]);
  if (!page) return Refused(404, llvm::toString(page.takeError()));
  if (auto* debug = llvm::dyn_cast<DebugPage>(*page))
    if (auto document = DebugDocument(*debug, parts, numbers)) return std::move(*document);
  llvm::StringRef kind = parts[1];
  if (!pane && parts.size() == 2 && (kind == "passes" || kind == "rewrites" || kind == "match"))
    return JsonAnswer(PassesDocument(*pages, **page, kind));
  if (kind == "npy" && parts.size() == 4) return NpyAnswer(numbers);
  if (kind.starts_with("run")) return JsonAnswer(RunDocument(**page, parts, numbers));
  auto find = [&]() -> Expected<GraphPage*> {
    if (!pane) return (*page)->Drawing();
    ASSIGN_OR_RETURN(Panes * panes, (*page)->SideBySide());
    return is_b ? &panes->b() : &panes->a();
  };
  Expected<GraphPage*> drawing = find();
  if (!drawing) return Refused(404, llvm::toString(drawing.takeError()));
  return JsonAnswer(GraphDocument(**drawing, parts, numbers));
}

// MODEL/run (the form), MODEL/run/RUN, MODEL/run-tensors/RUN/FROM, MODEL/run-boxes/RUN,
// MODEL/run-node/RUN/BODY/ID.
Expected<std::string> Router::RunDocument(Page& page, llvm::ArrayRef<llvm::StringRef> parts,
                                          llvm::ArrayRef<uint32_t> numbers) {
  llvm::StringRef kind = parts[1];
  if (kind == "run" && parts.size() == 2) {
    ASSIGN_OR_RETURN(std::shared_ptr<const OpenedGraph> opened, DemandOpened(page));
    return RunFormJson(*opened);
  }
  if (kind == "run" && parts.size() == 3) return runs_.StatusJson(numbers[2]);
  if (kind == "run-tensors" && parts.size() == 4) return runs_.TensorsJson(numbers[2], numbers[3]);
  ASSIGN_OR_RETURN(GraphPage * drawing, page.Drawing());
  if (kind == "run-boxes" && parts.size() == 3) return runs_.BoxesJson(numbers[2], *drawing);
  if (kind == "run-node" && parts.size() == 5)
    return runs_.NodeJson(numbers[2], *drawing, numbers[3], numbers[4]);
  return MakeError("no such document");
}

// MODEL/npy/RUN/FETCH: a file to keep.
WebAnswer Router::NpyAnswer(llvm::ArrayRef<uint32_t> numbers) {
  auto bytes = runs_.NpyFile(numbers[2], numbers[3]);
  if (!bytes) return Refused(404, llvm::toString(bytes.takeError()));
  WebAnswer answer;
  answer.type = "application/octet-stream";
  answer.body = std::move(*bytes);
  answer.headers = {{"Content-Disposition",
                     "attachment; filename=\"fetch_" + std::to_string(numbers[3]) + ".npy\""}};
  return answer;
}

// What is asked for by POST: MODEL/run, MODEL/stop/RUN, MODEL/feed (a .npy file), MODEL/place,
// MODEL/passes, MODEL/diff.
WebAnswer Router::Work(llvm::StringRef path, llvm::StringRef body) {
  WebAnswer nothing = Refused(404, "no such work: " + Printable(path));
  llvm::SmallVector<llvm::StringRef, 4> parts;
  path.split(parts, '/');
  size_t entry = 0;
  uint64_t run = 0;
  if (parts.size() < 2 || parts[0].getAsInteger(10, entry)) return nothing;
  if (parts.size() == 3 && (parts[1] != "stop" || parts[2].getAsInteger(10, run))) return nothing;
  if (parts.size() > 3) return nothing;
  auto pages = Pages();
  llvm::StringRef what = parts[1];
  if (what == "passes" || what == "diff") return WorkAnswer(NewPages(*pages, entry, what, body));
  auto page = pages->Find(entry);
  if (!page) return Refused(404, llvm::toString(page.takeError()));
  auto opened = DemandOpened(**page);
  if (!opened) return Refused(404, llvm::toString(opened.takeError()));
  if (parts.size() == 3) return WorkAnswer(runs_.Stop(run));
  if (what == "run") return WorkAnswer(runs_.Start(std::move(*opened), body));
  if (what == "feed") return WorkAnswer(runs_.KeepFile(body));
  if (what == "place") return WorkAnswer(PlaceFromPage(*pages, std::move(*opened), body));
  return nothing;
}

// MODEL/debug, MODEL/sources, MODEL/trace/N, MODEL/execution/N, MODEL/source/N, MODEL/traces/FROM,
// MODEL/executions/FROM. Nothing: the document is one of a graph.
std::optional<WebAnswer> Router::DebugDocument(const DebugPage& page,
                                               llvm::ArrayRef<llvm::StringRef> parts,
                                               llvm::ArrayRef<uint32_t> numbers) {
  auto make = [&]() -> Expected<std::string> {
    llvm::StringRef kind = parts[1];
    if (parts.size() == 2 && kind == "debug") return page.Json();
    if (parts.size() == 2 && kind == "sources") return page.SourcesJson();
    if (parts.size() != 3) return std::string();
    if (kind == "traces") return page.TracesJson(numbers[2], kTracesAPage);
    if (kind == "executions") return page.ExecutionsJson(numbers[2], kTracesAPage);
    if (kind == "trace") return page.TraceJson(numbers[2]);
    if (kind == "execution") return page.ExecutionJson(numbers[2]);
    if (kind == "source") return page.SourceJson(numbers[2]);
    return std::string();
  };
  Expected<std::string> made = make();
  if (!made) return Refused(404, llvm::toString(made.takeError()));
  if (made->empty()) return std::nullopt;
  WebAnswer answer;
  answer.type = "application/json";
  answer.body = std::move(*made);
  return answer;
}

}  // namespace grapnel
