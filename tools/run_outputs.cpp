#include "tools/run_outputs.h"

#include <limits>

#include "lib/io/value.h"
#include "lib/job/job_json.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "lib/watch/array_text.h"
#include "llvm/Support/Path.h"
#include "tools/document.h"
#include "tools/run_flags.h"

namespace grapnel {

void PrintFlags::AddTo(CommandLine& line, const std::string& when) {
  line.Flag("--all", all,
            (when + "print every element; default: as NumPy, only the corners of a tensor with "
                    "more than 1000, and in JSON the first 8")
                .c_str());
  line.Flag("--exact", exact,
            (when + "print each tensor on one line, as exactly as the text form of a graph has it "
                    "(docs/reference/text.md): the first 8 elements, or --all")
                .c_str());
}

std::vector<Fetched> FetchedBy(llvm::ArrayRef<std::string> tensors,
                               llvm::ArrayRef<std::string> names,
                               llvm::ArrayRef<std::string> asked) {
  std::vector<Fetched> fetched;
  for (size_t i = 0; i < tensors.size(); ++i) fetched.push_back({tensors[i], names[i], ""});
  for (size_t i = 0; i < asked.size(); ++i) fetched[i].file = SplitAssignment(asked[i]).second;
  return fetched;
}

Error CheckFoldersOf(llvm::ArrayRef<std::string> asked) {
  for (const std::string& text : asked) {
    std::string file = SplitAssignment(text).second;
    llvm::StringRef folder = llvm::sys::path::parent_path(file);
    if (!folder.empty() && !IsDirectory(folder))
      return MakeError("{0}: cannot write: folder {1} does not exist", file, folder);
  }
  return Error::success();
}

static std::string TypeText(const Tensor& value) {
  return (DataTypeName(value.dtype()) + DimsText(value.dims())).str();
}

static std::string ValueText(const Tensor& value, const PrintFlags& flags) {
  if (flags.exact)
    return flags.all ? value.ToString(std::numeric_limits<int>::max()) : value.ToString();
  ArrayTextOptions options;
  if (flags.all) options.threshold = std::numeric_limits<int64_t>::max();
  std::string elements = ArrayString(value, options);
  // Rows are aligned, so they begin on a line of their own.
  bool has_rows = llvm::StringRef(elements).contains('\n');
  return TypeText(value) + (has_rows ? "\n" : " ") + elements;
}

void PrintFetches(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs,
                  const PrintFlags& flags, llvm::raw_ostream& out) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] && fetched[i].file.empty())
      out << Printable(fetched[i].name) << " = " << ValueText(outputs[i], flags) << "\n";
  }
}

void WriteFetchesJson(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<std::vector<Tensor>> runs,
                      bool all, llvm::function_ref<void(llvm::json::OStream&)> more,
                      llvm::raw_ostream& os) {
  int64_t limit = all ? std::numeric_limits<int64_t>::max() : 8;
  auto write = [&](const Fetched& fetch, const Tensor& output, llvm::json::OStream& json) {
    WriteTensorJson(fetch.tensor, output, limit, json);
    if (fetch.name != fetch.tensor) json.attribute("key", llvm::json::fixUTF8(fetch.name));
    if (!fetch.file.empty()) json.attribute("file", fetch.file);
  };
  WriteDocument(os, [&](llvm::json::OStream& json) {
    json.attributeArray("runs", [&] {
      for (const std::vector<Tensor>& outputs : runs) {
        json.object([&] {
          json.attributeArray("fetches", [&] {
            for (size_t i = 0; i < outputs.size(); ++i)
              json.object([&] { write(fetched[i], outputs[i], json); });
          });
        });
      }
    });
    more(json);
  });
}

Error SaveFetches(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs,
                  Invocation& invocation) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || fetched[i].file.empty()) continue;
    if (outputs[i].HoldsObjects()) {
      return MakeError("fetch '{0}' is {1}, which cannot be saved as .npy", fetched[i].name,
                       outputs[i].ToString());
    }
    RETURN_IF_ERROR(SaveNpyLiteral(fetched[i].file, outputs[i].ToLiteral()));
    invocation.Wrote(fetched[i].file, TypeText(outputs[i]));
  }
  return Error::success();
}

}  // namespace grapnel
