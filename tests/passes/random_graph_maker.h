// Makes a random graph step by step. Private to the files of steps (random_*.cpp): a new step is a
// method, an entry in the menu of random_graph.cpp, and a body in the file of similar steps.
#ifndef GRAPNEL_TESTS_PASSES_RANDOM_GRAPH_MAKER_H_
#define GRAPNEL_TESTS_PASSES_RANDOM_GRAPH_MAKER_H_

#include <map>
#include <random>
#include <string>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/ir/literal.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "tests/passes/random_graph.h"

namespace grapnel {

class RandomGraphMaker {
 public:
  explicit RandomGraphMaker(uint64_t seed) : random_(seed) {
    result_.module = std::make_unique<Module>();
  }
  RandomGraph Make();

 private:
  static constexpr double kLargest = 1e3;

  struct Value {
    Port port;
    DataType type;
    Dims dims;
    double magnitude = 0;  // largest absolute value
    double scale = 0;      // the same over all values that it is computed from
    bool exact = false;    // small multiples of 1/64: not rounded yet
  };

  // --- Randomness.
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(from.size())];
  }

  // --- Nodes.
  Graph& graph() { return result_.module->main; }
  NodeId Add(llvm::StringRef op, llvm::ArrayRef<Port> inputs);
  NodeId Typed(llvm::StringRef op, llvm::ArrayRef<Port> inputs, DataType type,
               llvm::StringRef key = "T");
  Port Float(llvm::StringRef op, llvm::ArrayRef<Port> inputs) {
    return {Typed(op, inputs, proto::DT_FLOAT), 0};
  }
  Value Placeholder(DataType type, const Dims& dims);
  Port Constant(const Literal& literal);
  Port Number(double value) { return Constant(Literal::Scalar(proto::DT_FLOAT, value)); }
  Port Int(int64_t value) { return Constant(Literal::Scalar(proto::DT_INT32, value)); }
  Port Ints(llvm::ArrayRef<int64_t> values) {
    return Constant(
        Literal::Integers(proto::DT_INT32, {static_cast<int64_t>(values.size())}, values));
  }
  // A constant of that type and shape: often zeros or ones, which rules look for.
  Value ConstantOf(DataType type, const Dims& dims, double least = -2);

  // --- Values that later steps may read.
  const Value& Keep(NodeId id, int output, DataType type, Dims dims, double magnitude,
                    llvm::ArrayRef<Value> from, bool exact = false);
  bool Find(Value* found, llvm::function_ref<bool(const Value&)> fits);
  bool FindFloat(Value* found, int rank = -1, double largest = kLargest);
  bool FindNumber(Value* found);
  static bool Broadcast(const Dims& a, const Dims& b, Dims* out);
  // `a` with another value or a constant of a matching shape.
  bool Partner(const Value& a, Value* b, double least = -2);

  void Step();

  // --- random_elementwise.cpp
  void Binary();
  void Unary();
  void Positive();
  void Trivial();
  void AddN();
  void CompareNot();
  void Select();
  void Fill();
  void Cast();
  void Chain();
  void SquaredDiff();
  void SharedFactor();

  // --- random_shapes.cpp
  void Transpose();
  void Reshape();
  void Concat();
  void Split();
  void SliceOf();
  void Pack();
  void Tile();
  void Pad();
  void ShapeOps();
  void Expand();
  void Reverse();

  // --- random_layers.cpp. `made` is a node that no later step reads, unless it is kept.
  bool MakeProduct(Value* made);
  bool MakeConvolution(Value* made);
  bool MakeNorm(const Value& of, bool of_constants, Value* made);
  Value MakeBias(const Value& of);
  void Reduce();
  void MatMul();
  void Bias(const Value& a);
  void BiasAdd();
  void Convolve();

  // --- random_fusions.cpp
  Port Spelled(Port x);
  void Activation();
  void LayerActivation();
  void Residual();
  void Gelu();
  void LayerNorm();
  void SqueezeBias();
  void Attention();
  void PaddedConv3D();
  void NormRelu();
  void HashBucket();

  std::mt19937_64 random_;
  RandomGraph result_;
  std::vector<Value> values_;
  std::map<NodeId, double> scales_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_PASSES_RANDOM_GRAPH_MAKER_H_
