"""Opens, optimizes, places, runs and debugs TensorFlow graphs, without TensorFlow.

    import tfgrapnel as tg
    graph = tg.load("model.pb")
    fast = graph.optimize(fetch="Identity")
    print(fast.text)
    fast.graph.run({"x": array})

Every command of `grapnel` is a function, and a method of Graph: help(tg.optimize).
"""

from ._processor import demand_processor

demand_processor()

from . import results  # noqa: E402
from ._tfgrapnel import version as __version__  # noqa: E402
from ._call import GraphResult, Result, RunResult  # noqa: E402
from ._commands import *  # noqa: E402, F403
from . import _commands  # noqa: E402
from ._errors import Error, GrapnelWarning  # noqa: E402
from ._progress import progress  # noqa: E402
from ._passes import optimizer, pass_, rule, unregister  # noqa: E402
from ._tfgrapnel import Body, Editor, Node, Port, RuleContext, Verdict  # noqa: E402
from ._graph import DebugFolder, Graph, Graphs, Signature, Table, load, why_not  # noqa: E402
from ._case import capture  # noqa: E402
from ._shown import Shown as _Shown  # noqa: E402
from ._tensorflow import PlacementLog, Timeline, dumps, placement_log  # noqa: E402


def _bundle(shown):
    from ._notebook import bundle  # only notebooks pay for it

    return bundle(shown)


_Shown._bundle = _bundle

__all__ = [
    "Body",
    "DebugFolder",
    "Editor",
    "Error",
    "Graph",
    "GraphResult",
    "Graphs",
    "GrapnelWarning",
    "Node",
    "PlacementLog",
    "Port",
    "Result",
    "RuleContext",
    "RunResult",
    "Signature",
    "Table",
    "Timeline",
    "Verdict",
    "capture",
    "dumps",
    "load",
    "optimizer",
    "pass_",
    "placement_log",
    "progress",
    "results",
    "rule",
    "unregister",
    "why_not",
]
__all__ += _commands.__all__
