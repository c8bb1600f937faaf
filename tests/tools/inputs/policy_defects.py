"""Whether `grapnel check` finds what is wrong with a model: each defect below is put into lenet by itself, and has to be found under
policy.toml by its check and at the node that was touched; without it the model passes. Models that are well are passed in silence.

usage: policy_defects.py ROOT FOLDER      `grapnel` is on PATH; FOLDER gets the models
       policy_defects.py ROOT FOLDER --well MODEL...      only whether these pass, this policy and their own
"""
import json
import os
import re
import shutil
import subprocess
import sys

TOP = "sequential_1/"
HERE = os.path.dirname(os.path.abspath(__file__))
POLICY = os.path.join(HERE, "policy.toml")


class Graph:
    """lenet as text, and how it is fed."""

    def __init__(self, text):
        self.lines = text.splitlines()
        self.feeds, self.appended, self.is_plain = {}, b"", False

    def add(self, *lines):
        self.lines += lines

    def change(self, node, pattern, to):
        """In the line of that node."""
        at = next(i for i, line in enumerate(self.lines) if line.startswith(f"%{node} ="))
        changed = re.sub(pattern, to, self.lines[at], count=1)
        assert changed != self.lines[at], (node, pattern)
        self.lines[at] = changed

    def between(self, node, reader, line):
        """`reader` reads what `line` makes, and no longer `node`."""
        self.change(reader, rf"%{re.escape(node)}(?=[,)])", "%" + line.split(" ")[0].lstrip("%"))
        self.add(line)


def field(number, value):
    """Of a protobuf message: bytes, or a number."""
    def varint(n):
        out = b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def float_constant(name, count):
    """A GraphDef of one Const of that many zeros, to be put behind another."""
    shape = field(2, field(1, count))
    tensor = field(1, 1) + field(2, shape) + field(4, bytes(4 * count))
    attrs = [field(5, field(1, key) + field(2, value)) for key, value in ((b"dtype", field(6, 1)), (b"value", field(8, tensor)))]
    return field(1, field(1, name.encode()) + field(2, b"Const") + b"".join(attrs))


def call(graph, body, name="helper"):
    graph.add(f"%{name} = PartitionedCall(%x) {{f=@{name}_f}}", f"func @{name}_f(%a: float) -> (r: float) {{", *body, "  return %r", "}")


DEFECTS = []


def defect(check, *touched):
    """What the function does to a Graph is found by `check`, at one of these nodes or scopes."""
    def add(function):
        DEFECTS.append((check, function.__name__, touched, function))
        return function
    return add


@defect("ops", "py")
def python_op(graph):
    graph.add('%py = PyFunc(%x) {token="f", Tin=[float], Tout=[float]}')


@defect("ops", "helper_f/py")
def python_op_in_a_function(graph):
    call(graph, ['  %py = EagerPyFunc(%a) {token="f", Tin=[float], Tout=[float]}', "  %r = Identity(%a)"])


@defect("ops", "out/write")
def writes_a_file(graph):
    graph.add('%out/write = WriteFile("log.txt", "done")')


@defect("devices", TOP + "flatten_1/Reshape")
def on_another_gpu(graph):
    graph.change(TOP + "flatten_1/Reshape", "$", " @/device:GPU:3")


@defect("devices", TOP + "dense_1/MatMul")
def on_a_tpu_of_a_worker(graph):
    graph.change(TOP + "dense_1/MatMul", "$", " @/job:worker/task:1/device:TPU:0")


@defect("devices", "helper_f/r")
def on_a_gpu_in_a_function(graph):
    call(graph, ["  %r = Identity(%a) @/device:GPU:7"])


@defect("dtypes", "wide")
def cast_to_float64(graph):
    graph.between(TOP + "flatten_1/Reshape", TOP + "dense_1/MatMul", "%narrow = Cast(%wide) {DstT=float}")
    graph.add(f"%wide = Cast(%{TOP}flatten_1/Reshape) {{DstT=double}}")


