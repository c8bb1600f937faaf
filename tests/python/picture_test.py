"""Whether the picture of a network that Keras made is its layers and blocks (scripts/picture_layers.py). $GRAPNEL is the binary."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts"
GRAPNEL = os.environ["GRAPNEL"]
NETWORKS = ["bert_like", "mobilenet_v3_large"]


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([sys.executable, str(SCRIPTS / "network_graphs.py"), cls.folder.name, *NETWORKS], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_boxes_are_layers_or_runs_of_them(self):
        command = [sys.executable, str(SCRIPTS / "picture_layers.py"), GRAPNEL, self.folder.name, *NETWORKS]
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_every_part_can_be_opened(self):
        for name in NETWORKS:
            model = os.path.join(self.folder.name, name + ".pb")
            for box in self.boxes(model):
                if box["kind"] != "scope":
                    continue
                path = box["id"].removesuffix("/")
                inside = [b["id"] for b in self.boxes(model, "--scope", path)]
                self.assertNotIn(box["id"], inside, f"{name}: {path} is still closed")

    def boxes(self, model, *options):
        run = subprocess.run([GRAPNEL, "view", model, "-o", "-", "--format", "json", "--quiet", *options], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["boxes"]


if __name__ == "__main__":
    unittest.main()
