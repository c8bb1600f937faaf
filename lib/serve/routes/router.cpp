#include "lib/serve/routes/router.h"

#include "lib/render/labels.h"
#include "lib/serve/routes/routes.h"
#include "lib/serve/routes/sent_documents.h"
#include "lib/serve/routes/tab.h"
#include "lib/serve/web/web_files.h"
#include "lib/support/exceptions.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Returns the Content-Security-Policy. `script` and `style`: hashes of the inline script and style,
// or "".
std::string Policy(const std::string& script, const std::string& style) {
  auto self = [](const std::string& hash) { return "'self'" + (hash.empty() ? "" : " " + hash); };
  return "default-src 'none'; script-src " + self(script) + "; style-src " + self(style) +
         "; connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'self'";
}

constexpr const char* kPolicyHeader = "Content-Security-Policy";
// The type of tables, which lib/serve/http/module compresses, unlike downloads.
constexpr const char* kTableType = "application/x-grapnel-columns";

WebAnswer Refused(int status, std::string why) {
  WebAnswer answer;
  answer.status = status;
  answer.body = std::move(why);
  return answer;
}

// Compares tokens in constant time.
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

WebAnswer DocumentAnswer(Document document) {
  WebAnswer answer;
  answer.body = std::move(document.text);
  answer.type = document.is_table       ? kTableType
                : document.file.empty() ? "application/json"
                                        : "application/octet-stream";
  if (!document.file.empty())
    answer.headers = {{"Content-Disposition", "attachment; filename=\"" + document.file + "\""}};
  return answer;
}

bool HasEntry(const Route& route) { return llvm::StringRef(route.path).starts_with("{entry}"); }

// Returns an error if files of the page were truncated and not reloaded since.
Error CheckFilesOf(const Page* page) {
  if (!page) return Error::success();
  const Module* module = page->module();
  if (!module) return CheckOpenFiles();
  for (const auto& source : module->sources) RETURN_IF_ERROR(source->CheckWhole());
  return Error::success();
}

WebAnswer RefusedByTable(const RouteTable::Refusal& refusal) {
  WebAnswer answer = Refused(refusal.status, refusal.why);
  if (!refusal.allow.empty()) answer.headers = {{"Allow", refusal.allow}};
  return answer;
}

// Returns the page's file at a path; null for the page itself and for other paths.
const WebFile* FileAt(llvm::StringRef path) {
  path.consume_front("/");
  return FindWebFile(path);
}

Method MethodOf(const WebRequest& request) {
  return request.method == "POST" ? Method::kPost : Method::kGet;
}

WebAnswer TooLong(llvm::StringRef path, size_t size, size_t limit) {
  return Refused(413, "'" + Printable(path) + "' takes at most " + HumanBytes(limit) + ", and " +
                          HumanBytes(size) + " were sent");
}

WebAnswer WithHeaders(WebAnswer answer) {
  bool has_policy = llvm::any_of(answer.headers,
                                 [](const auto& header) { return header.first == kPolicyHeader; });
  if (!has_policy) answer.headers.push_back({kPolicyHeader, Policy("", "")});
  answer.headers.insert(answer.headers.end(), {{"X-Content-Type-Options", "nosniff"},
                                               {"Referrer-Policy", "no-referrer"},
                                               {"Cross-Origin-Resource-Policy", "same-origin"},
                                               {"Cache-Control", "no-store"}});
  return answer;
}

}  // namespace

Router::Router(std::shared_ptr<PageSet> pages, std::string token) : token_(std::move(token)) {
  served_.pages = std::move(pages);
  Warm();
}

Router::~Router() = default;

void Router::Replace(std::shared_ptr<PageSet> pages) {
  {
    std::lock_guard lock(mutex_);
    served_.pages = std::move(pages);
    picture_ = nullptr;
    ++served_.version;
    served_.problem.clear();
  }
  Warm();
}

void Router::SetProblem(std::string problem) {
  std::lock_guard lock(mutex_);
  served_.problem = std::move(problem);
}

Served Router::Now() const {
  std::lock_guard lock(mutex_);
  return served_;
}

void Router::Warm() {
  warm_ = std::async(std::launch::async, [this, served = Now()] {
    WholePage();
    auto picture = std::make_shared<const std::string>(
        SentPicture([&](const std::string& path) { return DocumentFor(path, served); }));
    std::lock_guard lock(mutex_);
    if (served_.pages == served.pages) picture_ = std::move(picture);
  });
}

std::optional<Document> Router::DocumentFor(const std::string& path, const Served& served) {
  auto found = RouteTable::All().Find(Method::kGet, path);
  if (!found) return std::nullopt;
  WebAnswer answer = ApiAnswer({}, *found, served);
  if (answer.status != 200) return std::nullopt;
  bool is_table = answer.type == kTableType;
  return is_table ? Document::Table(std::move(answer.body)) : Document(std::move(answer.body));
}

