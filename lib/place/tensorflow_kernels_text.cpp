// Puts tensorflow_kernels.txt into the binary as grapnel_tensorflow_kernels_begin .. _end, for
// tensorflow_kernels.cpp. The assembler finds the file by the compiler's -I. A file of its own
// because ccache never keeps one with .incbin.
asm(R"(
        .section .rodata.grapnel_tensorflow_kernels, "a", %progbits
        .globl  grapnel_tensorflow_kernels_begin
        .hidden grapnel_tensorflow_kernels_begin
grapnel_tensorflow_kernels_begin:
        .incbin "lib/place/tensorflow_kernels.txt"
        .globl  grapnel_tensorflow_kernels_end
        .hidden grapnel_tensorflow_kernels_end
grapnel_tensorflow_kernels_end:
        .byte   0
        .text
)");