@defect("dtypes", "epsilon")
def constant_in_float64(graph):
    graph.add("%epsilon = Const 0.001 : double", "%small = Cast(%epsilon) {DstT=float}")


@defect("dtypes", "helper_f/noise")
def random_numbers_in_float64(graph):
    call(graph, ["  %noise = RandomUniform([2,2]) {dtype=double}", "  %r = Identity(%a)"])


@defect("dtypes", "waves")
def complex128(graph):
    graph.add("%waves = Cast(%x) {DstT=complex128}")


@defect("lost_fusions", TOP + "conv2d_1/Relu")
def relu_by_hand(graph):
    graph.change(TOP + "conv2d_1/Relu", r"Relu\(([^)]*)\)", r"Maximum(\1, 0.0)")


@defect("lost_fusions", TOP + "dense_1/Tanh", TOP + "dense_1/BiasAdd")
def skip_connection(graph):
    graph.between(TOP + "dense_1/Tanh", TOP + "dense_1_2/MatMul", f"%skip = AddV2(%{TOP}dense_1/Tanh, %skip/scaled)")
    graph.add(f"%skip/scaled = Mul(%{TOP}dense_1/BiasAdd, 1e-20)")


@defect("unused_inputs", "mask")
def input_that_nobody_reads(graph):
    graph.add("%mask = Placeholder {dtype=float, shape=[2,16,16,1]}")
    graph.feeds["mask:0"] = "feed_0.npy"


@defect("unused_inputs", "mask")
def input_of_which_the_shape_is_read(graph):
    graph.add("%mask = Placeholder {dtype=float, shape=[2,16,16,1]}", "%mask/shape = Shape(%mask)",
              f"%mask/like = Reshape(%{TOP}conv2d_1/Relu, [2,16,16,6], ^mask/shape)")
    graph.change(TOP + "flatten_1/Reshape/shape", r"Const \[2,108\]", "Pack(%mask/rows, 108)")
    graph.add("%mask/rows = StridedSlice(%mask/shape, [0], [1], [1]) {shrink_axis_mask=1}")
    graph.feeds["mask:0"] = "feed_0.npy"


@defect("debug_ops", "shown")
def printed(graph):
    graph.between(TOP + "flatten_1/Reshape", TOP + "dense_1/MatMul",
                  f'%shown = Print(%{TOP}flatten_1/Reshape, %x) {{message="features"}}')


@defect("debug_ops", "check/Assert")
def asserted(graph):
    graph.add('%check/Assert = Assert(true, "wrong")')
    graph.change("Identity", r"\^NoOp", "^NoOp, ^check/Assert")


@defect("debug_ops", "finite")
def checked_for_nan(graph):
    graph.between(TOP + "dense_2_1/BiasAdd", TOP + "dense_2_1/Softmax",
                  f'%finite = CheckNumerics(%{TOP}dense_2_1/BiasAdd) {{message="logits"}}')


@defect("debug_ops", "helper_f/say")
def printed_in_a_function(graph):
    call(graph, ['  %say = PrintV2("here")', "  %r = Identity(%a, ^say)"])


@defect("unguarded_ops", "unit/divide")
def divides_by_a_norm(graph):
    graph.is_plain = True
    graph.add(f"%unit/square = Square(%{TOP}dense_1/Tanh)", "%unit/sum = Sum(%unit/square, [1]) {keep_dims=true}",
              f"%unit/divide = RealDiv(%{TOP}dense_1/Tanh, %unit/sum)")


@defect("unguarded_ops", "energy/log")
def log_of_a_sum_of_squares(graph):
    graph.is_plain = True
    graph.add(f"%energy/square = Square(%{TOP}dense_1/Tanh)", "%energy/sum = Sum(%energy/square, [1])", "%energy/log = Log(%energy/sum)")


