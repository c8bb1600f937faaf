// Embeds a file into the binary. The assembler finds the file through the compiler's -I. The
// compiler does not see this dependency, so CMakeLists.txt declares it with grapnel_embeds.
#ifndef GRAPNEL_LIB_SUPPORT_EMBED_H_
#define GRAPNEL_LIB_SUPPORT_EMBED_H_

// Use at global scope. `path` is relative to the repository root. The program then declares `extern
// "C" const char SYMBOL_begin[], SYMBOL_end[]`, which delimit the file's bytes; a zero byte follows
// them. Both arguments are string literals.
#define GRAPNEL_EMBED_FILE(symbol, path)                           \
  asm(".section .rodata." symbol                                   \
      ", \"a\", %progbits\n"                                       \
      ".globl " symbol "_begin\n.hidden " symbol "_begin\n" symbol \
      "_begin:\n"                                                  \
      ".incbin \"" path                                            \
      "\"\n"                                                       \
      ".globl " symbol "_end\n.hidden " symbol "_end\n" symbol "_end:\n.byte 0\n.text\n")

#endif  // GRAPNEL_LIB_SUPPORT_EMBED_H_
