// A loop of single nodes, as TensorFlow 1 builds them, in which a counter runs ahead of slower
// work.
#ifndef GRAPNEL_TESTS_EXEC_LOOP_GRAPH_H_
#define GRAPNEL_TESTS_EXEC_LOOP_GRAPH_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/exec/executor.h"
#include "lib/ir/attr.h"
#include "lib/ir/literal.h"

namespace grapnel {

inline Tensor FloatTensor(llvm::ArrayRef<int64_t> dims, const std::vector<float>& values) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(proto::DT_FLOAT, dims));
  EXPECT_EQ(tensor.num_elements(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}
inline std::vector<float> FloatsOf(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.num_elements()};
}

// for (i = 0, s = 0; i < n; ++i) s += chain(i): all floats, `chain` unary ops one after the other.
// Fetch "out" is s, feed "n" the count.
class LoopGraph {
 public:
  LoopGraph(const std::vector<std::string>& chain, int64_t parallel_iterations) {
    Graph& graph = module_.main;
    NodeId n = graph.AddNode("n", "Placeholder");
    graph.SetAttr(n, "dtype", module_.Keep(attr::Type(proto::DT_FLOAT)));
    NodeId zero = Constant("zero", 0);
    NodeId i = Enter("enter_i", {zero, 0}, parallel_iterations, false);
    NodeId s = Enter("enter_s", {zero, 0}, parallel_iterations, false);
    NodeId limit = Enter("limit", {n, 0}, parallel_iterations, true);
    NodeId i_now = Add("i", "Merge", {{i, 0}, {i, 0}}), s_now = Add("s", "Merge", {{s, 0}, {s, 0}});
    for (NodeId merge : {i_now, s_now}) graph.SetAttr(merge, "N", module_.Keep(attr::Int(2)));
    NodeId less = Add("less", "Less", {{i_now, 0}, {limit, 0}});
    NodeId cond = graph.AddNode("cond", "LoopCond");
    graph.AddInput(cond, {less, 0});
    NodeId i_on = Add("i_on", "Switch", {{i_now, 0}, {cond, 0}});
    NodeId s_on = Add("s_on", "Switch", {{s_now, 0}, {cond, 0}});
    NodeId body = Add("body", "Identity", {{i_on, 1}});
    NodeId one = Constant("one", 1);
    graph.AddInput(one, {body, kControlPort});
    NodeId next_i = Add("next_i", "AddV2", {{body, 0}, {one, 0}});
    NodeId at = body;
    for (size_t k = 0; k < chain.size(); ++k)
      at = Add("chain" + std::to_string(k), chain[k], {{at, 0}});
    NodeId next_s = Add("next_s", "AddV2", {{s_on, 1}, {at, 0}});
    graph.SetInput(i_now, 1, {Add("again_i", "NextIteration", {{next_i, 0}}), 0});
    graph.SetInput(s_now, 1, {Add("again_s", "NextIteration", {{next_s, 0}}), 0});
    Add("out", "Exit", {{s_on, 0}});
  }

  Module& module() { return module_; }

  std::unique_ptr<Executor> Compile(ThreadPool& pool, RunHook* hook = nullptr) const {
    ExecutorOptions options;
    options.feeds = {"n"};
    options.fetches = {"out"};
    options.pool = &pool;
    options.hook = hook;
    auto executor = Executor::Compile(module_.main, options);
    if (executor) return std::move(*executor);
    ADD_FAILURE() << TextOf(executor.takeError());
    return nullptr;
  }

 private:
  NodeId Constant(llvm::StringRef name, float value) {
    std::string value_proto = Literal::Scalar(proto::DT_FLOAT, value).ToTensorProto();
    NodeId id = module_.main.AddNode(name, "Const");
    module_.main.SetAttr(id, "dtype", module_.Keep(attr::Type(proto::DT_FLOAT)));
    module_.main.SetAttr(id, "value", module_.Keep(attr::Tensor(value_proto)));
    return id;
  }
  NodeId Add(llvm::StringRef name, llvm::StringRef op, llvm::ArrayRef<Port> inputs) {
    NodeId id = module_.main.AddNode(name, op);
    module_.main.SetAttr(id, "T", module_.Keep(attr::Type(proto::DT_FLOAT)));
    for (Port port : inputs) module_.main.AddInput(id, port);
    return id;
  }
  NodeId Enter(llvm::StringRef name, Port from, int64_t parallel_iterations, bool is_constant) {
    NodeId id = Add(name, "Enter", {from});
    module_.main.SetAttr(id, "frame_name", module_.Keep(attr::String("loop")));
    module_.main.SetAttr(id, "is_constant", module_.Keep(attr::Bool(is_constant)));
    module_.main.SetAttr(id, "parallel_iterations", module_.Keep(attr::Int(parallel_iterations)));
    return id;
  }

  Module module_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_EXEC_LOOP_GRAPH_H_
