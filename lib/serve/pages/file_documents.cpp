#include "lib/serve/pages/file_documents.h"

#include <algorithm>

#include "lib/render/columns.h"
#include "lib/support/gzip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

constexpr size_t kShortDocument = 128;   // shorter documents take no more room than a path
constexpr size_t kLongDocument = 4096;   // shorter JSON is not compressed
constexpr size_t kTextsADocument = 256;  // as in source.js
constexpr size_t kTablesAtOnce = 64;     // bounds the memory for tables that are being made
constexpr size_t kMostWaiting = 1;       // times kTablesAtOnce: tables that wait for the writer
constexpr double kCostOfTable = 1e6;     // nanoseconds

std::pair<uint64_t, uint64_t> KeyOf(llvm::StringRef bytes) {
  return {bytes.size(), llvm::xxh3_64bits(bytes)};
}

std::string Packed(llvm::StringRef bytes) { return llvm::encodeBase64(Gzip(bytes)); }

}  // namespace

void DocumentFile::Put(std::vector<FileDocument> documents) {
  writer_.Add([this, documents = std::move(documents)]() mutable { Write(std::move(documents)); });
}

void DocumentFile::Learn() {
  std::lock_guard lock(mutex_);
  for (const auto& [key, texts] : learned_) known_.Add(key, texts);
  learned_.clear();
}

void DocumentFile::Write(std::vector<FileDocument> documents) {
  std::vector<const char*> types(documents.size(), "application/json");
  std::vector<size_t> long_ones;
  for (size_t i = 0; i < documents.size(); ++i) {
    FileDocument& document = documents[i];
    if (document.bytes.size() > kShortDocument) {
      auto [first, is_new] = written_.try_emplace(KeyOf(document.bytes), document.path);
      if (!is_new) {
        types[i] = "text/plain";
        document.bytes = first->second;
        continue;
      }
    }
    if (!document.is_table && document.bytes.size() < kLongDocument) continue;
    types[i] = "application/gzip";
    long_ones.push_back(i);
  }
  auto pack = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::string& bytes = documents[long_ones[i]].bytes;
      bytes = Packed(bytes);
    }
  };
  pool_.ParallelFor(static_cast<int64_t>(long_ones.size()), kCostOfTable, pack);
  for (size_t i = 0; i < documents.size(); ++i)
    os_ << "<script type=\"" << types[i] << "\" id=\"data " << documents[i].path << "\">"
        << documents[i].bytes << "</script>\n";
}

void DocumentFile::PutRows(const std::string& path, size_t count, MakeRows make) {
  for (size_t first = 0; first < count; first += kTablesAtOnce) {
    size_t some = std::min(kTablesAtOnce, count - first);
    Learn();
    Rows rows(some);
    pool_.ParallelFor(static_cast<int64_t>(some), kCostOfTable, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) rows[i] = make(first + i);
    });
    auto write = [this, path, first, rows = std::move(rows)]() mutable {
      WriteRows(path, first, std::move(rows));
    };
    writer_.AwaitWeight(kMostWaiting);
    writer_.Add(std::move(write), /*weight=*/1);
  }
}

void DocumentFile::WriteRows(const std::string& path, size_t first, Rows rows) {
  std::vector<FileDocument> documents;
  std::vector<std::pair<KnownNodeTexts::Key, SharedTexts>> learned;
  std::vector<TextNumbers> numbers;
  numbers.reserve(rows.size());
  for (const auto& one : rows) {
    numbers.push_back(NumbersFor(one->texts(), &documents));
    auto number = [&](PageTextKind kind, uint32_t own) {
      return numbers.back()[static_cast<size_t>(kind)][own];
    };
    one->node_texts().ForEachShared([&](KnownNodeTexts::Key key, SharedTexts texts) {
      learned.push_back({key,
                         {number(PageTextKind::kTraits, texts.traits),
                          number(PageTextKind::kPanel, texts.panel)}});
    });
  }
  {
    std::lock_guard lock(mutex_);
    llvm::append_range(learned_, learned);
  }
  size_t tables = documents.size();
  documents.resize(tables + rows.size());
  auto make = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      documents[tables + i] = {path + std::to_string(first + i), rows[i]->Table(&numbers[i]),
                               /*is_table=*/true};
      rows[i] = nullptr;
    }
  };
  pool_.ParallelFor(static_cast<int64_t>(rows.size()), kCostOfTable, make);
  Write(std::move(documents));
}

void DocumentFile::Finish() {
  writer_.Await();
  std::vector<FileDocument> documents;
  for (size_t kind = 0; kind < kNumTextKinds; ++kind)
    if (!texts_[kind].waiting.empty()) documents.push_back(TakeWaiting(kind));
  Put(std::move(documents));
  writer_.Await();
}

// Returns the file's numbers for the texts. Appends the documents of texts that are now full.
TextNumbers DocumentFile::NumbersFor(const PageTexts& texts, std::vector<FileDocument>* full) {
  TextNumbers numbers;
  for (size_t kind = 0; kind < kNumTextKinds; ++kind) {
    Texts& of_kind = texts_[kind];
    numbers[kind].push_back(0);
    for (llvm::StringRef text : texts.Of(kind)) {
      auto next = static_cast<uint32_t>(of_kind.numbers.size() + 1);
      auto [it, is_new] = of_kind.numbers.try_emplace(KeyOf(text), next);
      numbers[kind].push_back(it->second);
      if (!is_new) continue;
      of_kind.waiting.push_back(text.str());
      if (of_kind.waiting.size() == kTextsADocument) full->push_back(TakeWaiting(kind));
    }
  }
  return numbers;
}

FileDocument DocumentFile::TakeWaiting(size_t kind) {
  Texts& of_kind = texts_[kind];
  ColumnWriter columns;
  columns.Texts("text",
                std::vector<llvm::StringRef>(of_kind.waiting.begin(), of_kind.waiting.end()));
  of_kind.waiting.clear();
  return {("texts/" + TextKindName(kind) + "/").str() + std::to_string(of_kind.documents++),
          std::move(columns).Finish(), /*is_table=*/true};
}

void FileDocuments::Put(llvm::StringRef path, std::string json) {
  file_.Put({{prefix_ + path.str(), std::move(json), /*is_table=*/false}});
}

void FileDocuments::PutTable(llvm::StringRef path, std::string table) {
  file_.Put({{prefix_ + path.str(), std::move(table), /*is_table=*/true}});
}

void FileDocuments::PutRows(llvm::StringRef path, size_t count, DocumentFile::MakeRows make) {
  file_.PutRows(prefix_ + path.str(), count, make);
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
