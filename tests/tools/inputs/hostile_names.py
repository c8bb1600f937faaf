"""hostile_names.py OUT.pbtxt: a graph whose names of nodes, functions, ops, attributes, devices and whose strings are hostile."""

import sys

BAD = r"a\033[2J\302\233\342\200\256\177\000\ntail"

GRAPH = f"""
node {{ name: "{BAD}" op: "Const" device: "/device:{BAD}:0"
  attr {{ key: "dtype" value {{ type: DT_STRING }} }}
  attr {{ key: "{BAD}" value {{ s: "{BAD}\\377" }} }}
  attr {{ key: "value" value {{ tensor {{ dtype: DT_STRING tensor_shape {{ }} string_val: "{BAD}\\377" }} }} }} }}
node {{ name: "scope/{BAD}" op: "{BAD}" input: "{BAD}" input: "missing{BAD}" }}
node {{ name: "scope/{BAD}" op: "Identity" input: "{BAD}" attr {{ key: "T" value {{ type: DT_STRING }} }} }}
node {{ name: "call" op: "PartitionedCall" attr {{ key: "f" value {{ func {{ name: "f{BAD}" }} }} }} }}
library {{ function {{ signature {{ name: "f{BAD}" }} node_def {{ name: "{BAD}" op: "NoOp" }} }} }}
"""

with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(GRAPH)
