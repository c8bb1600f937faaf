// Shared by tests of readers and writers: temporary folders, small graphs, real files.
#ifndef GRAPNEL_TESTS_IO_TESTING_H_
#define GRAPNEL_TESTS_IO_TESTING_H_

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "lib/proto/graph.pb.h"
#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "grapnel_io_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  // Writes a file and returns its path.
  std::string Write(const std::string& name, llvm::StringRef bytes) const {
    std::string path = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_FALSE(Failed(WriteFile(path, bytes)));
    return path;
  }

  static bool Failed(Error error) {
    if (!error) return false;
    ADD_FAILURE() << TextOf(std::move(error));
    return true;
  }

 private:
  std::string path_;
};

inline bool Failed(Error error) { return TempFolder::Failed(std::move(error)); }

// Returns the value; on an error, the test fails with its text and ends.
template <typename T>
T Get(Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << TextOf(value.takeError());
    throw std::runtime_error("no value");
  }
  return std::move(*value);
}

template <typename T>
std::string ErrorOf(Expected<T> value) {
  if (value) return "no error";
  return TextOf(value.takeError());
}

// x -> Relu -> y with a constant and a function: a bit of everything, 300 bytes.
inline proto::GraphDef SmallGraph() {
  proto::GraphDef graph;
  auto* x = graph.add_node();
  x->set_name("x");
  x->set_op("Placeholder");
  (*x->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  auto* c = graph.add_node();
  c->set_name("c");
  c->set_op("Const");
  (*c->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  auto* tensor = (*c->mutable_attr())["value"].mutable_tensor();
  tensor->set_dtype(proto::DT_FLOAT);
  tensor->mutable_tensor_shape()->add_dim()->set_size(2);
  tensor->add_float_val(1.5f);
  tensor->add_float_val(-2);
  auto* y = graph.add_node();
  y->set_name("y");
  y->set_op("AddV2");
  y->add_input("x");
  y->add_input("c:0");
  y->add_input("^x");
  y->set_device("/cpu:0");
  (*y->mutable_attr())["T"].set_type(proto::DT_FLOAT);
  auto* call = graph.add_node();
  call->set_name("call");
  call->set_op("f");
  call->add_input("y");
  auto* function = graph.mutable_library()->add_function();
  auto* signature = function->mutable_signature();
  signature->set_name("f");
  auto* arg = signature->add_input_arg();
  arg->set_name("a");
  arg->set_type(proto::DT_FLOAT);
  auto* out = signature->add_output_arg();
  out->set_name("r");
  out->set_type(proto::DT_FLOAT);
  auto* relu = function->add_node_def();
  relu->set_name("relu");
  relu->set_op("Relu");
  relu->add_input("a");
  (*relu->mutable_attr())["T"].set_type(proto::DT_FLOAT);
  (*function->mutable_ret())["r"] = "relu:activations:0";
  graph.mutable_versions()->set_producer(1987);
  return graph;
}

inline std::string SharedPath(const std::string& path) { return "../shared/" + path; }

// Skips, so that the count shows it, where the folder of real files is not there.
#define NEED_SHARED(path) \
  if (!FileExists(SharedPath(path))) GTEST_SKIP() << "no ../shared: " << path << " is not there"

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_IO_TESTING_H_
