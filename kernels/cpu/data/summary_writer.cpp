// Ops that write event files: SummaryWriter, CreateSummaryFileWriter, FlushSummaryWriter,
// CloseSummaryWriter, WriteSummary, WriteScalarSummary, WriteHistogramSummary, WriteImageSummary,
// WriteAudioSummary, WriteRawProtoSummary, WriteGraphSummary, ImportEvent.
//
// A writer is a resource. CreateSummaryFileWriter creates its file, and does nothing if the writer
// already has one. An existing file is never overwritten: the name of the new file, which contains
// a time, then uses the next second.
#include <chrono>
#include <mutex>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/tensor_message.h"
#include "kernels/cpu/data/summary_message.h"
#include "lib/exec/session.h"
#include "lib/io/event_stream.h"

namespace grapnel {
namespace {

class SummaryWriter : public Object {
 public:
  explicit SummaryWriter(std::string name) : name_(std::move(name)) {}
  ~SummaryWriter() override {
    if (events_) llvm::consumeError(events_->Close());
  }
  std::string ToString() const override { return "summary writer '" + name_ + "'"; }

  Error Create(llvm::StringRef folder, int64_t max_queue, int64_t flush_millis,
               llvm::StringRef suffix) {
    std::lock_guard lock(mutex_);
    if (events_) return Error::success();
    max_queue_ = max_queue;
    rest_ = std::chrono::milliseconds(flush_millis);
    ASSIGN_OR_RETURN(events_, EventStream::Create(folder, suffix));
    flushed_ = Clock::now();
    return Error::success();
  }

  Error Add(int64_t step, proto::Event event) {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckFile());
    events_->Add(step, std::move(event));
    return FlushNowAndThen();
  }
  // Keeps the event's own time and step.
  Error Import(const proto::Event& event) {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckFile());
    events_->Import(event);
    return FlushNowAndThen();
  }
  Error Flush() {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckFile());
    return FlushNow();
  }
  Error Close() {
    std::lock_guard lock(mutex_);
    if (!events_) return Error::success();
    Error error = events_->Close();
    events_.reset();
    return error;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Error CheckFile() const {
    if (events_) return Error::success();
    return MakeError("summary writer '{0}' has no file: run CreateSummaryFileWriter first", name_);
  }
  Error FlushNow() {
    waiting_ = 0;
    flushed_ = Clock::now();
    return events_->Flush();
  }
  Error FlushNowAndThen() {
    if (++waiting_ <= max_queue_ && Clock::now() - flushed_ <= rest_) return Error::success();
    return FlushNow();
  }

  std::string name_;
  std::mutex mutex_;
  std::unique_ptr<EventStream> events_;
  int64_t max_queue_ = 0, waiting_ = 0;
  std::chrono::milliseconds rest_{0};
  Clock::time_point flushed_;
};

Expected<SummaryWriter*> WriterIn(const KernelContext& ctx) {
  const Tensor& tensor = ctx.input(0);
  SummaryWriter* writer = nullptr;
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1)
    writer = dynamic_cast<SummaryWriter*>(tensor.data<ObjectRef>()->get());
  if (writer) return writer;
  return MakeError("input 0 is {0}, a summary writer was expected", tensor.ToString());
}

Expected<KernelFn> MakeWriter(const KernelSetup& setup) {
  const Node& node = setup.node();
  std::string container = node.GetString("container"), name = node.GetString("shared_name");
  if (name.empty()) name = node.name().str();
  return KernelFn([container, name](KernelContext& ctx) -> Error {
    if (!ctx.session()) return MakeError("summary writers need a session");
    ObjectRef object = ctx.session()->FindOrMake(
        container, name, [&] { return ObjectRef(new SummaryWriter(name)); });
    if (!dynamic_cast<SummaryWriter*>(object.get()))
      return MakeError("'{0}' is {1}, a summary writer was expected", name, object->ToString());
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(object)));
    return Error::success();
  });
}