@defect("unguarded_ops", "scale/rsqrt")
def root_of_a_variance(graph):
    graph.is_plain = True
    graph.add(f"%scale/square = Square(%{TOP}dense_1/Tanh)", "%scale/mean = Mean(%scale/square, [1])", "%scale/rsqrt = Rsqrt(%scale/mean)")


def traces(graph, number):
    for i in range(number):
        yield i, f"__inference_predict_{100 + i}"


@defect("retraced_functions", "__inference_predict_100")
def traced_for_each_number(graph):
    for i, name in traces(graph, 6):
        graph.add(f"%call_{i} = PartitionedCall(%x) {{f=@{name}}}", f"func @{name}(%a: float) -> (r: float) {{", f"  %r = Mul(%a, {i}.5)",
                  "  return %r", "}")


@defect("retraced_functions", "__inference_predict_100")
def traced_for_each_shape(graph):
    for i, name in traces(graph, 5):
        graph.add(f"%part_{i} = Slice(%x, [0,0,0,0], [1,{i + 1},1,1])", f"%call_{i} = PartitionedCall(%part_{i}) {{f=@{name}}}",
                  f"func @{name}(%a: float) -> (r: float) {{", "  %r = Relu(%a)", "  return %r", "}")


@defect("nodes", "unrolled")
def unrolled_loop(graph):
    graph.add("%unrolled/step_0 = Relu(%x)", *(f"%unrolled/step_{i} = Relu(%unrolled/step_{i - 1})" for i in range(1, 10_000)))


@defect("flops", "huge/product")
def large_product(graph):
    graph.add("%huge/ones = Fill([2000,2000], 1.0)", "%huge/product = MatMul(%huge/ones, %huge/ones)")


@defect("flops", "helper_f/conv")
def large_convolution_in_a_function(graph):
    call(graph, ["  %image = Fill([1,512,512,32], 1.0)", "  %filter = Fill([7,7,32,32], 1.0)",
                 '  %conv = Conv2D(%image, %filter) {padding="SAME", strides=[1,1,1,1]}', "  %largest = Max(%conv, [0,1,2,3])",
                 "  %r = AddV2(%a, %largest)"])


@defect("parameters", "embedding/table")
def large_variable(graph):
    graph.add('%embedding/table = VarHandleOp {dtype=float, shape=[60000,512], shared_name="embedding/table"}')


@defect("parameters", "old/weights")
def large_variable_of_tensorflow_1(graph):
    graph.add("%old/weights = VariableV2 {dtype=float, shape=[8000,4000]}")


@defect("peak_memory", "wide/ones")
def large_tensor(graph):
    graph.add("%wide/ones = Fill([11000,11000], 1.0)")


@defect("file_size", "padding")
def large_constant(graph):
    graph.appended = float_constant("padding", 6_300_000)


@defect("outputs", TOP + "average_pooling2d_1/AvgPool")
def another_pooling(graph):
    graph.change(TOP + "average_pooling2d_1/AvgPool", "AvgPool\\(", "MaxPool(")


@defect("outputs", TOP + "dense_1/MatMul")  # the factor is new, and has nothing to be compared with
def another_factor(graph):
    graph.between(TOP + "flatten_1/Reshape", TOP + "dense_1/MatMul", f"%{TOP}dense_1/factor = Mul(%{TOP}flatten_1/Reshape, 1.5)")


@defect("changed_weights", TOP + "dense_2_1/BiasAdd/ReadVariableOp/resource")
def weight_that_was_rounded(graph):
    graph.change(TOP + "dense_2_1/BiasAdd/ReadVariableOp/resource", r"0\.061407935", "0.0614079")


@defect("changed_weights", TOP + "batch_normalization_1/batchnorm/add/y")
def another_epsilon(graph):
    graph.change(TOP + "batch_normalization_1/batchnorm/add/y", r"0\.001", "0.001000001")


