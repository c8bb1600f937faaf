// Writes event files to which a program appends while it runs, as tf.summary does.
#ifndef GRAPNEL_LIB_IO_EVENT_STREAM_H_
#define GRAPNEL_LIB_IO_EVENT_STREAM_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "lib/io/record_file.h"
#include "lib/proto/event.pb.h"

namespace grapnel {

// An event file that a program appends to. Thread-safe.
class EventStream {
 public:
  // The suffix that tf.summary appends to file names.
  static constexpr llvm::StringLiteral kUsualSuffix{".v2"};

  // Creates "FOLDER/events.out.tfevents.SECONDS.HOST.PID.NUMBER" + `suffix`, and FOLDER if
  // necessary; NUMBER counts the files of this process. Never overwrites: if the name exists, uses
  // the next second. The file begins with the version record, which is written when this function
  // returns.
  static Expected<std::unique_ptr<EventStream>> Create(llvm::StringRef folder,
                                                       llvm::StringRef suffix);

  // Adds an event with the current time.
  void Add(int64_t step, proto::Event event);
  // Adds an event with its own time and step.
  void Import(const proto::Event& event);
  Error Flush();
  // Flushes if the last flush by this function was at least a second ago. A run that calls it after
  // each event and is killed loses about one second of events.
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
