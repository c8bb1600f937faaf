"""The measurements, kept in results.json, and their tables in docs/internals/benchmarks.md, between two marks."""
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FILE, REASONS, PAGE = HERE / "results.json", HERE / "reasons.txt", ROOT / "docs" / "internals" / "benchmarks.md"
BEGIN, END = "<!-- ./x bench --peers writes what follows -->", "<!-- the end of what ./x bench --peers writes -->"


@dataclasses.dataclass
class Goal:
    """A goal: `got` must be at most `limit`. `of` is the reference, as in 'of TensorFlow', or the unit: 's', 'MB'."""
    got: float
    limit: float
    of: str


@dataclasses.dataclass
class Row:
    """A row of a table. Times are seconds unless the table says otherwise; a peer without a time has the reason as text."""
    work: str
    own: float | str
    peers: dict = dataclasses.field(default_factory=dict)
    goals: list = dataclasses.field(default_factory=list)
    memory: str = ""
    exponent: str = ""
    size: int = 0       # nodes, of rows whose id is SERIES/SIZE
    start: float = 0.0  # the time of a process without work, in the same run


def number(value):
    """Three digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value else "0"


def seconds(value):
    if isinstance(value, str):
        return value
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{number(value / size)} {unit}"
    return f"{number(value * 1e9)} ns"


def ratio(own, peer):
    """The ratio of two times, for goals and cells; None if a side has no time."""
    return own / peer if not isinstance(own, str) and not isinstance(peer, str) and peer else None


def in_terms(value, of):
    return seconds(value) if of == "s" else f"{number(value)} {of}"


def goal_text(goal):
    return in_terms(goal.limit, goal.of)


def got_text(goal):
    return in_terms(goal.got, goal.of)


def read_reasons(path=REASONS):
    """{pattern of row ids: reason}, from lines 'pattern: reason'."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    for line in lines:
        if not re.match(r"\S+:\s+\S", line):
            raise ValueError(f"{path.name}: 'PATTERN: REASON' was expected, not '{line}'")
    return dict(re.split(r":\s+", line.strip(), maxsplit=1) for line in lines)


def reason_for(row_id, reasons):
    return next((reason for pattern, reason in reasons.items() if fnmatch.fnmatchcase(row_id, pattern)), "")


def verdict(row_id, goals, reasons):
    short = [g for g in goals if g.got > g.limit]
    if not goals:
        return ""
    if not short:
        return "yes"
    return f"**no**, {', '.join(map(got_text, short))}: {reason_for(row_id, reasons) or 'no reason is given yet'}"


def table(rows, busy, reasons, unit=seconds):
    """Markdown for {id: Row}; `busy` are rows with the same ids, measured beside a process that spins."""
    peers = list(dict.fromkeys(name for row in rows.values() for name in row.peers))
    has = {part: any(getattr(row, part) for row in rows.values()) for part in ("memory", "exponent", "goals")}
    head = ["work", "grapnel", *peers, *(f"grapnel / {name}" for name in peers)]
    head += ["one core busy"] * any(i in busy for i in rows) + ["memory"] * has["memory"] + ["exponent"] * has["exponent"]
    head += ["goal", "met"] * has["goals"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row_id, row in rows.items():
        cells = [row.work, unit(row.own)]
        cells += [unit(row.peers[name]) if name in row.peers else "" for name in peers]
        ratios = [ratio(row.own, row.peers.get(name, "")) for name in peers]
        cells += ["" if r is None else number(r) for r in ratios]
        if "one core busy" in head:
            other = busy.get(row_id)
            beside = [ratio(other.own, value) for value in other.peers.values()] if other else []
            shown = ", ".join(number(r) for r in beside if r is not None)
            cells.append((unit(other.own) + (f" ({shown})" if shown else "")) if other else "")
        cells += [row.memory] * has["memory"] + [row.exponent] * has["exponent"]
        if has["goals"]:
            cells += [", ".join(goal_text(g) for g in row.goals), verdict(row_id, row.goals, reasons)]
        lines.append("| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


@dataclasses.dataclass
class Family:
    """A table: {name of a row: function that measures it}, in the table's order. A row's id is FAMILY/NAME. `finish` gets all measured
    rows, {id: Row}, and adds values that need several rows: exponents, means."""
    name: str
    title: str
    what: str
    rows: dict
    unit: object = seconds
    finish: object = None
    has_busy: bool = True


class Results:
    """The rows of results.json."""

    def __init__(self, path=FILE):
        self.path = path
        self.read()

    def read(self):
        self.data = json.loads(self.path.read_text()) if self.path.exists() else {"idle": {}, "busy": {}, "taken": {}}

    def put(self, row_id, row, busy, taken):
        """`taken`: a line on the machine, versions and other work at the time; the page prints it once for all rows with the same line.
        The file is read before it is written: another run may have added rows to it."""
        self.read()
        part = "busy" if busy else "idle"
        self.data[part][row_id] = dataclasses.asdict(row)
        self.data["taken"].setdefault(part, {})[row_id] = taken
        data = {part: dict(sorted(self.data[part].items())) for part in ("idle", "busy")}
        data["taken"] = {part: dict(sorted(rows.items())) for part, rows in sorted(self.data["taken"].items())}
        self.path.with_suffix(".part").write_text(json.dumps(data, indent=1) + "\n")
        os.replace(self.path.with_suffix(".part"), self.path)

    def rows(self, part, family):
        found = {}
        for name in family.rows:
            values = self.data[part].get(f"{family.name}/{name}")
            if values:
                found[f"{family.name}/{name}"] = Row(**values | {"goals": [Goal(**g) for g in values["goals"]]})
        if family.finish:
            family.finish(found)
        return found

    def taken(self):
        """Paragraphs that say where and when the rows were measured."""
        lines = {}
        for part, rows in self.data["taken"].items():
            for row_id, said in rows.items():
                lines.setdefault(said, []).append(("one core busy: " if part == "busy" else "") + row_id.split("/")[0])
        if len(lines) == 1:
            return [next(iter(lines)) + "."]
        return [f"{said}: {', '.join(sorted(set(names)))}." for said, names in sorted(lines.items())]

    def page(self, families, reasons):
        """The text between the marks."""
        parts = []
        for family in families:
            rows = self.rows("idle", family)
            if rows:
                parts.append(f"### {family.title}\n\n{textwrap.fill(family.what, 140)}\n\n{table(rows, self.rows('busy', family), reasons, family.unit)}")
        return "\n\n".join(self.taken() + parts) if parts else "Nothing has been measured yet."


def put_between_marks(text, part):
    """`text` with `part` between the marks."""
    before, mark, rest = text.partition(BEGIN)
    if not mark or END not in rest:
        raise ValueError(f"the page does not have the lines '{BEGIN}' and '{END}'")
    return before + BEGIN + "\n\n" + part + "\n\n" + END + rest.partition(END)[2]
