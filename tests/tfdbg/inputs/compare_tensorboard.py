"""compare_tensorboard.py INFO_JSON BLAME_JSON TB_JSON: whether grapnel reads of a debug folder what TensorBoard does."""

import json
import pathlib
import sys

info, blame = (json.load(open(path)) for path in sys.argv[1:3])
run = info["runs"][0]
answers = pathlib.Path(sys.argv[3])


def answer(name):
    return json.load(open(answers / f"{name}.json"))


def say(what, ours, theirs):
    print(f"{what}, the same" if ours == theirs else f"{what}, differ:\n  {ours}\n  {theirs}")


def counts(value):
    return tuple(value.get(key) for key in ("elements", "neg_inf", "pos_inf", "nan"))


ours = [(a["trace"], a["execution"], a["op"], a["output"], counts(a["value"])) for a in blame["bad_tensors"]]
theirs = [
    (a["graph_execution_trace_index"], a["execution_index"], a["op_type"], a["output_slot"],
     tuple(a[key] for key in ("size", "num_neg_inf", "num_pos_inf", "num_nan")))
    for a in answer("alerts")["alerts"]
]
order = lambda alert: (alert[0] is None, alert[0], alert[1], alert[3])  # traces, then executions
say(f"alerts {blame['alerts']}", sorted(ours, key=order), sorted(theirs, key=order))


def stack(index):
    return [run["frames"][frame]["id"] for frame in run["stacks"][index]]


def health(value):
    return (value["rank"], *counts(value), *(value[key] for key in ("negative", "zero", "positive"))) if "nan" in value else None


page = answer("exdata")
say("executions",
    [(e["wall_time"], e["op"], e["inputs"], e["outputs"], stack(e["stack"]), [health(v) for v in e["values"]])
     for e in run["executions"][page["begin"]:page["end"]]],
    [(e["wall_time"], e["op_type"], e["input_tensor_ids"], e["output_tensor_ids"], e["stack_frame_ids"],
      [v and tuple(v[3:]) for v in e["debug_tensor_values"]]) for e in page["executions"]])

page = answer("gxdata")
say("traces",
    [(t["wall_time"], t["node"], t["output"], run["graphs"][t["graph"]]["id"], t["device"], health(t["value"]))
     for t in run["traces"][page["begin"]:page["end"]]],
    [(t["wall_time"], t["op_name"], t["output_slot"], t["graph_id"], t["device_name"], tuple(t["debug_tensor_value"][3:]))
     for t in page["graph_executions"]])

theirs = answer("ginfo")
graph = next(g for g in run["graphs"] if g["id"] == theirs["graph_id"])
say("graph", (graph["name"], run["graphs"][graph["outer"]]["id"]), (theirs["name"], theirs["outer_graph_id"]))

theirs = answer("opinfo")
op = next(o for o in graph["ops"] if o["name"] == theirs["op_name"])
say("op", (op["op"], op["inputs"], op["outputs"], stack(op["stack"])),
    (theirs["op_type"], [f"{i['op_name']}:{i['output_slot']}" for i in theirs["inputs"]], theirs["num_outputs"],
     theirs["stack_frame_ids"]))

sources = [[s["host"], s["path"]] for s in run["sources"]]
say(f"sources {len(sources)}", sources, answer("sfl"))
