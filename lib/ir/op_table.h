// The ops of TensorFlow 2.21: arguments, attributes, and what an optimizer may assume.
//
// The facts are lib/ir/op_table.txt, made from TensorFlow's own registry by
// scripts/make_op_table.py and linked in as it is. Nothing is read at start-up; the first look-up
// finds the line starts (0.3 ms), an op is parsed when first asked for.
//
// One op a line, sorted by name. Between two items of a list stands ", ".
//   line       Name(argument, ...) -> (argument, ...) {attribute, ...} [flag, ...]
//              {} and [] are left out when empty
//   argument   name:kind         one tensor; kind is a dtype, or an attribute of type `type`
//              name:N*kind       as many tensors of that kind as attribute N says
//              name:Ts...        one tensor for each dtype of the attribute Ts, a list(type)
//              ...&              a reference to a variable (TF1)
//              ... rank 0        the ranks that TensorFlow takes, of an input: 1..2 is 1 or 2,
//                                2.. is 2 or more; none: any, or a rank that depends on others
//              ... is FULLTYPE   what is in it: DATASET[$output_types]; $name is an attribute
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

// One argument: one tensor, or several if number_attr or type_list_attr is set.
// Exactly one of type, type_attr and type_list_attr is set.
struct GRAPNEL_PUBLIC OpArg {
  std::string name;
  DataType type = proto::DT_INVALID;
  std::string type_attr;       // the attribute that holds the dtype
  std::string number_attr;     // the attribute that says how many tensors, all of one dtype
  std::string type_list_attr;  // the attribute that holds a dtype for each tensor
  std::string full_type;       // as written in the table, mostly empty
  bool is_ref = false;
  static constexpr int8_t kAnyRank = 127;
  int8_t min_rank = 0, max_rank = kAnyRank;  // of an input; both included
};

struct GRAPNEL_PUBLIC OpAttr {
  std::string name;
  // string, int, float, bool, type, shape, tensor, func, or list(...) of one of these.
  std::string type;
  // A serialized proto::AttrValue; none: the attribute must be given.
  std::optional<std::string> default_value;
  // Of a type or string, or of each element of a list of these; empty: all.
  std::vector<DataType> allowed_types;
  std::vector<std::string> allowed_strings;
  std::optional<int64_t> minimum;  // of an int, or of the length of a list
};

struct GRAPNEL_PUBLIC OpInfo {
  std::string name;
  std::vector<OpArg> inputs, outputs;
  std::vector<OpAttr> attrs;
  bool is_commutative = false;  // the order of its arguments does not matter
  bool is_stateful = false;     // has state or an effect: not to be folded, merged or dropped
  bool is_aggregate = false;    // AddN and its like: any number of tensors, of one shape
  bool allows_uninitialized_input = false;    // takes a reference to a variable without a value
  bool is_distributed_communication = false;  // talks to other tasks
  int deprecated_since = 0;  // the GraphDef version from which it is refused; 0: never

  const OpArg* FindOutput(llvm::StringRef output) const;  // nullptr if there is none of that name
  const OpAttr* FindAttr(llvm::StringRef attr) const;
};

// The op of that name, or nullptr. Thread-safe; the result lives as long as the process.
// Cost: a look-up by hash, and on the first call for an op some 5 us.
GRAPNEL_PUBLIC const OpInfo* FindOp(llvm::StringRef name);

// Every name, sorted by bytes.
GRAPNEL_PUBLIC std::vector<llvm::StringRef> AllOpNames();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_OP_TABLE_H_
