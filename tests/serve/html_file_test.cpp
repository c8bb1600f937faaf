#include "lib/serve/routes/html_file.h"

#include <gtest/gtest.h>

#include "lib/render/web/script_bundle.h"
#include "lib/serve/pages/model_page.h"
#include "lib/serve/web/web_files.h"
#include "lib/support/gzip.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

std::string HtmlOf(const Module& module, llvm::StringRef title, int threads = 0) {
  GraphInFile file;  // a page points to it
  PageSet pages;
  pages.Add(std::make_unique<ModelPage>(module, file, title.str()));
  std::string html;
  llvm::raw_string_ostream os(html);
  Error error = WriteHtmlFile(pages, title, threads, os);
  EXPECT_FALSE(static_cast<bool>(error));
  return os.str();
}

size_t Count(llvm::StringRef text, llvm::StringRef what) { return text.count(what); }

TEST(HtmlFile, NamesAreDataNeverMarkup) {
  Module module;
  std::string name = "</script><script>alert(1)</script>";
  NodeId x = module.main.AddNode(name, "Placeholder");
  module.main.AddInput(module.main.AddNode("\"'><img src=x onerror=alert(2)>", "Relu"), {x, 0});
  std::string html = HtmlOf(module, "<b>title</b>&\"");
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(Count(html, "<script"), Count(html, "</script>"));
}

TEST(HtmlFile, FetchesNothing) {
  Module module;
  module.main.AddNode("x", "Placeholder");
  std::string html = HtmlOf(module, "x");
  constexpr llvm::StringLiteral kSvg = "\"http://www.w3.org/2000/svg\"";  // a name, not an address
  size_t svg = html.find(kSvg.str());
  ASSERT_NE(svg, std::string::npos);
  html.erase(svg, kSvg.size());
  for (const char* outside : {"http://", "https://", "src=\"page", "href=\"page", "@import"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_NE(html.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
}

// Adds a chain of nodes in scopes.
void AddChain(int count, Module& module) {
  NodeId x = module.main.AddNode("a/x", "Placeholder");
  for (int i = 0; i < count; ++i) {
    NodeId next = module.main.AddNode("a/b" + std::to_string(i / 100) + "/n" + std::to_string(i),
                                      i % 3 == 0 ? "Neg" : "Relu");
    module.main.AddInput(next, {x, 0});
    x = next;
  }
}

TEST(HtmlFile, DocumentsParse) {
  Module module;
  AddChain(3000, module);
  std::string html = HtmlOf(module, "x");
  llvm::StringRef rest = html;
  size_t plain = 0, packed = 0, tables = 0;
  for (size_t at; (at = rest.find("<script type=\"application/")) != llvm::StringRef::npos;) {
    rest = rest.substr(at);
    llvm::StringRef tag = rest.take_front(rest.find('>'));
    bool is_packed = tag.contains("gzip");
    bool is_table = llvm::any_of(llvm::ArrayRef({"nodes/", "scopes/", "texts/"}),
                                 [&](const char* kind) { return tag.contains(kind); });
    rest = rest.substr(rest.find('>') + 1);
    std::string document = rest.take_front(rest.find("</script>")).str();
    if (is_packed) {
      std::vector<char> bytes;
      llvm::cantFail(llvm::decodeBase64(document, bytes));
      document = llvm::cantFail(Inflate(llvm::StringRef(bytes.data(), bytes.size()))).bytes;
    }
    if (is_table) {
      EXPECT_TRUE(is_packed) << tag.str();
      EXPECT_FALSE(document.empty()) << tag.str();
      ++tables;
      continue;
    }
    auto parsed = llvm::json::parse(document);
    EXPECT_TRUE(static_cast<bool>(parsed)) << llvm::toString(parsed.takeError());
    ++(is_packed ? packed : plain);
  }
  EXPECT_GE(plain + packed, 3u);  // models, the model, facets
  EXPECT_GE(tables, 6u);          // nodes, scopes, texts
}

// A node takes a few bytes, also in a chain without equal scopes.
TEST(HtmlFile, NodesAreSmall) {
  Module small, large;
  AddChain(1000, small);
  AddChain(11000, large);
  EXPECT_LT(HtmlOf(large, "x").size() - HtmlOf(small, "x").size(), 10000 * 16);
}

TEST(HtmlFile, SameGraphSameBytes) {
  Module module;
  AddChain(5000, module);
  std::string html = HtmlOf(module, "x", /*threads=*/1);
  EXPECT_EQ(HtmlOf(module, "x", /*threads=*/1), html);
  EXPECT_EQ(HtmlOf(module, "x", /*threads=*/4), html);
}

TEST(WebFiles, ScriptsFitAScreen) {
  for (const WebFile& file : WebFiles()) {
    if (!file.name.ends_with(".js")) continue;
    llvm::SmallVector<llvm::StringRef, 0> lines;
    file.text.split(lines, '\n');
    EXPECT_LE(lines.size(), 400u) << file.name.str();
    for (llvm::StringRef line : lines) EXPECT_LE(line.size(), 110u) << line.str();
  }
}

TEST(ScriptBundle, EveryModuleIsInIt) {
  auto script = BundleScripts(PageScripts(), FindWebFile);
  ASSERT_TRUE(static_cast<bool>(script)) << llvm::toString(script.takeError());
  for (const WebFile& file : WebFiles()) {
    if (!file.name.ends_with(".js")) continue;
    // Entry points and painters for pictures without a page, and entry points for tests.
    if (file.name == "picture_file.js" || file.name == "paint_context.js") continue;
    if (file.name == "for_tests.js") continue;
    EXPECT_NE(script->find("modules[\"./" + file.name.str() + "\"] = "), std::string::npos)
        << file.name.str();
  }
  llvm::SmallVector<llvm::StringRef, 0> lines;
  llvm::StringRef(*script).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    EXPECT_FALSE(line.starts_with("import ")) << line.str();
    EXPECT_FALSE(line.starts_with("export ")) << line.str();
  }
  auto missing = BundleScripts({"nothing.js"}, FindWebFile);
  EXPECT_FALSE(static_cast<bool>(missing));
  llvm::consumeError(missing.takeError());
}

}  // namespace
}  // namespace grapnel
