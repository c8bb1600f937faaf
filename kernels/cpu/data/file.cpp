// Ops on whole files: ReadFile, WriteFile, MatchingFiles, MatchingFilesDataset;
// GenerateVocabRemapping.
#include "lib/support/file.h"

#include <fnmatch.h>

#include <algorithm>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/data/dataset.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

Expected<std::string> TextIn(const KernelContext& ctx, int i, const char* name) {
  if (ctx.input(i).num_elements() == 1) return *ctx.input(i).data<std::string>();
  return MakeError("{0} must have one element, got shape {1}", name, DimsText(ctx.input(i).dims()));
}

Error ReadAll(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::string path, TextIn(ctx, 0, "filename"));
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = file->bytes().str();
  return Error::success();
}

// WriteFile: creates the missing directories of the path.
Error WriteAll(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::string path, TextIn(ctx, 0, "filename"));
  ASSIGN_OR_RETURN(std::string contents, TextIn(ctx, 1, "contents"));
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (!folder.empty()) RETURN_IF_ERROR(CreateDirectories(folder));
  return WriteFile(path, contents);
}

// --- Patterns

// Matches the pattern components `parts` below `folder`. Directories that cannot be read match
// nothing.
void Match(const std::string& folder, llvm::ArrayRef<llvm::StringRef> parts,
           std::vector<std::string>* found) {
  llvm::StringRef part = parts[0];
  bool last = parts.size() == 1;
  auto take = [&](llvm::StringRef name) {
    std::string path = folder.empty() ? name.str() : JoinPath(folder, name);
    if (last) {
      if (FileExists(path) || IsDirectory(path)) found->push_back(path);
    } else if (IsDirectory(path)) {
      Match(path, parts.drop_front(), found);
    }
  };
  if (part.find_first_of("*?[\\") == llvm::StringRef::npos) return take(part);
  auto names = ListDirectory(folder.empty() ? "." : folder);
  if (!names) return llvm::consumeError(names.takeError());
  for (const std::string& name : *names) {
    if (fnmatch(part.str().c_str(), name.c_str(), 0) == 0) take(name);
  }
}

// Returns the matches of one pattern, sorted.
std::vector<std::string> Matching(llvm::StringRef pattern) {
  std::vector<std::string> found;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  bool from_root = pattern.consume_front("/");
  pattern.split(parts, '/', -1, false);
  if (!parts.empty()) Match(from_root ? "/" : "", parts, &found);
  std::sort(found.begin(), found.end());
  return found;
}

Expected<std::vector<std::string>> MatchingIn(const KernelContext& ctx) {
  const Tensor& patterns = ctx.input(0);
  if (patterns.rank() > 1)
    return MakeError("the pattern must be a scalar or a vector, got shape {0}",
                     DimsText(patterns.dims()));
  std::vector<std::string> all;
  for (int64_t i = 0; i < patterns.num_elements(); ++i) {
    for (std::string& path : Matching(patterns.data<std::string>()[i]))
      all.push_back(std::move(path));
  }
  return all;
}

// Returns the matches of all patterns together, sorted, including directories.
Error MatchingFiles(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::vector<std::string> all, MatchingIn(ctx));
  std::sort(all.begin(), all.end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {static_cast<int64_t>(all.size())}));
  std::move(all.begin(), all.end(), out->data<std::string>());
  return Error::success();
}

// Checks that the directory before a pattern's first wildcard exists.
Error CheckFolder(llvm::StringRef pattern) {
  llvm::StringRef fixed =
      pattern.take_until([](char c) { return llvm::StringRef("*?[\\").contains(c); });
  std::string folder = llvm::sys::path::parent_path(fixed).str();
  if (fixed.ends_with("/")) folder = fixed.drop_back().str();
  if (folder.empty() || IsDirectory(folder)) return Error::success();
  return MakeError("{0}: no such folder", folder);
}