Expected<std::string> TextIn(const KernelContext& ctx, int i, const char* name) {
  if (ctx.input(i).num_elements() == 1) return *ctx.input(i).data<std::string>();
  return MakeError("{0} must have one element, got shape {1}", name, DimsText(ctx.input(i).dims()));
}

Expected<int64_t> NumberIn(const KernelContext& ctx, int i, const char* name) {
  if (ctx.input(i).num_elements() == 1) return ctx.input(i).IntAt(0);
  return MakeError("{0} must have one element, got shape {1}", name, DimsText(ctx.input(i).dims()));
}

Error CreateFile(KernelContext& ctx) {
  ASSIGN_OR_RETURN(SummaryWriter * writer, WriterIn(ctx));
  ASSIGN_OR_RETURN(std::string folder, TextIn(ctx, 1, "logdir"));
  ASSIGN_OR_RETURN(int64_t max_queue, NumberIn(ctx, 2, "max_queue"));
  ASSIGN_OR_RETURN(int64_t millis, NumberIn(ctx, 3, "flush_millis"));
  ASSIGN_OR_RETURN(std::string suffix, TextIn(ctx, 4, "filename_suffix"));
  if (llvm::StringRef(suffix).contains('/'))
    return MakeError("filename_suffix '{0}' must not contain '/'", suffix);
  return writer->Create(folder, max_queue, millis, suffix);
}

Error FlushWriter(KernelContext& ctx) {
  ASSIGN_OR_RETURN(SummaryWriter * writer, WriterIn(ctx));
  return writer->Flush();
}

// Removes the writer from the session: creating one with that name again gives a new writer.
Error CloseWriter(KernelContext& ctx) {
  ASSIGN_OR_RETURN(SummaryWriter * writer, WriterIn(ctx));
  if (ctx.session()) ctx.session()->Forget(*writer);
  return writer->Close();
}

// Writes an event that `fill` fills in, with the step in input 1.
template <typename Fill>
Error WriteEvent(KernelContext& ctx, Fill fill) {
  ASSIGN_OR_RETURN(SummaryWriter * writer, WriterIn(ctx));
  ASSIGN_OR_RETURN(int64_t step, NumberIn(ctx, 1, "step"));
  proto::Event event;
  RETURN_IF_ERROR(fill(&event));
  return writer->Add(step, std::move(event));
}

Error WriteTensor(KernelContext& ctx) {
  return WriteEvent(ctx, [&](proto::Event* event) -> Error {
    if (ctx.input(2).HoldsObjects())
      return MakeError("a summary cannot hold {0}: its elements are objects, not values",
                       ctx.input(2).ToString(0));
    ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 3, "tag"));
    ASSIGN_OR_RETURN(std::string metadata, TextIn(ctx, 4, "summary_metadata"));
    proto::Summary::Value* value = event->mutable_summary()->add_value();
    value->set_tag(tag);
    value->mutable_tensor()->ParseFromString(TensorMessage(ctx.input(2)));
    if (!metadata.empty() && !value->mutable_metadata()->ParseFromString(metadata))
      return MakeError("summary_metadata is not a serialized SummaryMetadata");
    return Error::success();
  });
}

Error WriteScalar(KernelContext& ctx) {
  return WriteEvent(ctx, [&](proto::Event* event) -> Error {
    ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 2, "tag"));
    if (ctx.input(3).num_elements() != 1)
      return MakeError("value must have one element, got shape {0}", DimsText(ctx.input(3).dims()));
    event->mutable_summary()->ParseFromString(
        SummaryOfValue(ScalarValue(tag, RealAt(ctx.input(3), 0))));
    return Error::success();
  });
}

Error WriteHistogram(KernelContext& ctx) {
  return WriteEvent(ctx, [&](proto::Event* event) -> Error {
    ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 2, "tag"));
    ASSIGN_OR_RETURN(std::string value, HistogramValue(tag, ctx.input(3)));
    event->mutable_summary()->ParseFromString(SummaryOfValue(value));
    return Error::success();
  });
}

