#include "lib/ir/find.h"

#include <gtest/gtest.h>

#include <ctime>

namespace grapnel {
namespace {

class FindTest : public ::testing::Test {
 protected:
  NodeId Add(Graph& graph, llvm::StringRef name, llvm::StringRef op) {
    return graph.AddNode(name, op);
  }
  void SetUp() override {
    Graph& main = module_.main;
    relu_ = Add(main, "dense/Relu", "Relu");
    split_ = Add(main, "split", "Split");
    main.SetAttr(split_, "num_split", attr::Int(2));
    main.SetAttr(split_, "T", attr::Type(proto::DT_FLOAT));
    init_ = Add(main, "init", "NoOp");
    custom_ = Add(main, "custom", "MyOwnOp");
    odd_ = Add(main, "odd:1", "Relu");
    Function* function = module_.AddFunction("square");
    inner_ = Add(function->body, "mul", "Mul");
  }
  std::string NodeError(llvm::StringRef text) {
    auto node = FindNode(module_, text);
    return node ? "found " + node->name().str() : TextOf(node.takeError());
  }
  std::string TensorError(llvm::StringRef text) {
    auto port = FindTensor(module_.main, text);
    EXPECT_EQ(bool(port), FindTensorIfThere(module_.main, text).has_value()) << text.str();
    return port ? "found" : TextOf(port.takeError());
  }
  Port Tensor(llvm::StringRef text) {
    Port port = llvm::cantFail(FindTensor(module_.main, text));
    EXPECT_EQ(FindTensorIfThere(module_.main, text), port) << text.str();
    return port;
  }
  Module module_;
  NodeId relu_, split_, init_, custom_, odd_, inner_;
};

TEST_F(FindTest, NodesByEverySpelling) {
  for (const char* text : {"dense/Relu", "dense/Relu:0", "dense/Relu:7", "^dense/Relu"}) {
    EXPECT_EQ(llvm::cantFail(FindNode(module_.main, text)).id(), relu_) << text;
    EXPECT_EQ(llvm::cantFail(FindNode(module_, text)).id(), relu_) << text;
  }
  for (const char* text : {"square/mul", "square/mul:0", "square/mul:z:0"}) {
    Node node = llvm::cantFail(FindNode(module_, text));
    EXPECT_EQ(node.id(), inner_) << text;
    EXPECT_EQ(&node.graph(), &module_.FindFunction("square")->body) << text;
  }
}

TEST_F(FindTest, NodesThatAreNotThere) {
  EXPECT_EQ(NodeError("relu"), "node 'relu' not found; did you mean 'dense/Relu'?");
  EXPECT_EQ(NodeError("dense/Relu6:0"), "node 'dense/Relu6' not found; did you mean 'dense/Relu'?");
  EXPECT_EQ(NodeError("square/mull"),
            "node 'mull' not found in function 'square'; did you mean 'mul'?");
  EXPECT_EQ(NodeError("squares/mul"), "node 'squares/mul' not found; did you mean 'square/mul'?");
  EXPECT_EQ(NodeError("mul"), "node 'mul' not found; did you mean 'square/mul'?");
  EXPECT_EQ(TextOf(FindNode(Module().main, "x").takeError()), "node 'x' not found; there are none");
}

TEST_F(FindTest, TensorsByEverySpelling) {
  EXPECT_EQ(Tensor("dense/Relu"), (Port{relu_, 0}));
  EXPECT_EQ(Tensor("dense/Relu:0"), (Port{relu_, 0}));
  EXPECT_EQ(Tensor("split:1"), (Port{split_, 1}));
  EXPECT_EQ(Tensor("init"), (Port{init_, 0}));
  EXPECT_EQ(Tensor("custom:9"), (Port{custom_, 9}));  // an unknown op may have any number
  EXPECT_EQ(Tensor("odd:1"), (Port{odd_, 0}));        // the node's name, as in a hand-made file
  EXPECT_EQ(Tensor("odd:1:0"), (Port{odd_, 0}));
}

TEST_F(FindTest, TensorsThatAreNotThere) {
  EXPECT_EQ(TensorError("split:2"), "node 'split' has 2 outputs; 'split:2' is not one of them");
  EXPECT_EQ(TensorError("split:-1"), "node 'split' has 2 outputs; 'split:-1' is not one of them");
  EXPECT_EQ(TensorError("split:first"),
            "node 'split' has 2 outputs; 'split:first' is not one of them");
  EXPECT_EQ(TensorError("dense/Relu:1"),
            "node 'dense/Relu' has 1 output; 'dense/Relu:1' is not one of them");
  EXPECT_EQ(TensorError("init:1"), "node 'init' has no outputs; 'init:1' does not exist");
  EXPECT_EQ(TensorError("custom:one"),
            "'custom:one' is not an output of node 'custom'; 'custom:0' or the like was expected");
  EXPECT_EQ(TensorError("^init"),
            "'^init' is a control edge; a tensor, like 'x' or 'x:1', was expected");
  EXPECT_EQ(TensorError("splt:1"), "node 'splt' not found; did you mean 'split'?");
  EXPECT_EQ(TensorError(""),
            "node '' not found; there are 'dense/Relu', 'split', 'init', 'custom', 'odd:1'");
}

TEST_F(FindTest, Functions) {
  EXPECT_EQ(llvm::cantFail(FindFunction(module_, "square")), module_.FindFunction("square"));
  EXPECT_EQ(TextOf(FindFunction(module_, "sqare").takeError()),
            "function 'sqare' not found; did you mean 'square'?");
  EXPECT_EQ(TextOf(FindFunction(module_, "other").takeError()),
            "function 'other' not found; there is only 'square'");
  Module empty;
  EXPECT_EQ(TextOf(FindFunction(empty, "f").takeError()), "function 'f' not found; there are none");
}

// A million names, many of which share scopes and most letters with the typed one.
TEST(FindAmongMany, IsQuick) {
  Module module;
  constexpr int kNodes = 1000000;
  module.main.Reserve(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    module.main.AddNode(llvm::formatv("model/encoder/layer_{0}/attention_{1}/MatMul_{2}", i / 1000,
                                      i / 10 % 100, i % 10)
                            .str(),
                        "NoOp");
  }
  for (const char* text : {"model/encoder/layer_77/attention_5/MatMull_3", "MatMul",
                           "model/decoder/layer_77/attention_5/MatMul_3", "nothing_of_the_kind"}) {
    auto began = std::chrono::steady_clock::now();
    std::string error = TextOf(FindNode(module, text).takeError());
    double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    RecordProperty(text, std::to_string(ms));
    EXPECT_LT(ms, 5000) << text << ": " << error;  // 100 idle, 700 sanitized
  }
  EXPECT_EQ(TextOf(FindNode(module, "model/encoder/layer_77/attention_5/MatMull_3").takeError()),
            "node 'model/encoder/layer_77/attention_5/MatMull_3' not found; did you mean "
            "'model/encoder/layer_77/attention_5/MatMul_3', "
            "'model/encoder/layer_7/attention_5/MatMul_3', "
            "'model/encoder/layer_17/attention_5/MatMul_3'?");
}

}  // namespace
}  // namespace grapnel
