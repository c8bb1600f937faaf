"""What rows of one work at growing sizes share: turns that leave out what cannot end in time, and exponents."""
from measure import LIMIT, exponent, take_turns
from results import Goal, number

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def turns(bench, series, size, sides, budget=12.0):
    """(own, {peer: seconds or why not}). A peer that at a smaller size took so long that it would take more than its time at this
    one, growing as the size does, is not tried."""
    tried, left_out = dict(sides), {}
    for name in sides:
        before = bench.seen.get((series, name))
        if name != "grapnel" and before and (isinstance(before[1], str) or before[1] * size / before[0] > 1.5 * LIMIT):
            took = before[1] if isinstance(before[1], str) else f"{number(before[1])} s"
            left_out[name] = f"over {LIMIT} s: not tried, as {before[0]:,} nodes took {took}"
            del tried[name]
    found = take_turns(tried, budget)
    for name, value in found.items():
        bench.seen[series, name] = size, value
    own = found.pop("grapnel")
    return own, {name: found.get(name, left_out.get(name)) for name in sides if name != "grapnel"}


def absolute(own, limit):
    return [Goal(own, limit, "s")] if limit and not isinstance(own, str) else []


def add_exponents(rows, goal_from=0, limit=None):
    """Writes the exponent of each series of rows {FAMILY/SERIES/SIZE: Row} into its largest, and where there is a limit the goal."""
    series = {}
    for row_id, row in rows.items():
        series.setdefault(row_id.rpartition("/")[0], []).append(row)
    for of_series in series.values():
        of_series.sort(key=lambda row: row.size)
        start = of_series[-1].start

        def over(part):
            return exponent([row.size for row in part], [row.own for row in part], start)  # pylint: disable=cell-var-from-loop

        whole, upper = over(of_series), over([row for row in of_series if row.size >= goal_from])
        last = of_series[-1]
        if whole is not None:
            last.exponent = f"{whole:.2f}" + (f" ({upper:.2f} from {goal_from:,} nodes)" if goal_from and upper is not None else "")
        if limit and upper is not None and last.size > goal_from:
            last.goals.append(Goal(upper, limit, "as exponent"))
