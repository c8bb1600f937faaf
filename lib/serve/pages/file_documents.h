// The documents of a page that is a file: what a server would answer, by the same names.
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

// What a file holds already, by length and hash: the paths of its documents.
using WrittenDocuments = std::map<std::pair<size_t, uint64_t>, std::string>;

// Writes elements that source.js reads. The stream and `written` outlive it.
class FileDocuments {
 public:
  // `prefix`: what every path begins with, "0/" of the first page.
  FileDocuments(llvm::raw_ostream& os, WrittenDocuments& written, std::string prefix)
      : os_(os), written_(written), prefix_(std::move(prefix)) {}
  FileDocuments Under(llvm::StringRef folder) const {
    return {os_, written_, prefix_ + folder.str()};
  }

  // `document`: of PageDocument, so that it can stand in HTML. As text, where it is long
  // compressed, in base64, and where the file holds an equal one, as that one's path: functions
  // that were traced again, and stages of one run, share many.
  void Put(llvm::StringRef path, llvm::StringRef document);

 private:
  llvm::raw_ostream& os_;
  WrittenDocuments& written_;
  std::string prefix_;
};

// Several documents as one: an object with their numbers as keys.
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