// Returns the page, with the documents for its first picture if they are made already.
WebAnswer Router::PageAnswer() {
  Served served;
  std::shared_ptr<const std::string> picture;
  {
    std::lock_guard lock(mutex_);
    served = served_;
    picture = picture_;
  }
  const PageInOne& page = WholePage();
  WebAnswer answer;
  answer.type = "text/html; charset=utf-8";
  answer.headers = {{kPolicyHeader, Policy(page.script_hash, page.style_hash)}};
  answer.body = page.before;
  for (const char* path : {"models", "version"})
    answer.body +=
        SentDocument(path, [&](const std::string& asked) { return DocumentFor(asked, served); });
  if (picture) answer.body += *picture;
  answer.body += page.after;
  return answer;
}

bool Router::IsOurs(const WebRequest& request) const {
  return hosts_.Allows(request.host) && hosts_.IsOwnOrigin(request.origin, request.host);
}

std::optional<WebAnswer> Router::Authorize(const WebRequest& request) const {
  if (!IsOurs(request))
    return Refused(403,
                   "grapnel answers only pages of its own on this machine; behind a proxy, "
                   "start it with --host-name " +
                       Printable(request.host));
  if (request.method != "GET" && request.method != "HEAD" && request.method != "POST")
    return Refused(405, "grapnel accepts only GET, HEAD and POST");
  bool knows = SameToken(request.token, token_);
  if (request.method == "POST" && (request.origin.empty() || !knows))
    return Refused(403, "only grapnel's own page, with its token, may request work");
  llvm::StringRef path = request.path;
  if ((path == "/" || path.starts_with("/api/")) && !knows)
    return Refused(403, "open the address that grapnel printed, with its token");
  return std::nullopt;
}

HeaderCheck Router::Admit(const WebRequest& head) const {
  HeaderCheck check;
  auto refuse = [&](WebAnswer answer) {
    check.refusal = WithHeaders(std::move(answer));
    return check;
  };
  if (auto refused = Authorize(head)) return refuse(std::move(*refused));
  llvm::StringRef path = head.path;
  Method method = MethodOf(head);
  if (path.consume_front("/api/")) {
    auto found = RouteTable::All().Find(method, path);
    if (!found) return refuse(RefusedByTable(RouteTable::All().WhyNot(method, path)));
    check.body_limit = found->row->route.limit;
    check.worker_class = found->row->route.worker_class;
    check.route = *found;
  } else if (path != "/" && !FileAt(path)) {
    return refuse(Refused(404, "there is no " + Printable(path)));
  } else if (method == Method::kPost) {
    return refuse(RefusedByTable({405, Printable(path) + " accepts GET, not POST", "GET"}));
  }
  size_t size = std::max(head.body_size, head.body.size());
  if (size <= check.body_limit) return check;
  return refuse(TooLong(path, size, check.body_limit));
}

WebAnswer Router::Answer(const WebRequest& request) {
  HeaderCheck check = Admit(request);
  if (check.refusal) return std::move(*check.refusal);
  return Answer(request, check.route);
}

WebAnswer Router::Answer(const WebRequest& request, const FoundRoute& route) {
  auto answer = WithoutExceptions([&]() -> Expected<WebAnswer> {
    if (route.row) return ApiAnswer(request, route, Now());
    const WebFile* file = FileAt(request.path);
    return file ? FileAnswer(*file) : PageAnswer();
  });
  if (answer) return WithHeaders(std::move(*answer));
  return WithHeaders(Refused(500, Printable(request.path) + ": " + TextOf(answer.takeError())));
}

WebAnswer Router::ApiAnswer(const WebRequest& request, const FoundRoute& found,
                            const Served& served) {
  const Route& route = found.row->route;
  auto is_gone = [&] { return request.is_gone && request.is_gone(); };
  RouteCall call{served, runs_, debugs_, nullptr, found, request.body, is_gone};
  if (HasEntry(route)) {
    Expected<std::shared_ptr<Page>> page = served.pages->Find(call["entry"]);
    if (!page) return Refused(404, llvm::toString(page.takeError()));
    call.page = *page;
    const Tab* tab = found.row->tab;
    if (tab && !tab->IsOn(**page))
      return Refused(404, Printable((*page)->title() + " has no tab '" + tab->name + "'"));
  }
  Expected<Document> document = route.handle(call);
  if (Error cut = CheckFilesOf(call.page.get())) {
    if (!document) llvm::consumeError(document.takeError());
    document = std::move(cut);
  }
  if (document) return DocumentAnswer(std::move(*document));
  return Refused(route.method == Method::kPost ? 400 : 404,
                 PrintableLines(llvm::toString(document.takeError())));
}

}  // namespace grapnel
