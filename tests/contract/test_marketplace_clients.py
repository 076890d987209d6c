"""Other real clients: the AWS CLI and the AWS SDK for JavaScript create, list, approve, pay and delete.

Both are installed under var/ (tests/prepare.sh), apart from the project: the CLI pins a botocore of its own.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.marketplace.only import marketplace_pass_only

marketplace_pass_only()

from annotation.marketplace.people.access_keys import issue_key  # noqa: E402
from tests.marketplace.fixtures import ANSWER, EXTERNAL, deliver, requester  # noqa: E402, F401

ROOT = Path(__file__).resolve().parents[2]
AWS = ROOT / "var" / "awscli" / "bin" / "aws"
SDK = ROOT / "var" / "js" / "node_modules" / "@aws-sdk" / "client-mturk"
NODE = shutil.which("node")


def environment(key) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "AWS_ACCESS_KEY_ID": key.key_id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
    }


@pytest.mark.skipif(
    not AWS.exists(), reason="needs the AWS CLI: python3 -m venv var/awscli && var/awscli/bin/pip install awscli"
)
def test_the_aws_cli(live_server, requester, tmp_path):  # noqa: F811
    key = issue_key(requester)
    question = tmp_path / "question.xml"
    question.write_text(EXTERNAL)

    def aws(*words: str, ok: bool = True):
        # By its Python: the script names that in its first line, which no system reads where the path has spaces.
        command = [
            str(AWS.with_name("python")),
            str(AWS),
            "--endpoint-url",
            live_server.url,
            "--output",
            "json",
            "mturk",
            *words,
        ]
        run = subprocess.run(command, env=environment(key), capture_output=True, text=True, timeout=120, check=False)
        assert (run.returncode == 0) == ok, run.stderr
        return json.loads(run.stdout or "{}") if ok else run.stderr

    new = ["--title", "Judge", "--description", "d", "--reward", "0.10", "--assignment-duration-in-seconds", "600"]
    life = ["--lifetime-in-seconds", "3600", "--question", f"file://{question}"]
    hit_id = aws("create-hit", *new, *life)["HIT"]["HITId"]
    assert "RequestError" in aws("delete-hit", "--hit-id", hit_id, ok=False)
    assignment_id, worker_id = deliver(hit_id)
    listing = aws("list-assignments-for-hit", "--hit-id", hit_id)
    assert [assignment["AssignmentId"] for assignment in listing["Assignments"]] == [assignment_id]
    aws("approve-assignment", "--assignment-id", assignment_id)
    bonus = ["--bonus-amount", "0.50", "--reason", "thanks", "--assignment-id", assignment_id]
    aws("send-bonus", "--worker-id", worker_id, *bonus)
    aws("delete-hit", "--hit-id", hit_id)
    # 100,000.00 − (0.10 + 0.02) − (0.50 + 0.10)
    assert aws("get-account-balance")["AvailableBalance"] == "99999.28"


SCRIPT = """
import * as mturk from "@aws-sdk/client-mturk";
const client = new mturk.MTurkClient({ endpoint: process.env.ENDPOINT, region: "us-east-1" });
const [, , name, params] = process.argv;
try {
  const answer = await client.send(new mturk[name + "Command"](JSON.parse(params)));
  delete answer.$metadata;
  console.log(JSON.stringify(answer));
} catch (error) {
  console.log(JSON.stringify({ error: error.name, code: error.TurkErrorCode, message: error.message }));
}
"""


@pytest.mark.skipif(
    not SDK.exists() or NODE is None,
    reason="needs Node and the SDK for JavaScript: npm install --prefix var/js @aws-sdk/client-mturk",
)
def test_the_sdk_for_javascript(live_server, requester):  # noqa: F811
    key = issue_key(requester)
    script = ROOT / "var" / "js" / f"call-{os.getpid()}.mjs"
    script.write_text(SCRIPT)

    def call(name: str, **params):
        run = subprocess.run(
            [str(NODE), str(script), name, json.dumps(params)],
            env={**environment(key), "ENDPOINT": live_server.url},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    try:
        kind = {"Title": "Judge", "Description": "d", "Reward": "0.10", "AssignmentDurationInSeconds": 600}
        hit = call("CreateHIT", **kind, LifetimeInSeconds=3600, Question=EXTERNAL, UniqueRequestToken="js")["HIT"]
        hit_id = hit["HITId"]
        assert hit["CreationTime"].startswith("20")  # a date, read from our timestamp
        refusal = call("CreateHIT", **kind, LifetimeInSeconds=3600, Question=EXTERNAL, UniqueRequestToken="js")
        assert (refusal["error"], refusal["code"]) == ("RequestError", "AWS.MechanicalTurk.HitAlreadyExists")
        assert hit_id in refusal["message"]
        assignment_id, worker_id = deliver(hit_id)
        listing = call("ListAssignmentsForHIT", HITId=hit_id)
        assert [assignment["Answer"] for assignment in listing["Assignments"]] == [ANSWER]
        call("ApproveAssignment", AssignmentId=assignment_id)
        bonus = {"BonusAmount": "0.50", "Reason": "thanks", "AssignmentId": assignment_id}
        call("SendBonus", WorkerId=worker_id, **bonus)
        call("DeleteHIT", HITId=hit_id)
        assert call("ListHITs")["HITs"] == []
        assert call("GetAccountBalance")["AvailableBalance"] == "99999.28"
    finally:
        script.unlink()
