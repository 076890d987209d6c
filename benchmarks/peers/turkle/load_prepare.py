"""Make Turkle's tables, people, and a batch of tasks; prints the batch and everybody's session as JSON."""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "load_settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from turkle.models import Batch, Project, Task  # noqa: E402

order = json.load(sys.stdin)
call_command("migrate", verbosity=0)
# As in REALSumm's forms: each task brings its own summary and statements.
rows = "".join(
    f"<p>${{{unit}}}</p><label><input type=radio name={unit} value=1>Present</label>"
    f"<label><input type=radio name={unit} value=0>Not present</label>"
    for unit in order["units"]
)
project = Project.objects.create(name="Load", html_template=f"<p>${{summary}}</p>{rows}<input type=submit>")
batch = Batch.objects.create(project=project, name=order["name"], assignments_per_task=1)
fields = {"summary": order["summary"], **order["units"]}
Task.objects.bulk_create(Task(batch=batch, input_csv_fields=fields) for _ in range(order["tasks"]))
cookies = []
for number in range(order["people"]):
    user, _ = User.objects.get_or_create(username=f"annotator-{number}")
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    cookies.append(f"sessionid={client.cookies['sessionid'].value}")
print(json.dumps({"batch": batch.pk, "cookies": cookies}))
