// The elements of one array as NumPy formats them, all in one width. Private to lib/watch.
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

// `shown`: the elements that will be asked for, and decide width and whether there are exponents.
// The tensor outlives the format, and holds no objects.
std::unique_ptr<ElementFormat> MakeElementFormat(const Tensor& tensor,
                                                 const std::vector<int64_t>& shown, int precision);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ELEMENT_FORMAT_H_
