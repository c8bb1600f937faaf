#include "lib/serve/pages/html_file.h"

#include <array>
#include <set>

#include "lib/io/gzip.h"
#include "lib/render/page_writers.h"
#include "lib/serve/pages/debug_page.h"
#include "lib/serve/pages/passes_json.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/serve/web/web_files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SHA256.h"

namespace grapnel {
namespace {

constexpr size_t kNodesAChunk = 256;  // as source.js reads them
constexpr ScopeId kScopesAChunk = 256;
constexpr size_t kLongDocument = 4096;
constexpr size_t kCardsAChunk = 256;
constexpr size_t kMostCards = 2048;

class Bundler {
 public:
  Error Add(llvm::StringRef name) {
    if (!done_.insert(name).second) return Error::success();
    const WebFile* file = FindWebFile(name);
    if (!file) return MakeError("the page has no module '{0}'", name);
    llvm::SmallVector<llvm::StringRef, 0> lines;
    file->text.split(lines, '\n');
    std::string body;
    std::vector<std::string> exports;
    for (llvm::StringRef line : lines) {
      if (line.starts_with("import ")) {
        RETURN_IF_ERROR(Import(name, line, &body));
        continue;
      }
      if (line.consume_front("export ")) exports.push_back(DeclaredName(line).str());
      body += line.str() + "\n";
    }
    script_ += llvm::formatv("modules[\"./{0}\"] = (() => {{\n{1}return {{{2}};\n})();\n", name,
                             body, llvm::join(exports, ", "));
    return Error::success();
  }

  std::string Finish() && {
    return "\"use strict\";\n(() => {\nconst modules = {};\n" + script_ + "})();\n";
  }

 private:
  Error Import(llvm::StringRef module, llvm::StringRef line, std::string* body) {
    auto [names, from] = line.drop_front(7).rtrim("; ").split(" from ");
    llvm::StringRef path = from.trim("\"");
    if (!names.starts_with("{") || !path.consume_front("./"))
      return MakeError("{0}: cannot read '{1}'", module, line);
    RETURN_IF_ERROR(Add(path));
    *body += llvm::formatv("const {0} = modules[\"./{1}\"];\n", names, path);
    return Error::success();
  }

  // Of "async function f(", "class C ", "const x =".
  static llvm::StringRef DeclaredName(llvm::StringRef line) {
    for (llvm::StringRef word : {"async ", "function* ", "function ", "class ", "const ", "let "})
      line.consume_front(word);
    return line.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
  }

  llvm::StringSet<> done_;
  std::string script_;
};

std::string HashOf(llvm::StringRef text) {
  std::array<uint8_t, 32> hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "'sha256-" + llvm::encodeBase64(hash) + "'";
}

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

// As text, or where that is long compressed, in base64.
void WriteData(const std::string& path, llvm::StringRef document, llvm::raw_ostream& os) {
  bool small = document.size() < kLongDocument;
  os << "<script type=\"application/" << (small ? "json" : "gzip") << "\" id=\"data " << path
     << "\">";
  if (small) {
    os << document;
  } else {
    std::string packed;
    llvm::raw_string_ostream packed_os(packed);
    GzipStream gzip(&packed_os);
    gzip << document;
    gzip.Finish();
    os << llvm::encodeBase64(packed_os.str());
  }
  os << "</script>\n";
}

// Several documents as one: an object with their numbers as keys.
class Chunk {
 public:
  Chunk() : os_(text_), json_(os_) { json_.objectBegin(); }
  void Add(uint32_t number, llvm::StringRef document) {
    json_.attributeBegin(std::to_string(number));
    json_.rawValue(document);
    json_.attributeEnd();
  }
  std::string Finish() && {
    json_.objectEnd();
    os_.flush();
    return std::move(text_);
  }

 private:
  std::string text_;
  llvm::raw_string_ostream os_;
  llvm::json::OStream json_;
};

// The documents of one graph of a page.
class DataWriter {
 public:
  // `prefix`: "ENTRY/", "ENTRY/a/".
  DataWriter(GraphPage& page, std::string prefix, llvm::raw_ostream& os)
      : page_(page), prefix_(std::move(prefix)), os_(os) {}

  Error Write() {
    Put("model", page_.ModelJson());
    RETURN_IF_ERROR(FurtherLists());
    for (size_t body = 0; body < page_.num_bodies(); ++body) {
      RETURN_IF_ERROR(Scopes(body));
      RETURN_IF_ERROR(Index(body));
      RETURN_IF_ERROR(Nodes(body));
    }
    return Error::success();
  }

