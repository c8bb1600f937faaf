// A row of a table of the values in a model.
#ifndef GRAPNEL_LIB_IO_VALUE_ROW_H_
#define GRAPNEL_LIB_IO_VALUE_ROW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "lib/ir/literal.h"
#include "lib/ir/node.h"
#include "lib/ir/number_statistics.h"

namespace grapnel {

struct ValueRow {
  Node node;  // the variable in the main graph, or a constant of any body
  bool is_variable = false;
  // The program's name of a variable, "dense/kernel", or NameWithFunction() of a constant.
  std::string name;
  std::string layer;  // the path of its layer; empty: in none
  DataType dtype = proto::DT_INVALID;
  Shape shape;                              // of the value, if it is known
  std::optional<NumberStatistics> numbers;  // nullopt: no real numbers or bools, or no value
  std::string hash;                         // ChecksumText or HashText; empty: the value is unknown
  std::string problem;                      // why the value is unknown; empty: it is known

  int64_t elements() const;  // -1: unknown
  std::string Type() const;  // "float[2,3]"
};

// Returns the checksum that a checkpoint has of a value: 8 hexadecimal digits.
std::string ChecksumText(uint32_t checksum);
// Returns a hash of dtype, shape and all elements: 16 hexadecimal digits, which are equal for a
// splat and for a literal that has all the elements.
std::string HashText(const Literal& literal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VALUE_ROW_H_
