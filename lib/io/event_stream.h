// Event files that grow while something runs, as tf.summary writes them.
#ifndef GRAPNEL_LIB_IO_EVENT_STREAM_H_
#define GRAPNEL_LIB_IO_EVENT_STREAM_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "lib/io/record_file.h"
#include "lib/proto/event.pb.h"

namespace grapnel {

// Thread-safe.
class EventStream {
 public:
  // What tf.summary puts behind its names.
  static constexpr llvm::StringLiteral kUsualSuffix{".v2"};

  // Makes "FOLDER/events.out.tfevents.SECONDS.HOST.PID.NUMBER" + `suffix`, and the folder; NUMBER
  // counts the files of this process. It is a file of its own: where one of that name is there, the
  // next second's is taken. It begins with the version record, which is on disk when this returns.
  static Expected<std::unique_ptr<EventStream>> Create(llvm::StringRef folder,
                                                       llvm::StringRef suffix);

  // Sets the time to now.
  void Add(int64_t step, proto::Event event);
  void Import(const proto::Event& event);  // as it is
  Error Flush();
  // Flush() if the last one was a second ago: what is lost at most of a run that is killed.
  Error FlushNowAndThen();
  Error Close();
  const std::string& path() const { return file_.path(); }

 private:
  EventStream() = default;
  std::mutex mutex_;
  RecordFile file_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_EVENT_STREAM_H_
