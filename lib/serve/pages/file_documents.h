// Writes the documents of a page into a file, under the paths by which a server would answer.
#ifndef GRAPNEL_LIB_SERVE_PAGES_FILE_DOCUMENTS_H_
#define GRAPNEL_LIB_SERVE_PAGES_FILE_DOCUMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// The paths of documents that are already in the file, by length and hash.
using WrittenDocuments = std::map<std::pair<size_t, uint64_t>, std::string>;

// Writes HTML elements with documents, which source.js reads. The stream and `written` must outlive
// this object.
class FileDocuments {
 public:
  // `prefix`: the beginning of every path, "0/" for the first page.
  FileDocuments(llvm::raw_ostream& os, WrittenDocuments& written, std::string prefix)
      : os_(os), written_(written), prefix_(std::move(prefix)) {}
  FileDocuments Under(llvm::StringRef folder) const {
    return {os_, written_, prefix_ + folder.str()};
  }

  // `document` must come from PageDocument, so that it can be embedded in HTML. Long documents are
  // compressed, in base64. If the file already contains an equal document, writes only that
  // document's path: retraced functions, and stages of one run, share many.
  void Put(llvm::StringRef path, llvm::StringRef document);

 private:
  llvm::raw_ostream& os_;
  WrittenDocuments& written_;
  std::string prefix_;
};

// Combines several documents into one: a JSON object with the documents' numbers as keys.
class FileChunk {
 public:
  FileChunk() : os_(text_), json_(os_) { json_.objectBegin(); }
  void Add(uint32_t number, llvm::StringRef document);
  std::string Finish() &&;

 private:
  std::string text_;
  llvm::raw_string_ostream os_;
  llvm::json::OStream json_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_FILE_DOCUMENTS_H_
