# SPDX-License-Identifier: BSD-2-Clause
"""Runs the steps of github-action.yml and gitlab-ci.yml in a shell, as a push and as pull requests would.

usage: ci_steps.py EXAMPLES PKBPF COMMAND FOLDER_OF_FAKE_COMMANDS   (COMMAND takes its seconds of CPU time as an argument)
"""
import os
import re
import subprocess
import sys

import yaml

EXAMPLES, PKBPF, COMMAND, FAKES = sys.argv[1:]
OPTIONS = {"options": "-e cpu --frequency 999 --slice 100ms", "runs": "2", "conditions": "cpu.total>+30%\n", "pkbpf": PKBPF}


def shell(script, environment):
    """Status of a step."""
    path = f"{os.path.abspath(FAKES)}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-e", "-c", script], env={**os.environ, **environment, "PATH": path}, check=False).returncode


def asked():
    """What was asked of the fake commands since the last time."""
    if not os.path.exists("asked"):
        return ""
    with open("asked", encoding="utf-8") as file:
        text = file.read()
    os.unlink("asked")
    return text


def github(event, seconds):
    """Status of the action's verdict."""
    with open(f"{EXAMPLES}/github-action.yml", encoding="utf-8") as file:
        action = yaml.safe_load(file)
    inputs = {name: row.get("default", "") for name, row in action["inputs"].items()}
    inputs.update(OPTIONS, command=f"{COMMAND} {seconds}")
    outputs = {}

    def value(expression):
        known = {
            "github.action_path": EXAMPLES,
            "github.event_name == 'push' && '1' || ''": "1" if event == "push" else "",
            "github.token": "secret",
            "github.event.number": "12",
            "steps.profile.outputs.status": outputs.get("status"),
            **{f"inputs.{name}": text for name, text in inputs.items()},
        }
        return known[expression]

    status = None
    for step in action["runs"]["steps"]:
        if "run" not in step or (step.get("if") == "github.event_name == 'pull_request'" and event != "pull_request"):
            continue
        assert "${{" not in step["run"], "an expression in a script runs what others have written"
        environment = {
            name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: value(found.group(1)), text) for name, text in step.get("env", {}).items()
        }
        status = shell(step["run"], {**environment, "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"})
        if os.path.exists("output"):
            with open("output", encoding="utf-8") as file:
                outputs.update(line.strip().split("=", 1) for line in file)
            os.unlink("output")
    return status


def gitlab(event, seconds):
    """Status of the job's script."""
    with open(f"{EXAMPLES}/gitlab-ci.yml", encoding="utf-8") as file:
        job = yaml.safe_load(file)[".pkbpf"]
    environment = {**job["variables"], **{name.upper(): text for name, text in OPTIONS.items()}}
    environment.update(COMMAND=f"{COMMAND} {seconds}", SCRIPT=f"{EXAMPLES}/regression_gate.sh", PKBPF_COMMENT_TOKEN="secret")
    environment.update(CI_API_V4_URL="https://gitlab.example/api/v4", CI_PROJECT_ID="3")
    if event == "push":
        environment.update(next(rule["variables"] for rule in job["rules"] if "variables" in rule))
    else:
        environment["CI_MERGE_REQUEST_IID"] = "12"
    return shell("\n".join(job["script"]), environment)


for run, note in ((github, "gh pr comment 12 --body-file"), (gitlab, "projects/3/merge_requests/12/notes")):
    for event, seconds, expected in (("push", 0.6, 0), ("pull_request", 0.6, 0), ("pull_request", 1.3, 3)):
        status = run(event, seconds)
        assert status == expected, f"{run.__name__}: {event} of {seconds} s: status {status}, not {expected}"
        assert (note in asked()) == (event == "pull_request"), f"{run.__name__}: {event}: comment"
with open("summary", encoding="utf-8") as file:
    assert "**failed**" in file.read(), "the summary has the verdict"
