#include "lib/ir/op_table.h"

#include <algorithm>
#include <thread>

#include "gtest/gtest.h"
#include "lib/proto/attr_value.pb.h"
#include "lib/support/suggest.h"

namespace grapnel {
namespace {

proto::AttrValue Default(const OpInfo& op, llvm::StringRef attr) {
  proto::AttrValue value;
  const OpAttr* found = op.FindAttr(attr);
  EXPECT_TRUE(found && found->default_value && value.ParseFromString(*found->default_value))
      << attr.str();
  return value;
}

// A common op, read field by field.
TEST(OpTable, Conv2D) {
  const OpInfo* op = FindOp("Conv2D");
  ASSERT_TRUE(op);
  EXPECT_EQ(op->name, "Conv2D");
  ASSERT_EQ(op->inputs.size(), 2u);
  EXPECT_EQ(op->inputs[1].name, "filter");
  EXPECT_EQ(op->inputs[1].type_attr, "T");
  EXPECT_EQ(op->inputs[1].type, proto::DT_INVALID);
  ASSERT_TRUE(op->FindOutput("output"));
  EXPECT_FALSE(op->FindOutput("input"));
  EXPECT_EQ(op->attrs.size(), 7u);
  EXPECT_FALSE(op->is_stateful);
  EXPECT_EQ(op->deprecated_since, 0);

  const OpAttr* type = op->FindAttr("T");
  ASSERT_TRUE(type);
  EXPECT_EQ(type->type, "type");
  EXPECT_EQ(type->allowed_types,
            (std::vector<DataType>{proto::DT_HALF, proto::DT_BFLOAT16, proto::DT_FLOAT,
                                   proto::DT_DOUBLE, proto::DT_INT32}));
  EXPECT_FALSE(type->default_value);
  EXPECT_EQ(op->FindAttr("strides")->type, "list(int)");
  EXPECT_EQ(op->FindAttr("padding")->allowed_strings,
            (std::vector<std::string>{"SAME", "VALID", "EXPLICIT"}));
  EXPECT_EQ(Default(*op, "data_format").s(), "NHWC");
  EXPECT_TRUE(Default(*op, "use_cudnn_on_gpu").b());
  EXPECT_EQ(Default(*op, "dilations").list().i_size(), 4);
  EXPECT_TRUE(Default(*op, "explicit_paddings").has_list());
  EXPECT_EQ(Default(*op, "explicit_paddings").list().ByteSizeLong(), 0u);
  EXPECT_FALSE(op->FindAttr("nonsense"));
}

// number_attr: as many tensors as N says, of one dtype.
TEST(OpTable, AddN) {
  const OpInfo* op = FindOp("AddN");
  ASSERT_TRUE(op);
  EXPECT_TRUE(op->is_commutative);
  EXPECT_TRUE(op->is_aggregate);
  EXPECT_EQ(op->inputs[0].number_attr, "N");
  EXPECT_EQ(op->inputs[0].type_attr, "T");
  EXPECT_EQ(op->FindAttr("N")->minimum, 1);
  EXPECT_FALSE(op->FindAttr("T")->minimum);
}

// type_list_attr: a dtype for each tensor; its minimum bounds the length.
TEST(OpTable, IdentityN) {
  const OpInfo* op = FindOp("IdentityN");
  ASSERT_TRUE(op);
  EXPECT_EQ(op->inputs[0].type_list_attr, "T");
  EXPECT_EQ(op->inputs[0].type_attr, "");
  EXPECT_EQ(op->outputs[0].type_list_attr, "T");
  EXPECT_EQ(op->FindAttr("T")->type, "list(type)");
  EXPECT_EQ(op->FindAttr("T")->minimum, 1);
}

// References to variables, and an argument of a fixed dtype.
TEST(OpTable, RefSwitchAndSwitch) {
  const OpInfo* op = FindOp("RefSwitch");
  ASSERT_TRUE(op);
  EXPECT_TRUE(op->inputs[0].is_ref);
  EXPECT_EQ(op->inputs[0].type_attr, "T");
  EXPECT_FALSE(op->inputs[1].is_ref);
  EXPECT_EQ(op->inputs[1].type, proto::DT_BOOL);
  EXPECT_TRUE(op->FindOutput("output_true")->is_ref);
  EXPECT_TRUE(op->allows_uninitialized_input);
  EXPECT_FALSE(FindOp("Switch")->inputs[0].is_ref);
}

// Every kind of default, on TensorFlow's op for testing them, and some harder ones.
TEST(OpTable, Defaults) {
  const OpInfo* op = FindOp("DefaultAttrs");
  ASSERT_TRUE(op);
  EXPECT_EQ(Default(*op, "string_list_val").list().s(0), "abc");
  EXPECT_EQ(Default(*op, "string_list_val").list().s(1), "");
  EXPECT_EQ(Default(*op, "int_list_val").list().i(2), 3);
  EXPECT_EQ(Default(*op, "float_val").f(), 10.0f);
  EXPECT_FALSE(Default(*op, "bool_list_val").list().b(1));
  EXPECT_EQ(Default(*op, "type_list_val").list().type(1), proto::DT_FLOAT);
  EXPECT_EQ(Default(*op, "shape_val").shape().dim(0).size(), 2);
  EXPECT_EQ(Default(*op, "shape_list_val").list().shape(0).dim_size(), 0);
  EXPECT_EQ(Default(*op, "tensor_val").tensor().int_val(0), 1);
  EXPECT_EQ(Default(*op, "tensor_list_val").list().tensor(0).dtype(), proto::DT_INT32);
  EXPECT_TRUE(Default(*FindOp("Placeholder"), "shape").shape().unknown_rank());
  EXPECT_EQ(Default(*FindOp("LeakyRelu"), "alpha").f(), 0.2f);
  EXPECT_EQ(Default(*FindOp("FusedBatchNormV3"), "epsilon").f(), 1e-4f);
  EXPECT_EQ(Default(*FindOp("PrintV2"), "end").s(), "\n");
}

// Includes ops that only the runtime creates, flags, and full types.
TEST(OpTable, InternalOpsAndFlags) {
  for (const char* name :
       {"_FusedConv2D", "_FusedMatMul", "_Arg", "_Retval", "_Send", "_Recv", "_MklMatMul"}) {
    EXPECT_TRUE(FindOp(name)) << name;
  }
  EXPECT_TRUE(FindOp("_Send")->is_stateful);
  EXPECT_TRUE(FindOp("CollectiveReduceV2")->is_distributed_communication);
  EXPECT_EQ(FindOp("PlaceholderV2")->deprecated_since, 23);
  EXPECT_EQ(FindOp("Shape")->outputs[0].full_type, "SHAPE_TENSOR[$out_type]");
  EXPECT_TRUE(FindOp("NoOp")->attrs.empty());
}

// Ranks are those that TensorFlow's shape functions and kernels accept; most inputs have none.
TEST(OpTable, Ranks) {
  using Ranks = std::pair<int, int>;
  constexpr int kAny = OpArg::kAnyRank;
  auto ranks = [](llvm::StringRef op, int input) {
    const OpArg& arg = FindOp(op)->inputs[input];
    return Ranks(arg.min_rank, arg.max_rank);
  };
  EXPECT_EQ(ranks("MatMul", 0), Ranks(2, 2));
  EXPECT_EQ(ranks("BatchMatMulV2", 1), Ranks(2, kAny));
  EXPECT_EQ(ranks("ResourceApplyAdam", 3), Ranks(0, 0));
  EXPECT_EQ(ranks("FusedBatchNormV3", 0), Ranks(4, 5));  // with the layout NDHWC
  // The kernel also accepts a vector of one number, although the shape function rejects it.
  EXPECT_EQ(ranks("Range", 0), Ranks(0, 1));
  EXPECT_EQ(ranks("Add", 0), Ranks(0, kAny));
  EXPECT_EQ(ranks("Einsum", 0), Ranks(0, kAny));  // depends on its equation
}

// Each argument has one source for its dtype, and the attributes that it names exist.
TEST(OpTable, EveryLineParses) {
  std::vector<llvm::StringRef> names = AllOpNames();
  EXPECT_GT(names.size(), 1900u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (llvm::StringRef name : names) {
    const OpInfo* op = FindOp(name);
    ASSERT_TRUE(op) << name.str();
    std::vector<OpArg> args = op->inputs;
    args.insert(args.end(), op->outputs.begin(), op->outputs.end());
    for (const OpArg& arg : args) {
      int sources =
          (arg.type != proto::DT_INVALID) + !arg.type_attr.empty() + !arg.type_list_attr.empty();
      EXPECT_EQ(sources, 1) << name.str() << " " << arg.name;
      if (!arg.type_list_attr.empty()) {
        ASSERT_TRUE(op->FindAttr(arg.type_list_attr)) << name.str();
        EXPECT_EQ(op->FindAttr(arg.type_list_attr)->type, "list(type)") << name.str();
      }
      if (!arg.number_attr.empty()) {
        ASSERT_TRUE(op->FindAttr(arg.number_attr)) << name.str();
        EXPECT_EQ(op->FindAttr(arg.number_attr)->type, "int") << name.str();
      }
    }
  }
}

// Missing names, prefixes of other names, and the comment in the first line.
TEST(OpTable, UnknownOps) {
  for (const char* name : {"", "Con", "Conv2", "Conv2DD", "conv2d", "MyCustomOp", "#", "zzz"}) {
    EXPECT_FALSE(FindOp(name)) << name;
  }
  EXPECT_EQ(DidYouMean("Conv2d", AllOpNames()), "; did you mean 'Conv2D', 'Conv3D', 'Conv'?");
  EXPECT_EQ(DidYouMean("TotallyUnheardOfOperation", AllOpNames()), "");
}

// All threads get the same object, regardless of which one parsed it.
TEST(OpTable, Threads) {
  std::vector<const OpInfo*> found(8);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (const OpInfo*& slot : found) {
    threads.emplace_back([&slot] { slot = FindOp("DepthwiseConv2dNative"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const OpInfo* op : found) EXPECT_EQ(op, found[0]);
  EXPECT_TRUE(found[0]);
}

}  // namespace
}  // namespace grapnel
