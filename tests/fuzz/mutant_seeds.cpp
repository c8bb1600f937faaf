#include "tests/fuzz/mutant_seeds.h"

#include <filesystem>
#include <optional>

#include "lib/io/case.h"
#include "lib/support/file.h"
#include "lib/support/zip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kLargest = 256 << 10;

// Files that accompany a graph, or that are for people.
constexpr const char* kNoGraphs[] = {".npy", ".json", ".md",    ".py",  ".log", ".txt",
                                     ".png", ".csv",  ".index", ".npz", ".sh",  ".html"};

std::optional<SeedKind> KindOfFolder(const fs::path& folder) {
  if (fs::exists(folder / "graph.gtxt")) return SeedKind::kCheckpoint;
  if (IsCaseFolder(folder.string())) return SeedKind::kCase;
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt", "saved_model.cpb"})
    if (fs::exists(folder / name)) return SeedKind::kSavedModel;
  if (fs::exists(folder / "index.json")) return SeedKind::kDumps;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".metadata") return SeedKind::kDebug;
  }
  return std::nullopt;
}

std::optional<SeedKind> KindOfFile(const fs::path& file) {
  std::string whole = file.filename().string();
  llvm::StringRef name = whole;
  if (name.starts_with("cluster") && name.ends_with(".json")) return SeedKind::kCluster;
  if (name.ends_with(".jsonl")) return SeedKind::kLedger;
  if (name.starts_with("rewriter_config")) return SeedKind::kRewriterConfig;
  if (llvm::any_of(kNoGraphs, [&](const char* end) { return name.ends_with(end); }))
    return std::nullopt;
  if (name.contains(".data-0")) return std::nullopt;
  return SeedKind::kGraph;
}

bool IsSmall(const fs::path& path) { return fs::file_size(path) <= kLargest; }

void AddFolder(Seeds& seeds, SeedKind kind, const fs::path& folder) {
  Seed seed{folder.string(), {}, /*is_folder=*/true};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    if (!IsSmall(entry.path())) return;
    seed.files.push_back(fs::relative(entry.path(), folder).string());
  }
  llvm::sort(seed.files);
  if (!seed.files.empty()) seeds[kind].push_back(std::move(seed));
}

// Adds the case in a zip file, and its graph.
void AddArchive(Seeds& seeds, const std::string& archive) {
  auto file = llvm::cantFail(FileBytes::Open(archive));
  Seed seed{archive, llvm::cantFail(ListZip(file->bytes())), /*is_folder=*/true};
  if (llvm::is_contained(seed.files, "graph.pb"))
    seeds[SeedKind::kGraph].push_back({archive + "/graph.pb", {"graph.pb"}});
  seeds[SeedKind::kCase].push_back(std::move(seed));
}

void Add(Seeds& seeds, const fs::path& folder) {
  auto kind = KindOfFolder(folder);
  if (kind) AddFolder(seeds, *kind, folder);
  // A graph in a folder is also a seed by itself; subfolders are not searched.
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) {
      if (!kind) Add(seeds, entry.path());
    } else if (entry.is_regular_file() && IsSmall(entry.path()) && kind != SeedKind::kDebug) {
      if (auto file_kind = KindOfFile(entry.path()))
        seeds[*file_kind].push_back({entry.path().string(), {entry.path().filename().string()}});
      if (entry.path().extension() == ".zip" && IsCaseFolder(entry.path().string()))
        AddArchive(seeds, entry.path().string());
    }
  }
}

}  // namespace

Seeds FindSeeds(llvm::ArrayRef<std::string> folders) {
  Seeds seeds;
  for (const std::string& folder : folders) Add(seeds, fs::absolute(folder));
  for (auto& [kind, list] : seeds)
    llvm::sort(list, [](const Seed& a, const Seed& b) { return a.path < b.path; });
  return seeds;
}

std::string ReadSeed(const std::string& path) {
  return llvm::cantFail(FileBytes::Open(path))->bytes().str();
}

}  // namespace grapnel
