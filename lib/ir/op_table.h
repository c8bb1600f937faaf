// The ops of TensorFlow 2.21: arguments, attributes, and properties that optimizers rely on.
//
// The data is lib/ir/op_table.txt, generated from TensorFlow's registry by scripts/make_op_table.py
// and embedded as text. Start-up reads nothing; the first lookup finds the line starts (0.3 ms),
// and an op is parsed on first use.
//
// One op a line, sorted by name. List items are separated by ", ".
//   line       Name(argument, ...) -> (argument, ...) {attribute, ...} [flag, ...]
//              {} and [] are omitted when empty
//   argument   name:kind         one tensor; kind is a dtype, or an attribute of type `type`
//              name:N*kind       as many tensors of that kind as attribute N says
//              name:Ts...        one tensor for each dtype of the attribute Ts, a list(type)
//              ...&              a reference to a variable (TF1)
//              ... rank 0        the ranks that TensorFlow accepts for an input: 1..2 is 1 or 2,
//                                2.. is 2 or more; absent: any, or one that depends on others
//              ... is FULLTYPE   its full type: DATASET[$output_types]; $name is an attribute
//   attribute  name:type in [allowed, ...] >= minimum = default
//              each of the three may be absent; minimum of an int, or of the length of a list
//   value      1, 0.5, inf, true, "text", float (a dtype), [2, ?] (a shape; ? alone: unknown rank),
//              {...} (a tensor or function in protobuf's text format), [value, ...] (a list)
//   flag       aggregate, allows_uninitialized_input, commutative, distributed, stateful,
//              deprecated VERSION
#ifndef GRAPNEL_LIB_IR_OP_TABLE_H_
#define GRAPNEL_LIB_IR_OP_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/types.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// One argument of an op: one tensor, or several if number_attr or type_list_attr is set. Its dtype
// is in one of `type`, `type_attr` and `type_list_attr`; the others are not set.
struct GRAPNEL_PUBLIC OpArg {
  std::string name;
  DataType type = proto::DT_INVALID;
  std::string type_attr;       // the attribute that holds the dtype
  std::string number_attr;     // the attribute that holds the number of tensors, all of one dtype
  std::string type_list_attr;  // the attribute that holds a dtype for each tensor
  std::string full_type;       // as written in the table, mostly empty
  bool is_ref = false;
  static constexpr int8_t kAnyRank = 127;
  int8_t min_rank = 0, max_rank = kAnyRank;  // for an input, inclusive
};

struct GRAPNEL_PUBLIC OpAttr {
  std::string name;
  // The attribute's type: string, int, float, bool, type, shape, tensor, func, or list(...) of one
  // of these.
  std::string type;
  // A serialized proto::AttrValue; nullopt: the attribute is required.
  std::optional<std::string> default_value;
  // The allowed values of an attribute of type `type` or `string`, or of each element of a list of
  // these; empty: all values are allowed.
  std::vector<DataType> allowed_types;
  std::vector<std::string> allowed_strings;
  std::optional<int64_t> minimum;  // for an int, or for the length of a list
};

struct GRAPNEL_PUBLIC OpInfo {
  std::string name;
  std::vector<OpArg> inputs, outputs;
  std::vector<OpAttr> attrs;
  bool is_commutative = false;  // the order of the inputs does not matter
  bool is_stateful = false;     // has state or side effects: must not be folded, merged or dropped
  bool is_aggregate = false;    // like AddN: any number of tensors of one shape
  bool allows_uninitialized_input = false;    // takes a reference to a variable without a value
  bool is_distributed_communication = false;  // communicates with other tasks
  int deprecated_since = 0;  // from this GraphDef version on, the op is rejected; 0: never

  const OpArg* FindOutput(llvm::StringRef output) const;  // nullptr if not found
  const OpAttr* FindAttr(llvm::StringRef attr) const;
};

// Returns the op of that name, or nullptr. Thread-safe; the result lives as long as the process.
// Takes a hash lookup, and some 5 us more the first time that an op is looked up.
GRAPNEL_PUBLIC const OpInfo* FindOp(llvm::StringRef name);

// Returns the names of all ops, sorted by their bytes.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> AllOpNames();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_OP_TABLE_H_
