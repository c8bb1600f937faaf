#include "lib/serve/pages/graph_documents.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/render/page_writers.h"
#include "lib/render/shown_outputs.h"

namespace grapnel {
namespace {

constexpr size_t kNodesAChunk = 256;  // as in source.js
constexpr ScopeId kScopesAChunk = 256;

class DocumentsWriter {
 public:
  DocumentsWriter(GraphPage& page, FileDocuments& file) : page_(page), file_(file) {}

  Error Write() {
    file_.Put("model", page_.ModelJson());
    file_.Put("facets", page_.FacetsJson());
    RETURN_IF_ERROR(FurtherLists());
    for (size_t body = 0; body < page_.num_bodies(); ++body) {
      RETURN_IF_ERROR(Scopes(body));
      RETURN_IF_ERROR(Index(body));
      RETURN_IF_ERROR(Nodes(body));
    }
    return Error::success();
  }

 private:
  static std::string Path(const char* kind, size_t body) {
    return std::string(kind) + "/" + std::to_string(body);
  }

  // Writes the outermost scope as a document of its own, because it is shown first; the other
  // scopes in chunks.
  Error Scopes(size_t body) {
    std::vector<ScopeId> scopes = page_.OpenableScopes(body);
    ASSIGN_OR_RETURN(std::string first, page_.ScopeJson(body, scopes[0]));
    file_.Put(Path("scope", body), first);
    llvm::ArrayRef<ScopeId> rest = llvm::ArrayRef<ScopeId>(scopes).drop_front();
    while (!rest.empty()) {
      ScopeId number = rest[0] / kScopesAChunk;
      FileChunk chunk;
      for (; !rest.empty() && rest[0] / kScopesAChunk == number; rest = rest.drop_front()) {
        ASSIGN_OR_RETURN(std::string document, page_.ScopeJson(body, rest[0]));
        chunk.Add(rest[0], document);
      }
      file_.Put(Path("scopes", body) + "/" + std::to_string(number), std::move(chunk).Finish());
    }
    return Error::success();
  }

  Error Index(size_t body) {
    NodeId end = page_.graph(body).end_id();
    NodeId from = 0;
    do {
      ASSIGN_OR_RETURN(IndexPage document, page_.IndexJson(body, from, kIndexPage));
      file_.Put(Path("index", body) + "/" + std::to_string(from), document.json);
      ASSIGN_OR_RETURN(IndexPage links, page_.LinksJson(body, from, kIndexPage));
      file_.Put(Path("links", body) + "/" + std::to_string(from), links.json);
      from = document.next;
    } while (from < end);
    return Error::success();
  }

  Error Nodes(size_t body) {
    const Graph& graph = page_.graph(body);
    for (NodeId begin = 0; begin < graph.end_id(); begin += kNodesAChunk) {
      FileChunk chunk;
      for (NodeId id = begin; id < std::min<size_t>(begin + kNodesAChunk, graph.end_id()); ++id) {
        if (!graph.IsAlive(id)) continue;
        ASSIGN_OR_RETURN(std::string document, page_.NodeJson(body, id));
        RETURN_IF_ERROR(FurtherReaders(body, id));
        chunk.Add(id, document);
      }
      file_.Put(Path("nodes", body) + "/" + std::to_string(begin / kNodesAChunk),
                std::move(chunk).Finish());
    }
    return Error::success();
  }

  // Writes the parts of long lists that are not in the model's document.
  Error FurtherLists() {
    for (size_t from = kFirstListed; from < page_.num_problems(); from += kListedAPage)
      file_.Put("problems/" + std::to_string(from), page_.ProblemsJson(from));
    std::vector<size_t> counts = page_.MarkedCounts();
    for (size_t kind = 0; kind < counts.size(); ++kind) {
      for (size_t from = kFirstListed; from < counts[kind]; from += kListedAPage) {
        ASSIGN_OR_RETURN(std::string document, page_.MarkedJson(kind, from));
        file_.Put(Path("marked", kind) + "/" + std::to_string(from), document);
      }
    }
    return Error::success();
  }

  // Writes the readers that are not in a node's document.
  Error FurtherReaders(size_t body, NodeId id) {
    Node node = page_.graph(body).node(id);
    if (node.uses().size() <= kFirstListed) return Error::success();
    std::vector<int32_t> ports = ShownOutputs(node);
    ports.push_back(kControlPort);
    for (size_t output = 0; output < ports.size(); ++output) {
      size_t readers = node.UsesOf(ports[output]).size();
      for (size_t from = kFirstListed; from < readers; from += kListedAPage) {
        ASSIGN_OR_RETURN(std::string document, page_.ReadersJson(body, id, output, from));
        file_.Put(Path("readers", body) + "/" + std::to_string(id) + "/" + std::to_string(output) +
                      "/" + std::to_string(from),
                  document);
      }
    }
    return Error::success();
  }

  GraphPage& page_;
  FileDocuments& file_;
};

}  // namespace

Error WriteGraphDocuments(GraphPage& page, FileDocuments& file) {
  return DocumentsWriter(page, file).Write();
}

}  // namespace grapnel
