#include "lib/io/text_proto.h"

#include <algorithm>

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "lib/io/long_literals.h"
#include "lib/io/printed_text.h"
#include "lib/ir/serialize.h"
#include "lib/ir/wire.h"
#include "lib/proto/graph.pb.h"
#include "lib/proto/saved_model.pb.h"
#include "lib/support/denormals.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

namespace io = google::protobuf::io;

// The limit on nested messages in the text: protobuf's limit for the wire format, so that every
// message that is read can also be written.
constexpr int kMaxNesting = 100;
constexpr size_t kMaxProblems = 20;

// An input stream over more than 2 GiB of text, where protobuf's own ArrayInputStream ends.
class Input : public io::ZeroCopyInputStream {
 public:
  explicit Input(llvm::StringRef bytes) : bytes_(bytes) {}
  bool Next(const void** data, int* size) override {
    if (at_ == bytes_.size()) return false;
    last_ = std::min<size_t>(bytes_.size() - at_, 1 << 20);
    *data = bytes_.data() + at_;
    *size = static_cast<int>(last_);
    at_ += last_;
    return true;
  }
  void BackUp(int count) override { at_ -= count; }
  bool Skip(int count) override {
    size_t step = std::min<size_t>(bytes_.size() - at_, count);
    at_ += step;
    return step == static_cast<size_t>(count);
  }
  int64_t ByteCount() const override { return static_cast<int64_t>(at_); }

 private:
  llvm::StringRef bytes_;
  size_t at_ = 0, last_ = 0;
};

class Collector : public io::ErrorCollector {
 public:
  explicit Collector(std::vector<Problem>* problems) : problems_(*problems) {}

  void AddError(int line, int column, const std::string& message) override {
    Add(Severity::kError, line, column, message);
  }
  void AddWarning(int line, int column, const std::string& message) override {
    // Reports only warnings about unknown fields. Protobuf also warns about deprecated fields,
    // which old graphs have.
    if (llvm::StringRef(message).contains("has no field named")) {
      Add(Severity::kWarning, line, column, message + " It is dropped.");
    }
  }

 private:
  // Adds protobuf's message as a problem in grapnel's style: it starts in lower case and has no
  // full stop. `line` and `column` are counted from 0.
  void Add(Severity severity, int line, int column, llvm::StringRef message) {
    if (problems_.size() >= kMaxProblems) return;
    std::string text = message.rtrim('.').str();
    for (size_t at; (at = text.find("grapnel.proto.")) != std::string::npos;) text.erase(at, 14);
    for (size_t at; (at = text.find(". It is")) != std::string::npos;)
      text.replace(at, 7, ": it is");
    if (!text.empty()) text[0] = static_cast<char>(tolower(text[0]));
    std::string where = std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": ";
    problems_.push_back({severity, "", where + text});
  }

  std::vector<Problem>& problems_;
};

// True if a graph whose text has a syntax error contains at least one function or complete node
// before the error.
bool HasNode(const proto::GraphDef& graph) {
  return graph.library().function_size() > 0 ||
         llvm::any_of(graph.node(), [](const proto::NodeDef& node) { return !node.op().empty(); });
}

// Serializes the nodes of a GraphDef one by one, then the other fields: all nodes together may
// exceed the size limit of a message.
Expected<std::string> SerializeGraph(proto::GraphDef* graph) {
  std::string out;
  for (const proto::NodeDef& node : graph->node()) {
    ASSIGN_OR_RETURN(std::string bytes, Serialize(node));
    AppendBytesField(&out, 1, bytes);
  }
  graph->clear_node();
  ASSIGN_OR_RETURN(std::string rest, Serialize(*graph));
  return out + rest;
}

bool ParseInto(llvm::StringRef text, google::protobuf::Message* message,
               std::vector<Problem>* problems) {
  Input input(text);
  if (HasPrefix(text, "\xEF\xBB\xBF")) input.Skip(3);
  Collector collector(problems);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.AllowUnknownField(true);
  parser.AllowFieldNumber(true);
  parser.SetRecursionLimit(kMaxNesting);
  return parser.Parse(&input, message);
}

}  // namespace

bool ParseText(const FileBytes& file, google::protobuf::Message* message,
               std::vector<Problem>* problems) {
  LongLiterals literals;
  std::string text = literals.TakeOut(file.bytes());
  if (literals.empty()) return ParseInto(file.bytes(), message, problems);
  std::vector<Problem> found;
  bool is_whole = ParseInto(text, message, &found);
  if (literals.PutBack(message)) {
    problems->insert(problems->end(), found.begin(), found.end());
    return is_whole;
  }
  message->Clear();
  return ParseInto(file.bytes(), message, problems);
}

Expected<std::string> Serialize(const google::protobuf::MessageLite& message) {
  size_t size = message.ByteSizeLong();
  if (size > INT32_MAX)
    return MakeError("a message of {0} bytes is above protobuf's limit of 2 GiB", size);
  return SerializeInOrder(message);
}

Expected<std::shared_ptr<const FileBytes>> TextToWire(const FileBytes& text, TextKind kind,
                                                      std::vector<Problem>* problems) {
  KeepDenormals keep;  // the threads of a pool flush them, and would change numbers in the text
  proto::GraphDef graph;
  proto::SavedModel model;
  proto::MetaGraphDef meta_graph;
  google::protobuf::Message* message = &graph;
  if (kind == TextKind::kSavedModel) message = &model;
  if (kind == TextKind::kMetaGraph) message = &meta_graph;
  if (auto wire = PrintedTextToWire(text.bytes(), *message->GetDescriptor()))
    return FileBytes::FromString(std::move(*wire), text.name());
  if (!ParseText(text, message, problems)) {
    bool any =
        HasNode(graph) || HasNode(meta_graph.graph_def()) ||
        llvm::any_of(model.meta_graphs(), [](const auto& m) { return HasNode(m.graph_def()); });
    if (!any) {
      // Reports the first error; warnings about unknown fields may come before it.
      auto error =
          llvm::find_if(*problems, [](const Problem& p) { return p.severity == Severity::kError; });
      if (error == problems->end()) return MakeError("{0}: cannot be parsed", text.name());
      return MakeError("{0}:{1}", text.name(), error->text);
    }
  }
  auto bytes = kind == TextKind::kGraphDef ? SerializeGraph(&graph) : Serialize(*message);
  if (!bytes) return Annotate(text.name(), bytes.takeError());
  return FileBytes::FromString(std::move(*bytes), text.name());
}

}  // namespace grapnel
