// Puts a file into the binary. The assembler finds it by the compiler's -I, and the compiler does
// not see that it reads it: CMakeLists.txt names the file, by grapnel_embeds.
#ifndef GRAPNEL_LIB_SUPPORT_EMBED_H_
#define GRAPNEL_LIB_SUPPORT_EMBED_H_

// At global scope: `extern "C" const char SYMBOL_begin[], SYMBOL_end[]` are the bytes of `path`
// (from the repository's root), with a zero byte after them. Both are string literals.
#define GRAPNEL_EMBED_FILE(symbol, path)                           \
  asm(".section .rodata." symbol                                   \
      ", \"a\", %progbits\n"                                       \
      ".globl " symbol "_begin\n.hidden " symbol "_begin\n" symbol \
      "_begin:\n"                                                  \
      ".incbin \"" path                                            \
      "\"\n"                                                       \
      ".globl " symbol "_end\n.hidden " symbol "_end\n" symbol "_end:\n.byte 0\n.text\n")

#endif  // GRAPNEL_LIB_SUPPORT_EMBED_H_
