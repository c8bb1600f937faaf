// Puts op_table.txt into the binary as grapnel_op_table_begin .. grapnel_op_table_end, for
// op_table.cpp. The assembler finds the file by the compiler's -I. A file of its own because ccache
// never keeps one with .incbin.
asm(R"(
        .section .rodata.grapnel_op_table, "a", %progbits
        .globl  grapnel_op_table_begin
        .hidden grapnel_op_table_begin
grapnel_op_table_begin:
        .incbin "lib/ir/op_table.txt"
        .globl  grapnel_op_table_end
        .hidden grapnel_op_table_end
grapnel_op_table_end:
        .byte   0
        .text
)");