Expected<KernelFn> MakeWriteImage(const KernelSetup& setup) {
  int64_t most = setup.node().GetInt("max_images", 3);
  return KernelFn([most](KernelContext& ctx) {
    return WriteEvent(ctx, [&](proto::Event* event) -> Error {
      ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 2, "tag"));
      ASSIGN_OR_RETURN(std::string summary, ImageSummaryOf(tag, ctx.input(3), most, ctx.input(4)));
      event->mutable_summary()->ParseFromString(summary);
      return Error::success();
    });
  });
}

Expected<KernelFn> MakeWriteAudio(const KernelSetup& setup) {
  int64_t most = setup.node().GetInt("max_outputs", 3);
  return KernelFn([most](KernelContext& ctx) {
    return WriteEvent(ctx, [&](proto::Event* event) -> Error {
      ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 2, "tag"));
      if (ctx.input(4).num_elements() != 1) return MakeError("sample_rate must have one element");
      ASSIGN_OR_RETURN(std::string summary,
                       AudioSummaryOf(tag, ctx.input(3), *ctx.input(4).data<float>(), most));
      event->mutable_summary()->ParseFromString(summary);
      return Error::success();
    });
  });
}

// Writes existing Summaries, all in one event.
Error WriteRaw(KernelContext& ctx) {
  return WriteEvent(ctx, [&](proto::Event* event) -> Error {
    const Tensor& summaries = ctx.input(2);
    for (int64_t i = 0; i < summaries.num_elements(); ++i) {
      if (!event->mutable_summary()->MergeFromString(summaries.data<std::string>()[i]))
        return MakeError("element {0} of tensor is not a Summary", i);
    }
    return Error::success();
  });
}

Error WriteGraph(KernelContext& ctx) {
  return WriteEvent(ctx, [&](proto::Event* event) -> Error {
    ASSIGN_OR_RETURN(*event->mutable_graph_def(), TextIn(ctx, 2, "tensor"));
    return Error::success();
  });
}

Error ImportEvent(KernelContext& ctx) {
  ASSIGN_OR_RETURN(SummaryWriter * writer, WriterIn(ctx));
  ASSIGN_OR_RETURN(std::string bytes, TextIn(ctx, 1, "event"));
  proto::Event event;
  if (!event.ParseFromString(bytes)) return MakeError("event is not a serialized Event");
  return writer->Import(event);
}

GRAPNEL_CPU_KERNEL("SummaryWriter", MakeWriter);
GRAPNEL_CPU_KERNEL("CreateSummaryFileWriter", KernelOf<CreateFile>);
GRAPNEL_CPU_KERNEL("FlushSummaryWriter", KernelOf<FlushWriter>);
GRAPNEL_CPU_KERNEL("CloseSummaryWriter", KernelOf<CloseWriter>);
GRAPNEL_CPU_KERNEL("WriteSummary", KernelOf<WriteTensor>);
GRAPNEL_CPU_KERNEL("WriteScalarSummary", KernelOf<WriteScalar>,
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("WriteHistogramSummary", KernelOf<WriteHistogram>,
                   OfTypes("T", DataTypesOf(Join<RealTypes, TypeList<bool>>())));
GRAPNEL_CPU_KERNEL("WriteImageSummary", MakeWriteImage);
GRAPNEL_CPU_KERNEL("WriteAudioSummary", MakeWriteAudio);
GRAPNEL_CPU_KERNEL("WriteRawProtoSummary", KernelOf<WriteRaw>);
GRAPNEL_CPU_KERNEL("WriteGraphSummary", KernelOf<WriteGraph>);
GRAPNEL_CPU_KERNEL("ImportEvent", KernelOf<ImportEvent>);

}  // namespace
}  // namespace grapnel