 private:
  void Put(const std::string& path, llvm::StringRef document) {
    WriteData(prefix_ + path, document, os_);
  }

  static std::string Path(const char* kind, size_t body) {
    return std::string(kind) + "/" + std::to_string(body);
  }

  // The outermost alone, for it is seen first; the others many at a time.
  Error Scopes(size_t body) {
    std::vector<ScopeId> scopes = page_.OpenableScopes(body);
    ASSIGN_OR_RETURN(std::string first, page_.ScopeJson(body, scopes[0]));
    Put(Path("scope", body), first);
    llvm::ArrayRef<ScopeId> rest = llvm::ArrayRef<ScopeId>(scopes).drop_front();
    while (!rest.empty()) {
      ScopeId number = rest[0] / kScopesAChunk;
      Chunk chunk;
      for (; !rest.empty() && rest[0] / kScopesAChunk == number; rest = rest.drop_front()) {
        ASSIGN_OR_RETURN(std::string document, page_.ScopeJson(body, rest[0]));
        chunk.Add(rest[0], document);
      }
      Put(Path("scopes", body) + "/" + std::to_string(number), std::move(chunk).Finish());
    }
    return Error::success();
  }

  Error Index(size_t body) {
    NodeId end = page_.graph(body).end_id();
    NodeId from = 0;
    do {
      ASSIGN_OR_RETURN(IndexPage document, page_.IndexJson(body, from, kIndexPage));
      Put(Path("index", body) + "/" + std::to_string(from), document.json);
      from = document.next;
    } while (from < end);
    return Error::success();
  }

  Error Nodes(size_t body) {
    const Graph& graph = page_.graph(body);
    for (NodeId begin = 0; begin < graph.end_id(); begin += kNodesAChunk) {
      Chunk chunk;
      for (NodeId id = begin; id < std::min<size_t>(begin + kNodesAChunk, graph.end_id()); ++id) {
        if (!graph.IsAlive(id)) continue;
        ASSIGN_OR_RETURN(std::string document, page_.NodeJson(body, id));
        RETURN_IF_ERROR(FurtherReaders(body, id));
        chunk.Add(id, document);
      }
      Put(Path("nodes", body) + "/" + std::to_string(begin / kNodesAChunk),
          std::move(chunk).Finish());
    }
    return Error::success();
  }

  // What the model's document leaves out of long lists.
  Error FurtherLists() {
    for (size_t from = kFirstListed; from < page_.num_problems(); from += kListedAPage)
      Put("problems/" + std::to_string(from), page_.ProblemsJson(from));
    std::vector<size_t> counts = page_.MarkedCounts();
    for (size_t kind = 0; kind < counts.size(); ++kind) {
      for (size_t from = kFirstListed; from < counts[kind]; from += kListedAPage) {
        ASSIGN_OR_RETURN(std::string document, page_.MarkedJson(kind, from));
        Put(Path("marked", kind) + "/" + std::to_string(from), document);
      }
    }
    return Error::success();
  }

  // What the document of a node with many readers leaves out.
  Error FurtherReaders(size_t body, NodeId id) {
    Node node = page_.graph(body).node(id);
    if (node.uses().size() <= kFirstListed) return Error::success();
    size_t count = ShownOutputs(node);
    for (size_t output = 0; output <= count; ++output) {
      size_t readers =
          node.UsesOf(output == count ? kControlPort : static_cast<int>(output)).size();
      for (size_t from = kFirstListed; from < readers; from += kListedAPage) {
        ASSIGN_OR_RETURN(std::string document, page_.ReadersJson(body, id, output, from));
        Put(Path("readers", body) + "/" + std::to_string(id) + "/" + std::to_string(output) + "/" +
                std::to_string(from),
            document);
      }
    }
    return Error::success();
  }

