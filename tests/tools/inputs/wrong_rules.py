"""Each wrong rule of tests/library/plugins/wrong_rules.cpp on a graph of its own: how `opt --check-values` and `bisect` catch it.

    wrong_rules.py PLUGIN.so FOLDER
"""

import os
import subprocess
import sys

X = "%x = Placeholder {dtype=float, shape=[?]}\n"
FIXED = "%x = Placeholder {dtype=float, shape=[3]}\n"
INTS = "%x = Placeholder {dtype=int32, shape=[?]}\n"
ROWS = "%x = Placeholder {dtype=float, shape=[?,4]}\n"
IMAGES = "%x = Placeholder {dtype=float, shape=[?,?,?,1]}\n"
VARIABLE = FIXED + '%v = VarHandleOp {dtype=float, shape=[3], shared_name="v", container=""}\n'
CHAIN = X + "%n = Neg(%x)\n%y = Exp(%n)\n"
CALL = X + """%y = PartitionedCall(%x) {f=@one}
func @one(%a: float) -> (r: float) {
  %n = Neg(%a)
  %e = Exp(%n)
  return %e
}
func @two(%a: float, %b: float) -> (r: float) {
  %s = AddV2(%a, %b)
  return %s
}
"""

# Stopped by what watches the edits, or by the verifier: exit code 2, and no file is written.
BROKEN = {
    "remove_read": (CHAIN, "at 'n' removed 'n', which 'y' still reads"),
    "remove_fetched": (CHAIN, "at 'y' removed 'y', which is fetched"),
    "read_removed": (CHAIN, "at 'y' gave 'y' an input from 'n', which was removed"),
    "wait_for_removed": (CHAIN, "at 'y' gave 'y' an input from 'n', which was removed"),
    "change_removed": (CHAIN, "at 'y' changed 'n' after it was removed"),
    "wrong_dtype": (CHAIN, "broke the graph: node \'n\': input 0 ('x') is float, int32 was expected"),
    "another_dtype_fetched": (CHAIN, "broke the graph: node \'y\': is fetched as float, and is half now"),
    "without_dtype": (CHAIN, "broke the graph: node \'n\': "),
    "number_as_dtype": (CHAIN, "broke the graph: node \'n\': "),
    "constant_of_another_dtype": (X + "%c = Const 2.0\n%y = Mul(%x, %c)\n", "broke the graph: node \'c\': "),
    "one_input_more": (CHAIN, "broke the graph: node \'n\': has 2 inputs, op 'Neg' takes 1"),
    "one_input_less": (CHAIN, "broke the graph: node \'n\': has 0 inputs, op 'Neg' takes 1"),
    "output_that_is_not_there": (CHAIN, "broke the graph: node \'y\': input 0 reads output 5 of 'n', which has 1"),
    "circle": (CHAIN, "broke the graph: "),
    "function_that_is_not_there": (CALL, "broke the graph: node \'y\': function 'nowhere' is not in the library"),
    "function_of_two": (CALL, "broke the graph: node \'y\': function 'two' has 2 arguments"),
    "calls_itself": (CALL, "calls function 'one' again"),
    "made_without_name": (CHAIN, "at 'n' made a node without a name"),
    "op_past_the_editor": (CHAIN, "at 'n' changed 'n' without the Editor"),
    "op_past_the_editor_and_done": (CHAIN, "at 'n' changed 'n' without the Editor"),
    "attribute_past_the_editor": (
        ROWS + "%w = Const 0.5 : float[4,4]\n%y = MatMul(%x, %w)\n",
        "at 'y' changed 'y' without the Editor",
    ),
    "edge_past_the_editor": (CHAIN, "at 'y' changed 'y' without the Editor"),
    "control_edge_past_the_editor": (
        X + '%p = PrintV2("hello")\n%y = Exp(%x, ^p)\n',
        "at 'y' changed 'y' without the Editor",
    ),
    "removed_past_the_editor": (CHAIN, "at 'n' changed 'y' without the Editor"),
    "renamed_past_the_editor": (CHAIN, "at 'n' changed 'another' without the Editor"),
    "made_past_the_editor": (CHAIN, "at 'n' changed 'n' without the Editor"),
    "another_body_past_the_editor": (CALL, "it changed another body without its Editor, that of function 'one'"),
    "pass_past_the_editor": (CHAIN, "it changed 'n' without the Editor"),
    "pass_without_begin": (CHAIN, "it changed 'n' outside of a rewrite"),
    "pass_without_end": (CHAIN, "left a rewrite open"),
    "pass_removes_read": (CHAIN, "at 'n' removed 'n', which 'y' still reads"),
}
# The same in a function's body.
IN_FUNCTION = {
    "remove_read": "at 'n' removed 'n', which 'e' still reads",
    "wrong_dtype": "node 'one/n': input 0 ('a') is float, int32 was expected",
    "op_past_the_editor": "at 'n' changed 'n' without the Editor",
    "pass_past_the_editor": "it changed 'n' without the Editor",
}
# These no rewrite of the ledger did: bisect says no more than opt.
ON_NO_RECORD = {name for name in BROKEN if "past_the" in name or name in ("pass_without_begin", "pass_without_end")}

