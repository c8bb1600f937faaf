#include "tests/fuzz/value_mutation.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int64_t kIntegers[] = {0,         1,         -1,        2,         -2,        3,
                                 7,         100,       127,       128,       255,       256,
                                 -128,      1000003,   INT32_MAX, INT32_MIN, 1ll << 31, 1ll << 40,
                                 1ll << 62, INT64_MAX, INT64_MIN};
constexpr double kNumbers[] = {0, -0.0, 1, -1, 0.5, 1e-40, 1e38, -1e38, 1e308, 3e9};
constexpr const char* kStrings[] = {"",
                                    "a",
                                    "-1",
                                    "^",
                                    ":",
                                    ":0",
                                    "y:-1",
                                    "x:9999",
                                    "/",
                                    "a/b/c/d",
                                    "_Arg",
                                    "\xff",
                                    "a\nb",
                                    "\x1b[2J",
                                    "loc:@",
                                    "loc:@y",
                                    "T",
                                    "N",
                                    "/device:GPU:999999999999",
                                    "/job:a/b",
                                    "VALID",
                                    "NCHW",
                                    "float",
                                    "99999999999999999999",
                                    "__inference"};
void SetShape(Random& random, proto::TensorShapeProto& shape) {
  shape.Clear();
  if (random.OneIn(6)) {
    shape.set_unknown_rank(true);
    if (random.OneIn(2)) return;
  }
  int64_t rank = random.OneIn(12) ? 300 : random.Below(6);
  for (int64_t i = 0; i < rank; ++i)
    shape.add_dim()->set_size(random.OneIn(3) ? SomeInteger(random) : random.Below(4));
}

void SetTensor(Random& random, proto::TensorProto& tensor) {
  switch (random.Below(6)) {
    case 0:
      tensor.set_dtype(static_cast<proto::DataType>(random.Below(24)));
      break;
    case 1:
      SetShape(random, *tensor.mutable_tensor_shape());
      break;
    case 2:
      tensor.mutable_tensor_content()->resize(random.Below(40));
      break;
    case 3:
      tensor.add_float_val(1);
      tensor.add_int_val(static_cast<int>(SomeInteger(random)));
      tensor.add_string_val(SomeString(random));
      break;
    case 4:
      tensor.clear_tensor_content();
      break;
    default:
      tensor.set_version_number(static_cast<int>(SomeInteger(random)));
      tensor.add_half_val(-1);
      tensor.add_bool_val(true);
      tensor.add_resource_handle_val()->set_name(SomeString(random));
  }
}

// Nests a value within itself `depth` times.
void Nest(Random& random, proto::AttrValue& value, int64_t depth) {
  proto::AttrValue* at = &value;
  bool in_lists = random.OneIn(2);
  for (int64_t i = 0; i < depth; ++i) {
    proto::NameAttrList* func = in_lists ? at->mutable_list()->add_func() : at->mutable_func();
    func->set_name("f");
    at = &(*func->mutable_attr())["a"];
  }
  at->set_i(1);
}

void SetFunction(Random& random, proto::GraphDef& graph, proto::NameAttrList& function) {
  auto& functions = *graph.mutable_library()->mutable_function();
  function.set_name(functions.empty() || random.OneIn(4)
                        ? SomeString(random)
                        : functions[SomeIndex(random, functions)].signature().name());
}

void SetList(Random& random, proto::AttrValue::ListValue& list) {
  for (int64_t i = random.Below(5); i >= 0; --i) {
    switch (random.Below(6)) {
      case 0:
        list.add_i(SomeInteger(random));
        break;
      case 1:
        list.add_type(SomeType(random));
        break;
      case 2:
        SetShape(random, *list.add_shape());
        break;
      case 3:
        list.add_s(SomeString(random));
        break;
      case 4:
        SetTensor(random, *list.add_tensor());
        break;
      default:
        list.add_f(static_cast<float>(random.Of(kNumbers)));
    }
  }
}

}  // namespace

int64_t SomeInteger(Random& random) { return random.Of(kIntegers); }

std::string SomeString(Random& random) {
  if (random.OneIn(12)) return std::string(1 + random.Below(70'000), 'x');
  return random.Of(kStrings);
}

proto::DataType SomeType(Random& random) {
  return static_cast<proto::DataType>(random.OneIn(6) ? SomeInteger(random)
                                                      : random.Below(25) + 100 * random.Below(2));
}

void SetValue(Random& random, proto::GraphDef& graph, proto::AttrValue& value) {
  switch (random.Below(12)) {
    case 0:
      value.set_i(SomeInteger(random));
      break;
    case 1:
      value.set_f(static_cast<float>(random.Of(kNumbers)));
      break;
    case 2:
      value.set_s(SomeString(random));
      break;
    case 3:
      value.set_b(random.OneIn(2));
      break;
    case 4:
      value.set_type(SomeType(random));
      break;
    case 5:
      SetShape(random, *value.mutable_shape());
      break;
    case 6:
      SetTensor(random, *value.mutable_tensor());
      break;
    case 7:
      SetFunction(random, graph, *value.mutable_func());
      break;
    case 8:
      value.set_placeholder(SomeString(random));
      break;
    case 9:
      value.Clear();
      break;
    case 10:
      Nest(random, value, random.OneIn(3) ? 3 : 30 + random.Below(200));
      break;
    default:
      if (random.OneIn(2)) value.mutable_list()->Clear();
      SetList(random, *value.mutable_list());
  }
}

bool ChangeWithinKind(Random& random, proto::GraphDef& graph, proto::AttrValue& value) {
  switch (value.value_case()) {
    case proto::AttrValue::kI:
      value.set_i(SomeInteger(random));
      return true;
    case proto::AttrValue::kType:
      value.set_type(SomeType(random));
      return true;
    case proto::AttrValue::kShape:
      SetShape(random, *value.mutable_shape());
      return true;
    case proto::AttrValue::kTensor:
      SetTensor(random, *value.mutable_tensor());
      return true;
    case proto::AttrValue::kS:
      value.set_s(SomeString(random));
      return true;
    case proto::AttrValue::kFunc:
      SetFunction(random, graph, *value.mutable_func());
      return true;
    default:
      return false;
  }
}

}  // namespace grapnel
