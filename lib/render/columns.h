// Writes a table as columns: the values of one field for all rows, then those of the next field. In
// bytes and compressed, columns take a fraction of the room and of the time of JSON that repeats
// each key in each row. lib/render/web/columns.js reads them.
//
// A table is a sequence of columns: the size of the name in one byte, the name, the kind in one
// byte, the size of the values as LEB128, the values:
//   'n' numbers: the LEB128 of each value's zigzag form (0, -1, 1, -2 become 0, 1, 2, 3);
//   's' steps: the same of the difference between each value and the one before, the first from 0;
//   't' texts: the LEB128 of their number; then for all texts that of the UTF-16 units that the
//       text has in common with the beginning of the text before; then for all texts that of its
//       other units; then these units of all texts as UTF-8.
// Numbers have 32 bits, and differences are computed modulo 2^32. A column of numbers that are all
// 0, of texts that are all "", or of no steps is left out: the reader knows from other columns how
// many values it has.
#ifndef GRAPNEL_LIB_RENDER_COLUMNS_H_
#define GRAPNEL_LIB_RENDER_COLUMNS_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

class ColumnWriter {
 public:
  // Write a column. Steps are for values that grow slowly, such as ids.
  void Numbers(llvm::StringRef name, llvm::ArrayRef<int32_t> values);
  void Steps(llvm::StringRef name, llvm::ArrayRef<int32_t> values);
  // The texts must be UTF-8. Texts that begin like the one before take little room.
  void Texts(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> texts);

  std::string Finish() && { return std::move(bytes_); }

 private:
  void Column(llvm::StringRef name, char kind, llvm::StringRef values);

  std::string bytes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_COLUMNS_H_