# Named by what a run computes or does: exit code 1, and the text that says what differs.
VALUES = {
    "sqrt_of_square": (X + "%q = Square(%x)\n%y = Sqrt(%q)\n", "fetch 'y'"),
    "square_of_sqrt": (X + "%q = Sqrt(%x)\n%y = Square(%q)\n", "fetch 'y'"),
    "exp_of_log": (X + "%q = Log(%x)\n%y = Exp(%q)\n", "fetch 'y'"),
    "log_of_exp": (X + "%q = Exp(%x)\n%y = Log(%q)\n", "with values that are not finite"),
    "abs_is_nothing": ("%x = Placeholder {dtype=float, shape=[]}\n%y = Abs(%x)\n", "fetch 'y'"),
    "relu_is_nothing": ("%x = Placeholder {dtype=float, shape=[]}\n%y = Relu(%x)\n", "fetch 'y'"),
    "relu6_is_relu": (FIXED + "%y = Relu6(%x)\n", "with values that are not finite"),
    "no_clip": (FIXED + "%y = ClipByValue(%x, -5.0, 5.0)\n", "with values that are not finite"),
    "floor_is_ceil": (X + "%y = Floor(%x)\n", "fetch 'y'"),
    "floor_div": (INTS + "%y = FloorDiv(%x, 2)\n", "fetch 'y'"),
    "floor_mod": ("%x = Placeholder {dtype=int32, shape=[?,5]}\n" + "%y = FloorMod(%x, 3)\n", "fetch 'y'"),
    "maximum_is_first": (X + "%n = Neg(%x)\n%y = Maximum(%x, %n)\n", "fetch 'y'"),
    "minus_the_other_way": (X + "%y = Sub(%x, 1.0)\n", "fetch 'y'"),
    "and_is_or": (
        "%x = Placeholder {dtype=bool, shape=[?]}\n%o = Placeholder {dtype=bool, shape=[?]}\n%y = LogicalAnd(%x, %o)\n",
        "fetch 'y'",
    ),
    "less_or_equal": (INTS + "%y = Less(%x, 0)\n", "fetch 'y'"),
    "never_nan": (FIXED + "%y = IsNan(%x)\n", "with values that are not finite"),
    "never_infinite": ("%x = Placeholder {dtype=float, shape=[]}\n%y = IsInf(%x)\n", "with values that are not finite"),
    "minus_itself": (FIXED + "%y = Sub(%x, %x)\n", "with values that are not finite"),
    "by_itself": (FIXED + "%y = RealDiv(%x, %x)\n", "with values that are not finite"),
    "times_zero": (FIXED + "%y = Mul(%x, 0.0)\n", "with values that are not finite"),
    "sign_by_division": (FIXED + "%y = Sign(%x)\n", "with values that are not finite"),
    "round_up_halves": ("%x = Placeholder {dtype=float, shape=[8]}\n%h = Mul(%x, 32.0)\n%y = Round(%h)\n", "fetch 'y'"),
    "mean_of_two": (ROWS + "%y = Mean(%x, 0)\n", "with open sizes as 1"),
    "mean_without_nan": (ROWS + "%y = Mean(%x, 0)\n", "with open sizes as 0"),
    "sum_is_max": (ROWS + "%y = Sum(%x, 0)\n", "fetch 'y'"),
    "sum_is_max_of_one": (ROWS + "%y = Max(%x, 0)\n", "fetch 'y'"),
    "same_is_valid": (
        IMAGES + '%y = MaxPool(%x) {ksize=[1,2,2,1], strides=[1,2,2,1], padding="SAME"}\n',
        "with open sizes as 1",
    ),
    "same_is_valid_too": (
        IMAGES + '%w = Const 0.5 : float[2,2,1,1]\n%y = Conv2D(%x, %w) {strides=[1,2,2,1], padding="SAME"}\n',
        "with open sizes as 1",
    ),
    "transpose_by_reshape": ("%x = Placeholder {dtype=float, shape=[?,?]}\n%y = Transpose(%x, [1,0])\n", "fetch 'y'"),
    "concat_swapped": (X + "%n = Neg(%x)\n%y = ConcatV2(%x, %n, 0)\n", "fetch 'y'"),
    "select_swapped": (X + "%n = Neg(%x)\n%g = Greater(%x, 0.0)\n%y = SelectV2(%g, %x, %n)\n", "fetch 'y'"),
    "no_cast": (X + "%i = Cast(%x) {DstT=int32}\n%y = Cast(%i) {DstT=float}\n", "fetch 'y'"),
    "arg_min": (ROWS + "%y = ArgMax(%x, 1)\n", "fetch 'y'"),
    "no_bias": (ROWS + "%y = BiasAdd(%x, [1.0,2.0,3.0,4.0])\n", "fetch 'y'"),
    "transposed_product": (
        ROWS + "%w = Const [[1.0,2.0,3.0,4.0],[0.0,1.0,2.0,3.0],[5.0,1.0,2.0,3.0],[7.0,1.0,2.0,3.0]]\n%y = MatMul(%x, %w)\n",
        "fetch 'y'",
    ),
    "exclusive_sum": (X + "%y = Cumsum(%x, 0)\n", "fetch 'y'"),
    "wrong_template": (
        X + '%f = StringFormat(%x) {template="x is %s"}\n%p = PrintV2(%f)\n%y = Neg(%x, ^p)\n',
        "what is printed",
    ),
    "shape_of_one": (ROWS + "%y = Reshape(%x, [-1,4])\n", "can no longer be computed"),
    "another_branch": (
        X + """%s = Sum(%x, 0)
%p = Greater(%s, 0.0)
%y = If(%p, %x) {then_branch=@plus, else_branch=@minus}
func @plus(%a: float) -> (r: float) {
  %r = Exp(%a)
  return %r
}
func @minus(%a: float) -> (r: float) {
  %r = Neg(%a)
  return %r
}
""",
        "fetch 'y'",
    ),
    "read_does_not_wait": (
        VARIABLE + "%a = AssignVariableOp(%v, %x)\n%n = Neg(%x, ^a)\n%r = ReadVariableOp(%v, ^a) {dtype=float}\n%y = AddV2(%r, %n)\n",
        "fetch 'y' can no longer be computed",
    ),
    "write_does_not_wait": (
        VARIABLE + "%a = AssignVariableOp(%v, %x)\n%n = Neg(%x)\n%b = AssignVariableOp(%v, %n, ^a)\n%y = Exp(%x, ^a, ^b)\n",
        "'v', effect 1",
    ),
    "add_does_not_wait": (
        VARIABLE + "%a = AssignVariableOp(%v, %x)\n%b = AssignAddVariableOp(%v, %x, ^a)\n%y = Exp(%x, ^a, ^b)\n",
        "can no longer be computed",
    ),
    "old_read_does_not_wait": (
        FIXED + '%v = VariableV2 {dtype=float, shape=[3], shared_name="", container=""}\n%a = Assign(%v, %x)\n'
        "%r = Identity(%v, ^a)\n%n = Neg(%x, ^a)\n%y = AddV2(%r, %n)\n",
        "can no longer be computed",
    ),
    "sum_does_not_wait": (X + '%p = PrintV2("hello")\n%y = AddV2(%x, 1.0, ^p)\n', "what is printed, effect 1: was"),
    "exp_does_not_wait": (
        X + '%s = Size(%x)\n%g = Less(%s, 100)\n%a = Assert(%g, %s)\n%y = Exp(%x, ^a)\n',
        "what is asserted, effect 1: was",
    ),
    "log_does_not_wait": (
        X + '%w = WriteFile("FOLDER/written.txt", "text")\n%y = Log(%x, ^w)\n',
        "written.txt', effect 1: was",
    ),
    "print_does_not_wait": (
        X + '%p = PrintV2("first")\n%q = PrintV2("second", ^p)\n%y = Exp(%x, ^p, ^q)\n',
        "what is printed, effect 1",
    ),
    "write_something_else": (VARIABLE + "%a = AssignVariableOp(%v, %x)\n%y = Exp(%x, ^a)\n", "'v', effect 1"),
    "write_elsewhere": (
        VARIABLE + '%other = VarHandleOp {dtype=float, shape=[3], shared_name="w", container=""}\n'
        "%a = AssignVariableOp(%v, %x)\n%b = AssignVariableOp(%other, %x)\n%y = Exp(%x, ^a, ^b)\n",
        "'v', effect 1: was",
    ),
    "drop_second_write": (
        VARIABLE + "%a = AssignVariableOp(%v, %x)\n%n = Neg(%x)\n%b = AssignVariableOp(%v, %n, ^a)\n%y = Exp(%x, ^b)\n",
        "'v', effect 2: was",
    ),
    "print_twice": (X + '%p = PrintV2("once")\n%y = Exp(%x, ^p)\n', "what is printed, effect 2: is"),
    "assert_nothing": (
        FIXED + "%l = Less(%x, 100.0)\n%g = All(%l, 0)\n%a = Assert(%g, %x)\n%y = Exp(%x, ^a)\n",
        "what is asserted",
    ),
    "fed_with_another_shape": (FIXED + "%y = Neg(%x)\n", "can no longer be computed"),
}


