// Debug folders for tests: records are collected and written as TensorFlow frames them.
#ifndef GRAPNEL_TESTS_TFDBG_DEBUG_WRITER_H_
#define GRAPNEL_TESTS_TFDBG_DEBUG_WRITER_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/io/record.h"
#include "lib/proto/debug_event.pb.h"
#include "lib/support/file.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// Opens a folder; fails the test and returns an empty one if it does not open.
inline DebugFolder Read(const std::string& path) {
  auto folder = ReadDebugFolder(path);
  if (!folder) {
    ADD_FAILURE() << TextOf(folder.takeError());
    return {};
  }
  return std::move(*folder);
}

class TestDebugWriter {
 public:
  explicit TestDebugWriter(const std::string& name)
      : path_((std::filesystem::path(testing::TempDir()) / name).string()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    for (const char* suffix : {"metadata", "source_files", "stack_frames", "graphs", "execution",
                               "graph_execution_traces"})
      files_[suffix];
    proto::DebugEvent event;
    event.set_wall_time(1);
    event.mutable_debug_metadata()->set_tfdbg_run_id("run");
    Add("metadata", event);
  }
  const std::string& path() const { return path_; }

  void Graph(const std::string& id, const std::string& name, const std::string& outer) {
    proto::DebugEvent event;
    event.mutable_debugged_graph()->set_graph_id(id);
    event.mutable_debugged_graph()->set_graph_name(name);
    event.mutable_debugged_graph()->set_outer_context_id(outer);
    Add("graphs", event);
  }
  void Op(const std::string& graph, const std::string& type, const std::string& name,
          const std::vector<std::string>& inputs) {
    proto::DebugEvent event;
    auto& op = *event.mutable_graph_op_creation();
    op.set_graph_id(graph);
    op.set_op_type(type);
    op.set_op_name(name);
    op.set_num_outputs(1);
    for (const std::string& input : inputs) op.add_input_names(input);
    Add("graphs", event);
  }
  void Trace(const std::string& graph, const std::string& op, double time,
             proto::TensorDebugMode mode, const std::vector<double>& summary) {
    proto::DebugEvent event;
    event.set_wall_time(time);
    auto& trace = *event.mutable_graph_execution_trace();
    trace.set_tfdbg_context_id(graph);
    trace.set_op_name(op);
    trace.set_tensor_debug_mode(mode);
    *trace.mutable_tensor_proto() = Summary(summary);
    Add("graph_execution_traces", event);
  }
  void Execution(const std::string& type, double time, const std::vector<int64_t>& inputs,
                 int64_t output, proto::TensorDebugMode mode, const std::vector<double>& summary) {
    proto::DebugEvent event;
    event.set_wall_time(time);
    auto& execution = *event.mutable_execution();
    execution.set_op_type(type);
    for (int64_t id : inputs) execution.add_input_tensor_ids(id);
    if (output >= 0) execution.add_output_tensor_ids(output);
    execution.set_tensor_debug_mode(mode);
    if (!summary.empty()) *execution.add_tensor_protos() = Summary(summary);
    Add("execution", event);
  }
  void Write() {
    for (const auto& [suffix, bytes] : files_)
      ASSERT_FALSE(static_cast<bool>(WriteFile(path_ + "/tfdbg_events.1.host." + suffix, bytes)));
  }

  static proto::TensorProto Summary(const std::vector<double>& numbers) {
    proto::TensorProto tensor;
    tensor.set_dtype(proto::DT_DOUBLE);
    tensor.mutable_tensor_shape()->add_dim()->set_size(static_cast<int64_t>(numbers.size()));
    tensor.set_tensor_content(
        std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8));
    return tensor;
  }

 private:
  void Add(const std::string& suffix, const proto::DebugEvent& event) {
    llvm::raw_string_ostream os(files_[suffix]);
    WriteRecord(os, event.SerializeAsString());
  }
  std::string path_;
  std::map<std::string, std::string> files_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_TFDBG_DEBUG_WRITER_H_
