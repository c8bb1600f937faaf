// Formats the elements of one array as NumPy does: all numbers and booleans with the same width.
// Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_ELEMENT_FORMAT_H_
#define GRAPNEL_LIB_WATCH_ELEMENT_FORMAT_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

class ElementFormat {
 public:
  virtual ~ElementFormat() = default;
  virtual std::string Text(int64_t flat) const = 0;
};

// `shown` are the flat positions of the elements that will be formatted; they determine the width
// and the use of exponents. The tensor must outlive the format, and must not hold objects.
std::unique_ptr<ElementFormat> MakeElementFormat(const Tensor& tensor,
                                                 const std::vector<int64_t>& shown, int precision);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ELEMENT_FORMAT_H_
