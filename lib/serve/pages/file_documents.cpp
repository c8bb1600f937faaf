#include "lib/serve/pages/file_documents.h"

#include "lib/io/gzip.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

constexpr size_t kLongDocument = 4096;

}  // namespace

void FileDocuments::Put(llvm::StringRef path, llvm::StringRef document) {
  bool small = document.size() < kLongDocument;
  os_ << "<script type=\"application/" << (small ? "json" : "gzip") << "\" id=\"data " << prefix_
      << path << "\">";
  if (small) {
    os_ << document;
  } else {
    std::string packed;
    llvm::raw_string_ostream packed_os(packed);
    GzipStream gzip(&packed_os);
    gzip << document;
    gzip.Finish();
    os_ << llvm::encodeBase64(packed_os.str());
  }
  os_ << "</script>\n";
}

void FileChunk::Add(uint32_t number, llvm::StringRef document) {
  json_.attributeBegin(std::to_string(number));
  json_.rawValue(document);
  json_.attributeEnd();
}

std::string FileChunk::Finish() && {
  json_.objectEnd();
  os_.flush();
  return std::move(text_);
}

}  // namespace grapnel
