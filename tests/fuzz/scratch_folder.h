// A temporary folder for fuzz targets whose readers take paths.
#ifndef GRAPNEL_TESTS_FUZZ_SCRATCH_FOLDER_H_
#define GRAPNEL_TESTS_FUZZ_SCRATCH_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The constructor creates an empty folder, the destructor removes it.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "fuzz_XXXXXX").string()) {
    if (!mkdtemp(path_.data())) std::abort();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::string path = path_ + "/" + name.str();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<int64_t>(bytes.size()));
    return path;
  }

 private:
  std::string path_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_SCRATCH_FOLDER_H_
