#include "lib/serve/pages/file_documents.h"

#include "lib/support/gzip.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

constexpr size_t kShortDocument = 128;  // shorter documents take no more room than a path
constexpr size_t kLongDocument = 4096;

}  // namespace

void FileDocuments::Put(llvm::StringRef path, llvm::StringRef document) {
  std::string own = prefix_ + path.str(), text = document.str();
  llvm::StringRef type = "application/json";
  if (document.size() > kShortDocument) {
    auto [first, is_new] =
        written_.try_emplace({document.size(), llvm::xxh3_64bits(document)}, own);
    if (!is_new) {
      type = "text/plain";
      text = first->second;
    } else if (document.size() >= kLongDocument) {
      type = "application/gzip";
      std::string packed;
      llvm::raw_string_ostream packed_os(packed);
      GzipStream gzip(&packed_os);
      gzip << document;
      gzip.Finish();
      text = llvm::encodeBase64(packed_os.str());
    }
  }
  os_ << "<script type=\"" << type << "\" id=\"data " << own << "\">" << text << "</script>\n";
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
