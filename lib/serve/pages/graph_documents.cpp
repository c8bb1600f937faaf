#include "lib/serve/pages/graph_documents.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/render/page_body.h"
#include "lib/render/shown_outputs.h"

namespace grapnel {
namespace {

constexpr NodeId kNodesATable = 1024;  // as in file_rows.js, like the next
constexpr ScopeId kScopesATable = 256;

size_t TablesFor(size_t rows, size_t rows_a_table) {
  return (rows + rows_a_table - 1) / rows_a_table;
}

class DocumentsWriter {
 public:
  DocumentsWriter(GraphPage& page, FileDocuments& file) : page_(page), file_(file) {}

  Error Write() {
    file_.Put("model", page_.ModelJson());
    file_.Put("facets", page_.FacetsJson());
    file_.Put("layers", page_.LayersJson());
    RETURN_IF_ERROR(FurtherLists());
    for (size_t body = 0; body < page_.num_bodies(); ++body) {
      file_.PutRows(Path("scopes", body) + "/", TablesFor(page_.num_scopes(body), kScopesATable),
                    [&](ScopeId i) {
                      return page_.ScopeRows(body, i * kScopesATable, (i + 1) * kScopesATable);
                    });
      file_.PutRows(Path("nodes", body) + "/", TablesFor(page_.graph(body).end_id(), kNodesATable),
                    [&](NodeId i) {
                      return page_.NodeRows(body, i * kNodesATable, (i + 1) * kNodesATable,
                                            file_.known());
                    });
      for (Node node : page_.graph(body).nodes()) RETURN_IF_ERROR(FurtherReaders(body, node));
    }
    return Error::success();
  }

 private:
  static std::string Path(const char* kind, size_t body) {
    return std::string(kind) + "/" + std::to_string(body);
  }

  // Writes the parts of long lists that are not in the model's document.
  Error FurtherLists() {
    for (size_t from = kFirstListed; from < page_.num_problems(); from += kListedAPage)
      file_.Put("problems/" + std::to_string(from), page_.ProblemsJson(from));
    std::vector<size_t> counts = page_.MarkedCounts();
    for (size_t kind = 0; kind < counts.size(); ++kind) {
      for (size_t from = kFirstListed; from < counts[kind]; from += kListedAPage) {
        ASSIGN_OR_RETURN(std::string document, page_.MarkedJson(kind, from));
        file_.Put(Path("marked", kind) + "/" + std::to_string(from), std::move(document));
      }
    }
    return Error::success();
  }

  // Writes the readers that are not in a node's row.
  Error FurtherReaders(size_t body, const Node& node) {
    if (node.uses().size() <= kFirstListed) return Error::success();
    std::vector<int32_t> ports = ShownOutputs(node);
    ports.push_back(kControlPort);
    for (size_t output = 0; output < ports.size(); ++output) {
      size_t readers = node.UsesOf(ports[output]).size();
      for (size_t from = kFirstListed; from < readers; from += kListedAPage) {
        ASSIGN_OR_RETURN(std::string table, page_.ReadersTable(body, node.id(), output, from,
                                                               /*with_names=*/false));
        file_.PutTable(Path("readers", body) + "/" + std::to_string(node.id()) + "/" +
                           std::to_string(output) + "/" + std::to_string(from),
                       std::move(table));
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
