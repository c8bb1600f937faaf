"""Prints a graph with a chain of functions, each of which calls the next one twice with the same variable.

usage: called_twice.py FUNCTIONS
"""
import sys

count = int(sys.argv[1])
print("fetch %y\n%v = VarHandleOp {dtype=float, shape=[4,4]}\n%x = Placeholder {dtype=float, shape=[2,4]}")
print("%y = PartitionedCall(%x, %v) {f=@f0}")
for i in range(count):
    print(f"func @f{i}(%x: float, %v: resource) -> (r: float) {{")
    if i + 1 < count:
        print(f"  %a = PartitionedCall(%x, %v) {{f=@f{i + 1}}}\n  %b = PartitionedCall(%a, %v) {{f=@f{i + 1}}}\n  return %b")
    else:
        print("  %w = ReadVariableOp(%v) {dtype=float}\n  %m = MatMul(%x, %w)\n  return %m")
    print("}")
