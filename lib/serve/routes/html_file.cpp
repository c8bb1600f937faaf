#include "lib/serve/routes/html_file.h"

#include "lib/render/web/script_bundle.h"
#include "lib/serve/pages/file_documents.h"
#include "lib/serve/routes/tab.h"
#include "lib/serve/web/web_files.h"
#include "lib/support/file.h"

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

}  // namespace

Error WriteHtmlFile(const PageSet& pages, llvm::StringRef title, llvm::raw_ostream& os) {
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
  WrittenDocuments written;
  FileDocuments(os, written, "").Put("models", pages.Json(TabNamesInFile, /*in_file=*/true));
  FileDocuments(os, written, "").Put("node-data", pages.NodeDataJson());
  for (size_t i = 0; i < pages.size(); ++i) {
    std::shared_ptr<Page> kept = pages.at(i);
    Page& page = *kept;
    if (!page.Differs()) continue;
    FileDocuments file(os, written, std::to_string(i) + "/");
    for (const Tab& tab : Tabs()) {
      if (tab.write && !tab.needs_server && tab.IsOn(page))
        RETURN_IF_ERROR(tab.write(pages, page, file));
    }
  }
  os << "<script>" << script << "</script>" << after_script;
  return Error::success();
}

Error SaveHtmlFile(const PageSet& pages, llvm::StringRef title, llvm::StringRef path) {
  ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(path));
  RETURN_IF_ERROR(WriteHtmlFile(pages, title, file->os()));
  return file->Commit();
}

}  // namespace grapnel
