#include "lib/io/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "lib/io/record.h"

namespace grapnel {
namespace {

constexpr size_t kBufferSize = 256 << 10;

}  // namespace

RecordFile::~RecordFile() {
  if (file_ >= 0) ::close(file_);
}

Error RecordFile::Open(const std::string& path, bool* exists) {
  path_ = path;
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (exists) *exists = file_ < 0 && errno == EEXIST;
  if (file_ < 0) return MakeError("{0}: cannot be created: {1}", path, std::strerror(errno));
  return Error::success();
}

void RecordFile::Add(llvm::StringRef record) {
  llvm::raw_string_ostream os(buffer_);
  WriteRecord(os, record);
  os.flush();
  if (buffer_.size() >= kBufferSize) llvm::consumeError(Flush());
}

// Writes the whole buffer, with several write() calls if one takes only some of the bytes.
Error RecordFile::Flush() {
  size_t written = 0;
  while (!error_ && written < buffer_.size()) {
    ssize_t n = ::write(file_, buffer_.data() + written, buffer_.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error_ = errno;
    if (n > 0) written += n;
  }
  buffer_.clear();
  if (error_) return MakeError("{0}: cannot be written: {1}", path_, std::strerror(error_));
  return Error::success();
}

Error RecordFile::Close() {
  Error error = Flush();
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && !error)
    error = MakeError("{0}: cannot be written: {1}", path_, std::strerror(errno));
  return error;
}

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == 0) return "localhost";
  return name;
}

}  // namespace grapnel