// Yields files only, pattern by pattern; the search runs when an iterator starts.
Expected<KernelFn> MakeMatchingDataset(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (in.rank() > 1)
      return MakeError("patterns must be a scalar or a vector, got shape {0}", DimsText(in.dims()));
    std::vector<std::string> patterns(in.data<std::string>(),
                                      in.data<std::string>() + in.num_elements());
    return PutDataset(
        ctx, node, Dataset::kUnknown, [patterns](DatasetContext&) -> Expected<DatasetNext> {
          std::vector<std::string> all;
          for (const std::string& pattern : patterns) {
            RETURN_IF_ERROR(CheckFolder(pattern));
            for (std::string& path : Matching(pattern)) {
              if (!IsDirectory(path)) all.push_back(std::move(path));
            }
          }
          return DatasetNext([all, at = size_t{0}](DatasetContext&) mutable -> NextElement {
            if (at == all.size()) return NoElement();
            ASSIGN_OR_RETURN(Tensor path, Tensor::Allocate(proto::DT_STRING, {}));
            *path.data<std::string>() = all[at++];
            return std::optional(DatasetElement{std::move(path)});
          });
        });
  });
}

// --- GenerateVocabRemapping

struct Remapping {
  int64_t offset, count, old_count;
};

Expected<llvm::SmallVector<llvm::StringRef, 0>> LinesOf(llvm::StringRef bytes) {
  llvm::SmallVector<llvm::StringRef, 0> lines;
  bytes.split(lines, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (llvm::StringRef& line : lines) line.consume_back("\r");
  return lines;
}

// Returns, for each of the `count` words of the new vocabulary from word `offset` on, its index
// among the first `old_count` words of the old vocabulary (-1: all of them), or -1 if it is not
// there; then the number of words that are.
Error Remap(KernelContext& ctx, const Remapping& form) {
  ASSIGN_OR_RETURN(std::string new_path, TextIn(ctx, 0, "new_vocab_file"));
  ASSIGN_OR_RETURN(std::string old_path, TextIn(ctx, 1, "old_vocab_file"));
  ASSIGN_OR_RETURN(auto new_file, FileBytes::Open(new_path));
  ASSIGN_OR_RETURN(auto old_file, FileBytes::Open(old_path));
  ASSIGN_OR_RETURN(auto words, LinesOf(new_file->bytes()));
  ASSIGN_OR_RETURN(auto old_words, LinesOf(old_file->bytes()));
  int64_t have = static_cast<int64_t>(words.size());
  if (form.offset > have || form.count > have - form.offset)
    return MakeError(
        "{0}: the vocabulary has {1} words (lines), but {2} words from word {3} on were expected",
        new_path, have, form.count, form.offset);
  llvm::StringMap<int64_t> places;
  for (size_t i = 0; i < old_words.size(); ++i) {
    if (form.old_count >= 0 && static_cast<int64_t>(i) >= form.old_count) break;
    if (!places.try_emplace(old_words[i], static_cast<int64_t>(i)).second)
      return MakeError("{0}: word '{1}' occurs twice", old_path, old_words[i]);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {form.count}));
  ASSIGN_OR_RETURN(Tensor * present, ctx.Allocate(1, {}));
  int32_t found = 0;
  for (int64_t i = 0; i < form.count; ++i) {
    auto it = places.find(words[form.offset + i]);
    out->data<int64_t>()[i] = it == places.end() ? -1 : it->second;
    found += it == places.end() ? 0 : 1;
  }
  *present->data<int32_t>() = found;
  return Error::success();
}

Expected<KernelFn> MakeRemap(const KernelSetup& setup) {
  const Node& node = setup.node();
  Remapping form{node.GetInt("new_vocab_offset"), node.GetInt("num_new_vocab"),
                 node.GetInt("old_vocab_size", -1)};
  if (form.offset < 0 || form.count < 0)
    return MakeError("new_vocab_offset and num_new_vocab must not be negative, got {0} and {1}",
                     form.offset, form.count);
  return KernelFn([form](KernelContext& ctx) { return Remap(ctx, form); });
}

#define GRAPNEL_FILE_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
GRAPNEL_FILE_KERNEL("ReadFile", KernelOf<ReadAll>);
GRAPNEL_FILE_KERNEL("WriteFile", KernelOf<WriteAll>);
GRAPNEL_FILE_KERNEL("MatchingFiles", KernelOf<MatchingFiles>);
GRAPNEL_FILE_KERNEL("MatchingFilesDataset", MakeMatchingDataset);
GRAPNEL_FILE_KERNEL("GenerateVocabRemapping", MakeRemap);

}  // namespace
}  // namespace grapnel
