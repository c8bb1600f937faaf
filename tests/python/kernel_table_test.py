"""The tables of TensorFlow's kernels (lib/place/tensorflow_kernels*.txt) are as they were made, and the newest agrees with the TensorFlow
of the tests, which is no CUDA build: with all of its CPU kernels, and with those of a GPU that it has too. What the CUDA builds register
is compared by scripts/make_kernel_table.py --check, in ./x test --full.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import make_kernel_table


def kernels_in(line):
    """{(device, host, label, priority): its conditions, each {attribute: values}} of an op's line."""
    found = {}
    for kernel in line.split(" ", 1)[1].split(")") if " " in line else []:
        if not kernel:
            continue
        device, _, fields = kernel.strip().partition("(")
        how = {"host": "", "label": "", "priority": ""}
        conditions = {}
        for each in fields.split():
            if "=" in each:
                attr, _, values = each.partition("=")
                conditions[attr] = set(values.split("|"))
            else:
                key, _, value = each.partition(":")
                how[key] = value
        found.setdefault((device, how["host"], how["label"], how["priority"]), []).append(conditions)
    return found


class KernelTables(unittest.TestCase):
    def test_nobody_edited_them(self):
        for version in make_kernel_table.VERSIONS:
            path = make_kernel_table.table_of(version)
            head, _, body = path.read_text(encoding="utf-8").partition("\n")
            self.assertIn(f"TensorFlow {version},", head)
            self.assertEqual(hashlib.sha256(body.encode()).hexdigest(), head.rpartition(" ")[2], path.name)

    def test_the_newest_agrees_with_tensorflow(self):
        listed = json.loads(subprocess.run([sys.executable, "-c", make_kernel_table.LIST], check=True, stdout=subprocess.PIPE).stdout)
        lines = make_kernel_table.table_of(make_kernel_table.VERSIONS[0]).read_text(encoding="utf-8").splitlines()[1:]
        table = {line.split(" ")[0]: kernels_in(line) for line in lines}
        on_cpu = 0
        for op, device, label, priority, host, constraints in listed["kernels"]:
            if device not in make_kernel_table.DEVICES:
                continue
            conditions = {attr: set(values) for attr, values in constraints}
            rows = table[op].get((device, "|".join(host), label, str(priority or "")), [])
            self.assertTrue(any(conditions.keys() == row.keys() and all(conditions[attr] <= row[attr] for attr in row) for row in rows),
                            f"{op} on {device} for {constraints} is not in the table")
            on_cpu += device == "CPU"
        # As many, so that the table has no others.
        head = make_kernel_table.table_of(make_kernel_table.VERSIONS[0]).read_text(encoding="utf-8").partition("\n")[0]
        self.assertIn(f"({on_cpu:,} CPU,", head)


if __name__ == "__main__":
    unittest.main()