# A node that is fetched keeps its name: what rules put in the place of others is read.
for name in set(VALUES) - {"another_branch", "old_read_does_not_wait", "fed_with_another_shape"}:
    VALUES[name] = (VALUES[name][0].replace("%y =", "%z =") + "%y = Identity(%z)\n", VALUES[name][1])


def run(*arguments, folder):
    done = subprocess.run(["grapnel", *arguments], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def caught(name, text, why, code, folder, plugin):
    """What is wrong with how the rule is caught; an empty list where nothing is."""
    with open(os.path.join(folder, "graph.gtxt"), "w") as file:
        file.write("fetch %y\n" + text.replace("FOLDER", folder))
    output = os.path.join(folder, "out.pb")
    if os.path.exists(output):
        os.remove(output)
    options = ["graph.gtxt", "--plugin", plugin, "--passes", name]
    wrong = []

    def demand(good, what):
        if not good:
            wrong.append(what)

    got, said = run("opt", *options, "--check-values", "-o", "out.pb", folder=folder)
    demand(got == code, f"opt ends with {got}")
    demand(why in said, f"opt does not say: {why}")
    demand(not os.path.exists(output), "opt writes a file")
    demand("bug in grapnel" not in said, "opt calls it a bug in grapnel")
    is_named = f"since 1. {name}/" in said or name not in ON_NO_RECORD and f"rule '{name}' of " in said
    if name not in ON_NO_RECORD and not name.startswith("pass_"):
        demand(is_named, "opt does not name the rewrite")
    if code == 2:
        demand(f"pass '{name}'" in said and "wrong_rules.so" in said, "opt does not name the pass and its file")
    found, also_said = run("bisect", *options, folder=folder)
    if name in ON_NO_RECORD:
        demand(found == 2 and why in also_said, f"bisect ends with {found}")
    else:
        demand(found == 0 and why in also_said, f"bisect ends with {found}")
        demand("since rewrite 1 of" in also_said, "bisect does not name the rewrite")
    return [f"{name}: {what}\n{said}{also_said}" for what in wrong]


def main():
    plugin, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    wrong, done = [], 0
    cases = [(name, text, why, 2) for name, (text, why) in BROKEN.items()]
    cases += [(name, CALL, why, 2) for name, why in IN_FUNCTION.items()]
    cases += [(name, text, why, 1) for name, (text, why) in VALUES.items()]
    for case in cases:
        wrong += caught(*case, folder, plugin)
        done += 1
    code, listed = run("passes", "--plugin", plugin, folder=folder)
    there = {line.split()[0] for line in listed.splitlines() if "wrong_rules.so" in line}
    wrong += [f"{name}: has no graph here" for name in there - set(BROKEN) - set(VALUES)]
    for text in wrong:
        print(text)
    print(f"{len(there)} wrong rules in {done} graphs, {len(wrong)} faults of the checks")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
