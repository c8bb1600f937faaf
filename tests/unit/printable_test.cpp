#include "lib/support/printable.h"

#include <gtest/gtest.h>

namespace grapnel {
namespace {

TEST(PrintableText, HidesWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a/b:0 \xe2\x86\x92 \xf0\x9f\x90\x99"),
            "a/b:0 \xe2\x86\x92 \xf0\x9f\x90\x99");
  EXPECT_EQ(Printable(llvm::StringRef("\033[2J\n\0\x7f", 7)), "\\x1b[2J\\x0a\\x00\\u007f");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(Printable("\xe2\x80\xae \xe2\x81\xa6 \xd8\x9c"), "\\u202e \\u2066 \\u061c");
  EXPECT_EQ(Printable("\xe2\x86 \xff \xc0\x80"), "\\xe2\\x86 \\xff \\xc0\\x80");
  EXPECT_EQ(PrintableLines("a\033\nb\r"), "a\\x1b\nb\\x0d");
}

// Writes in pieces of every size, which splits characters everywhere.
TEST(PrintableStream, IsTheSameInPieces) {
  std::string text = "name \xe2\x86\x92\t\xf0\x9f\x90\x99 \033[31mred\033[0m \xe2\x80\xae \xe2\n";
  for (bool color : {false, true}) {
    std::string whole =
        color ? "name \xe2\x86\x92\t\xf0\x9f\x90\x99 \033[31mred\033[0m \\u202e \\xe2\n"
              : "name \xe2\x86\x92\t\xf0\x9f\x90\x99 \\x1b[31mred\\x1b[0m \\u202e \\xe2\n";
    for (size_t size = color ? text.size() : 1; size <= text.size(); ++size) {
      std::string out;
      llvm::raw_string_ostream os(out);
      {
        PrintableStream stream(os);
        if (color) stream.AllowColor();
        for (llvm::StringRef rest = text; !rest.empty();
             rest = rest.drop_front(std::min(size, rest.size()))) {
          stream << rest.take_front(size);
          stream.flush();
        }
      }
      EXPECT_EQ(os.str(), whole) << size;
    }
  }
}

}  // namespace
}  // namespace grapnel
