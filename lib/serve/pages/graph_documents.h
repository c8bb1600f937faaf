// Writes all documents of one drawn graph into a file.
#ifndef GRAPNEL_LIB_SERVE_PAGES_GRAPH_DOCUMENTS_H_
#define GRAPNEL_LIB_SERVE_PAGES_GRAPH_DOCUMENTS_H_

#include "lib/render/graph_page.h"
#include "lib/serve/pages/file_documents.h"
#include "lib/support/error.h"

namespace grapnel {

// Writes the rows of every scope and node; some 15 bytes per node.
Error WriteGraphDocuments(GraphPage& page, FileDocuments& file);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_GRAPH_DOCUMENTS_H_