def grapnel(*arguments):
    return subprocess.run(["grapnel", *arguments], capture_output=True, text=True, timeout=300)


def write(graph, root, folder):
    """A case folder; a plain graph where nothing is to be run."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    text = os.path.join(folder, "graph.gtxt")
    with open(text, "w") as f:
        f.write("\n".join(graph.lines) + "\n")
    model = os.path.join(folder, "graph.pb")
    done = grapnel("convert", text, "-o", model, "-q")
    if done.returncode:
        return None, done.stderr
    os.remove(text)
    if graph.appended:
        with open(model, "ab") as f:
            f.write(graph.appended)
    if graph.is_plain:
        return model, ""
    lenet = os.path.join(root, "testdata/models/lenet")
    for name in ("feed_0.npy", "out_0.npy"):
        shutil.copy(os.path.join(lenet, name), folder)
    with open(os.path.join(lenet, "case.json")) as f:
        case = json.load(f)
    case["feeds"].update(graph.feeds)
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump(case, f)
    return folder, ""


def check(model, *arguments):
    done = grapnel("check", model, "--policy", POLICY, "--json", *arguments)
    if done.returncode not in (0, 1):
        return done.returncode, [{"check": "exit code", "node": done.stderr, "scope": None}]
    # Without BASE, or without values expected, some checks cannot be made, which is a warning.
    findings = [finding for finding in json.loads(done.stdout)["findings"] if "the check could not run" not in finding["what"]]
    return done.returncode, findings


def fault(root, folder, name, touched, text, edit, undone):
    """Empty: it was found where it is, and nothing is found without it."""
    base = os.path.join(root, "testdata/models/lenet")
    graph = Graph(text)
    edit(graph)
    if undone:
        is_plain, graph = graph.is_plain, Graph(text)
        graph.is_plain = is_plain
    model, error = write(graph, root, os.path.join(folder, name))
    if not model:
        return error
    code, findings = check(model, "--against", base)
    if undone:
        return f"exit code {code}, {findings}" if code or findings else ""
    found = [finding for finding in findings if finding["check"] == touched[0]]
    at = {finding["node"] or finding["scope"] for finding in found}
    return "" if code == 1 and at & set(touched[1]) else f"exit code {code}, {findings}"


def wrong(root, folder):
    base = os.path.join(folder, "lenet.gtxt")
    os.makedirs(folder, exist_ok=True)
    if error := grapnel("convert", os.path.join(root, "testdata/models/lenet"), "-o", base, "-q").stderr:
        yield error
    with open(base) as f:
        text = f.read()
    for name, function_name, touched, edit in DEFECTS:
        for undone in (True, False):
            if text_of_fault := fault(root, folder, function_name, (name, touched), text, edit, undone):
                yield f"{name}: {function_name}{' undone' if undone else ''}: {text_of_fault}"


def loud(folder, models):
    """Models that are not passed in silence, and those that fail the policy that --init makes of them."""
    os.makedirs(folder, exist_ok=True)
    own = os.path.join(folder, "own.toml")
    for model in models:
        code, findings = check(model)
        if code or findings:
            yield f"{model}: exit code {code}, {findings}"
        with open(own, "w") as f:
            f.write(grapnel("check", model, "--init").stdout)
        done = grapnel("check", model, "--policy", own)
        if done.returncode or "nothing found" not in done.stdout:
            yield f"{model}: exit code {done.returncode} with a policy of its own: {done.stdout}{done.stderr}"


def main(root, folder, *models):
    if models:
        faults = list(loud(folder, models[1:]))
        print("\n".join([*faults, f"{len(models) - 1} models, {len(faults)} faults"]))
        return 1 if faults else 0
    faults = list(wrong(root, folder))
    checks = {name for name, _, _, _ in DEFECTS}
    print("\n".join([*faults, f"{len(DEFECTS)} defects of {len(checks)} checks, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
