// Writes the documents of a page into a file, under the paths by which a server would answer.
#ifndef GRAPNEL_LIB_SERVE_PAGES_FILE_DOCUMENTS_H_
#define GRAPNEL_LIB_SERVE_PAGES_FILE_DOCUMENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/render/page_rows.h"
#include "lib/support/task_queue.h"
#include "lib/support/thread_pool.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct FileDocument {
  std::string path, bytes;
  bool is_table = false;  // columns (lib/render/columns.h); else JSON
};

// Writes HTML elements with documents, which source.js reads. Long documents and tables are
// compressed, in base64; the browser unpacks a document when it first needs it. If the file already
// contains an equal document, writes only that document's path, unless the document is about as
// short as a path: retraced functions, and stages of one run, share many. JSON must come from
// PageDocument, so that it can be embedded in HTML.
//
// Tables of rows have numbers of texts, and the texts are in documents of their own, "texts/KIND/0"
// and so on. So each text is in the file once, though many rows, and all graphs of a comparison or
// of a run of passes, have it.
class DocumentFile {
 public:
  // The stream and `pool` must outlive this object.
  DocumentFile(llvm::raw_ostream& os, ThreadPool& pool)
      : os_(os), pool_(pool), writer_(/*is_threaded=*/pool.num_threads() > 1) {}
  DocumentFile(const DocumentFile&) = delete;
  DocumentFile& operator=(const DocumentFile&) = delete;

  // With several threads, Put and PutRows return before all is written: another thread compresses
  // and writes, in the order of the calls.

  // Writes the documents in this order, compressing several at a time.
  void Put(std::vector<FileDocument> documents);

  // The texts of the nodes that are already in the file.
  const KnownNodeTexts& known() const { return known_; }

  // Writes `count` tables, the i-th with the rows that make(i) returns, as `path` + "i". Makes
  // several at a time, so make() must be thread-safe.
  using MakeRows = llvm::function_ref<std::unique_ptr<PageRows>(size_t i)>;
  void PutRows(const std::string& path, size_t count, MakeRows make);

  // Writes the texts that are not written yet, and waits until all is written. The last call.
  void Finish();

 private:
  // The texts of one kind: the numbers of all, and those that are not in a document yet.
  struct Texts {
    llvm::DenseMap<std::pair<uint64_t, uint64_t>, uint32_t> numbers;  // by length and hash
    std::vector<std::string> waiting;
    size_t documents = 0;
  };

  using Rows = std::vector<std::unique_ptr<PageRows>>;
  void WriteRows(const std::string& path, size_t first, Rows rows);
  void Learn();
  void Write(std::vector<FileDocument> documents);
  TextNumbers NumbersFor(const PageTexts& texts, std::vector<FileDocument>* full);
  FileDocument TakeWaiting(size_t kind);

  llvm::raw_ostream& os_;
  ThreadPool& pool_;
  // The paths of documents that are already in the file, by length and hash.
  std::map<std::pair<uint64_t, uint64_t>, std::string> written_;
  std::array<Texts, kNumTextKinds> texts_;
  KnownNodeTexts known_;
  // The texts that the writer has found. PutRows adds them to known_ while no make() runs, which
  // may read known_.
  std::mutex mutex_;
  std::vector<std::pair<KnownNodeTexts::Key, SharedTexts>> learned_;  // guarded by mutex_
  TaskQueue writer_;  // uses all of the above but known_; last, so that it ends first
};

// The documents of one page or of one of its graphs.
class FileDocuments {
 public:
  // `prefix`: the beginning of every path, "0/" for the first page.
  FileDocuments(DocumentFile& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}
  FileDocuments Under(llvm::StringRef folder) const { return {file_, prefix_ + folder.str()}; }

  void Put(llvm::StringRef path, std::string json);
  void PutTable(llvm::StringRef path, std::string table);
  void PutRows(llvm::StringRef path, size_t count, DocumentFile::MakeRows make);
  const KnownNodeTexts& known() const { return file_.known(); }

 private:
  DocumentFile& file_;
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
