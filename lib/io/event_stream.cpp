#include "lib/io/event_stream.h"

#include <unistd.h>

#include <atomic>

#include "lib/support/file.h"

namespace grapnel {

Expected<std::unique_ptr<EventStream>> EventStream::Create(llvm::StringRef folder,
                                                           llvm::StringRef suffix) {
  RETURN_IF_ERROR(CreateDirectories(folder));
  std::unique_ptr<EventStream> stream(new EventStream);
  static std::atomic<int> num_files{0};
  int number = num_files++;
  auto seconds = static_cast<int64_t>(WallTime());
  for (;; ++seconds) {
    std::string name = llvm::formatv("events.out.tfevents.{0:d10}.{1}.{2}.{3}{4}", seconds,
                                     HostName(), getpid(), number, suffix)
                           .str();
    bool exists = false;
    Error error = stream->file_.Open(JoinPath(folder, name), &exists);
    if (!error) break;
    if (!exists) return error;
    llvm::consumeError(std::move(error));
  }
  proto::Event version;
  version.set_file_version("brain.Event:2");
  version.mutable_source_metadata()->set_writer("grapnel");
  stream->Add(0, std::move(version));
  RETURN_IF_ERROR(stream->Flush());
  return stream;
}

void EventStream::Add(int64_t step, proto::Event event) {
  event.set_wall_time(WallTime());
  event.set_step(step);
  Import(event);
}

void EventStream::Import(const proto::Event& event) {
  std::string record = event.SerializeAsString();
  std::lock_guard lock(mutex_);
  file_.Add(record);
}

Error EventStream::Flush() {
  std::lock_guard lock(mutex_);
  return file_.Flush();
}

Error EventStream::FlushNowAndThen() {
  std::lock_guard lock(mutex_);
  auto now = std::chrono::steady_clock::now();
  if (now - flushed_ < std::chrono::seconds(1)) return Error::success();
  flushed_ = now;
  return file_.Flush();
}

Error EventStream::Close() {
  std::lock_guard lock(mutex_);
  return file_.Close();
}

}  // namespace grapnel