  GraphPage& page_;
  std::string prefix_;
  llvm::raw_ostream& os_;
};

using Put = llvm::function_ref<void(const std::string& path, llvm::StringRef document)>;

// Of the first records, and those around causes.
Error WriteCards(const DebugPage& page, bool trace, Put put) {
  size_t count = trace ? page.num_traces() : page.num_executions();
  std::set<size_t> chunks;
  for (size_t i = 0; i < std::min(count, kMostCards); i += kCardsAChunk)
    chunks.insert(i / kCardsAChunk);
  for (const DebugAlert& cause : page.Causes())
    if (int index = trace ? cause.trace : cause.execution; index >= 0)
      chunks.insert(index / kCardsAChunk);
  for (size_t number : chunks) {
    Chunk chunk;
    for (size_t i = number * kCardsAChunk; i < std::min((number + 1) * kCardsAChunk, count); ++i) {
      ASSIGN_OR_RETURN(std::string card, trace ? page.TraceJson(i) : page.ExecutionJson(i));
      chunk.Add(static_cast<uint32_t>(i), card);
    }
    put((trace ? "cards/trace/" : "cards/execution/") + std::to_string(number),
        std::move(chunk).Finish());
  }
  return Error::success();
}

// The report, the lists, the user's sources, and the cards of as many records as a file can take.
Error WriteDebug(const DebugPage& page, size_t entry, llvm::raw_ostream& os) {
  auto put = [&](const std::string& path, llvm::StringRef document) {
    WriteData(std::to_string(entry) + "/" + path, document, os);
  };
  put("debug", page.Json());
  put("sources", page.SourcesJson());
  for (size_t from = 0; from == 0 || from < page.num_traces(); from += kTracesAPage)
    put("traces/" + std::to_string(from), page.TracesJson(from, kTracesAPage));
  for (size_t from = 0; from == 0 || from < page.num_executions(); from += kTracesAPage)
    put("executions/" + std::to_string(from), page.ExecutionsJson(from, kTracesAPage));
  for (bool trace : {true, false}) RETURN_IF_ERROR(WriteCards(page, trace, put));
  for (size_t source = 0; source < page.num_sources(); ++source) {
    if (page.IsFramework(source)) continue;
    ASSIGN_OR_RETURN(std::string document, page.SourceJson(source));
    put("source/" + std::to_string(source), document);
  }
  return Error::success();
}

// A run's table, once, and each stage's rewrites; of a comparison both graphs alone. Those of
// stages are left out: they would make the file three times as large.
Error WriteBeside(PageSet& pages, Page& page, llvm::raw_ostream& os) {
  std::string prefix = std::to_string(page.number()) + "/";
  if (auto* stage = llvm::dyn_cast<StagePage>(&page)) {
    if (stage->first() == stage->number())
      WriteData(prefix + "passes", PassesJson(pages, *stage), os);
    if (stage->HasPanes() && !stage->rewrites().empty()) {
      ASSIGN_OR_RETURN(std::string rewrites, RewritesJson(*stage));
      WriteData(prefix + "rewrites", rewrites, os);
    }
    return Error::success();
  }
  if (!page.HasPanes()) return Error::success();
  ASSIGN_OR_RETURN(Panes * panes, page.SideBySide());
  WriteData(prefix + "match", panes->MatchJson(), os);
  RETURN_IF_ERROR(DataWriter(panes->a(), prefix + "a/", os).Write());
  return DataWriter(panes->b(), prefix + "b/", os).Write();
}

}  // namespace

Expected<std::string> BundleScript(llvm::StringRef entry) {
  Bundler bundler;
  RETURN_IF_ERROR(bundler.Add(entry));
  return std::move(bundler).Finish();
}

Error WriteHtmlFile(PageSet& pages, llvm::StringRef title, llvm::raw_ostream& os) {
  ASSIGN_OR_RETURN(std::string script, BundleScript("page.js"));
  llvm::StringRef style = FindWebFile("page.css")->text;
  llvm::StringRef html = FindWebFile("index.html")->text;
  std::string policy = "default-src 'none'; script-src " + HashOf(script) + "; style-src " +
                       HashOf(style) + "; img-src data:; base-uri 'none'; form-action 'none'";
  auto [before_title, after_title] = html.split("<title>grapnel</title>");
  auto [before_style, after_style] =
      after_title.split("<link rel=\"stylesheet\" href=\"page.css\">");
  auto [before_script, after_script] =
      after_style.split("<script type=\"module\" src=\"page.js\"></script>");
  os << before_title << "<meta http-equiv=\"Content-Security-Policy\" content=\"" << policy
     << "\">\n<title>" << Escaped(title) << "</title>" << before_style << "<style>" << style
     << "</style>" << before_script;
  WriteData("models", pages.Json(), os);
  for (size_t i = 0; i < pages.size(); ++i) {
    Page& page = pages.at(i);
    if (const auto* debug = llvm::dyn_cast<DebugPage>(&page))
      RETURN_IF_ERROR(WriteDebug(*debug, i, os));
    if (!page.Differs()) continue;
    ASSIGN_OR_RETURN(GraphPage * drawing, page.Drawing());
    RETURN_IF_ERROR(DataWriter(*drawing, std::to_string(i) + "/", os).Write());
    RETURN_IF_ERROR(WriteBeside(pages, page, os));
  }
  os << "<script>" << script << "</script>" << after_script;
  return Error::success();
}

}  // namespace grapnel
