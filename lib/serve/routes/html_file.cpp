#include "lib/serve/routes/html_file.h"

#include "lib/render/web/script_bundle.h"
#include "lib/serve/pages/file_documents.h"
#include "lib/serve/routes/tab.h"
#include "lib/serve/web/web_files.h"
#include "lib/support/file.h"
#include "lib/support/thread_pool.h"

namespace grapnel {
namespace {

std::string Escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

// Draws and analyzes the graphs of the pages, several at a time, before their documents are written
// one after the other. An error of a page appears again when its documents are written.
void PrepareDrawings(const PageSet& pages, ThreadPool& pool) {
  constexpr double kCost = 1e6;  // nanoseconds
  std::vector<std::shared_ptr<Page>> drawn;
  for (size_t i = 0; i < pages.size(); ++i)
    if (std::shared_ptr<Page> page = pages.at(i); page->Differs()) drawn.push_back(page);
  std::vector<std::vector<GraphPage*>> of_pages(drawn.size());
  auto draw = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) of_pages[i] = drawn[i]->DrawingsInFile();
  };
  pool.ParallelFor(static_cast<int64_t>(drawn.size()), kCost, draw);
  std::vector<GraphPage*> graphs;
  for (const auto& of_page : of_pages) graphs.insert(graphs.end(), of_page.begin(), of_page.end());
  std::vector<std::pair<GraphPage*, size_t>> bodies;
  for (GraphPage* graph : graphs)
    for (size_t body = 0; body < graph->num_bodies(); ++body) bodies.push_back({graph, body});
  auto prepare = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto number = static_cast<size_t>(i);
      if (number < bodies.size())
        bodies[number].first->Analyze(bodies[number].second);
      else
        graphs[number - bodies.size()]->ModelJson();
    }
  };
  pool.ParallelFor(static_cast<int64_t>(bodies.size() + graphs.size()), kCost, prepare);
}

}  // namespace

Error WriteHtmlFile(const PageSet& pages, llvm::StringRef title, int threads,
                    llvm::raw_ostream& os) {
  ASSIGN_OR_RETURN(std::string script, BundleScripts(PageScripts(), FindWebFile));
  std::string style = (FindWebFile("theme.css")->text + FindWebFile("page.css")->text).str();
  llvm::StringRef html = FindWebFile("index.html")->text;
  std::string policy = "default-src 'none'; script-src " + PolicyHash(script) + "; style-src " +
                       PolicyHash(style) + "; img-src data:; base-uri 'none'; form-action 'none'";
  auto [before_title, after_title] = html.split("<title>grapnel</title>");
  auto [before_style, after_style] = after_title.split(kStylesOfPage);
  auto [before_script, after_script] = after_style.split(kScriptOfPage);
  os << before_title << "<meta http-equiv=\"Content-Security-Policy\" content=\"" << policy
     << "\">\n<title>" << Escaped(title) << "</title>" << before_style << "<style>" << style
     << "</style>" << before_script;
  ThreadPool pool(threads);
  PrepareDrawings(pages, pool);
  DocumentFile documents(os, pool);
  FileDocuments(documents, "").Put("models", pages.Json(TabNamesInFile, /*in_file=*/true));
  FileDocuments(documents, "").Put("node-data", pages.NodeDataJson());
  for (size_t i = 0; i < pages.size(); ++i) {
    std::shared_ptr<Page> kept = pages.at(i);
    Page& page = *kept;
    if (!page.Differs()) continue;
    FileDocuments file(documents, std::to_string(i) + "/");
    for (const Tab& tab : Tabs()) {
      if (tab.write && !tab.needs_server && tab.IsOn(page))
        RETURN_IF_ERROR(tab.write(pages, page, file));
    }
  }
  documents.Finish();
  os << "<script>" << script << "</script>" << after_script;
  return Error::success();
}

Error SaveHtmlFile(const PageSet& pages, llvm::StringRef title, int threads, llvm::StringRef path) {
  ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(path));
  RETURN_IF_ERROR(WriteHtmlFile(pages, title, threads, file->os()));
  return file->Commit();
}

}  // namespace grapnel
