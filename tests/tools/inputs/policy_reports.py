"""Whether the reports of `grapnel check` are what reads them expects: JUnit by the schema of Jenkins' xunit plugin, SARIF 2.1.0, Mermaid;
and whether fingerprints stay when names change.

usage: policy_reports.py FOLDER      `grapnel` is on PATH; the working folder has the models and the policy
"""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

JUNIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../testdata/schemas/junit-10.xsd")


def wrong_junit(file):
    done = subprocess.run(["xmllint", "--noout", "--schema", JUNIT, file], capture_output=True, text=True)
    return [] if done.returncode == 0 else done.stderr.splitlines()


def wrong_counts(root):
    suite = root[0]
    counted = {"tests": len(suite.findall("testcase")), "failures": len(suite.findall("testcase/failure")),
               "skipped": len(suite.findall("testcase/skipped"))}
    for name, count in counted.items():
        if int(suite.get(name)) != count:
            yield f"junit: {name} says {suite.get(name)}, there are {count}"


def wrong_result(result, rules):
    location = result["locations"][0]
    place = location["physicalLocation"]
    if result["ruleId"] not in rules:
        yield f"sarif: {result['ruleId']} is not a rule"
    if result["level"] not in ("error", "warning", "note"):
        yield f"sarif: level {result['level']}"
    if not result["message"]["text"].endswith("."):
        yield f"sarif: {result['message']}"
    uri = place["artifactLocation"]["uri"]
    if not re.fullmatch(r"[A-Za-z0-9%._~/-]+", uri) or uri.startswith("/"):
        yield f"sarif: uri {uri}"
    if "region" in place and place["region"]["startLine"] < 1:
        yield f"sarif: {place}"
    for logical in location.get("logicalLocations", []):
        if not logical["fullyQualifiedName"].endswith(logical["name"]):
            yield f"sarif: {logical}"
    if not result.get("partialFingerprints") and result["ruleId"] != "waiver":
        yield f"sarif: no fingerprint of {result['ruleId']}"


def wrong_sarif(document):
    if document["version"] != "2.1.0" or not document["$schema"].startswith("https://"):
        yield f"sarif: {document['version']}, {document['$schema']}"
    run, = document["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    marks = [result["partialFingerprints"]["grapnelNode/v1"] for result in run["results"] if "partialFingerprints" in result]
    if len(marks) != len(set(marks)):
        yield f"sarif: fingerprints that are alike: {marks}"
    for result in run["results"]:
        yield from wrong_result(result, rules)


def wrong_markdown(text):
    drawing = re.search(r"```mermaid\n(.*?)```", text, re.S)
    if not drawing:
        yield "markdown: no drawing"
        return
    lines = drawing[1].splitlines()
    boxes = {match[1] for line in lines if (match := re.fullmatch(r'  (\w+)\["[^"<>]*"\](?::::\w+)?', line))}
    edges = [match for line in lines if (match := re.fullmatch(r"  (\w+) --> (\w+)", line))]
    rest = [line for line in lines[1:] if not re.match(r"  (\w+\[|\w+ -->|classDef )", line)]
    if lines[0] != "flowchart LR" or rest:
        yield f"markdown: {lines[0]}, {rest}"
    if not 0 < len(boxes) <= 60:
        yield f"markdown: {len(boxes)} boxes"
    for edge in edges:
        if not {edge[1], edge[2]} <= boxes:
            yield f"markdown: {edge[0]}"
    print(f"{len(boxes)} boxes, {len(edges)} edges")


def check(model, folder, *arguments):
    files = {name: os.path.join(folder, f"report.{name}") for name in ("xml", "sarif", "md")}
    done = subprocess.run(["grapnel", "check", model, "--policy", "policy.toml", "--date", "2026-06-01", "-q", "--junit", files["xml"], "--sarif",
                           files["sarif"], "--markdown", files["md"], *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"{model}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    with open(files["sarif"]) as sarif, open(files["md"]) as markdown:
        return files["xml"], json.load(sarif), markdown.read()


def marks(sarif):
    return sorted((result["ruleId"], result["partialFingerprints"]["grapnelNode/v1"]) for result in sarif["runs"][0]["results"]
                  if "partialFingerprints" in result)


def main(folder):
    faults = []
    for model in ("model.gtxt", "grown.gtxt"):
        junit, sarif, markdown = check(model, folder, "--against", "base.gtxt")
        faults += [*wrong_junit(junit), *wrong_counts(ElementTree.parse(junit).getroot()), *wrong_sarif(sarif), *wrong_markdown(markdown)]
        with open(model) as f:
            renamed = re.sub(r"\bhead/", "tail/", re.sub(r"\bx\b", "image", f.read()))
        with open("renamed.gtxt", "w") as f:
            f.write(renamed)
        if marks(check("renamed.gtxt", folder, "--against", "base.gtxt")[1]) != marks(sarif):
            faults.append(f"{model}: other fingerprints when names change")
    print("\n".join([*faults, f"{len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
