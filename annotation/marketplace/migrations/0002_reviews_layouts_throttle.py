"""Review policies and what they found, HIT layouts, and counts of failed sign-ins."""

import django.db.models.deletion
from django.db import migrations, models

import annotation.marketplace.ids


class Migration(migrations.Migration):
    dependencies = [
        ("marketplace", "0001_start"),
    ]

    operations = [
        migrations.CreateModel(
            name="HITLayout",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "layout_id",
                    models.CharField(default=annotation.marketplace.ids.entity_id, max_length=64, unique=True),
                ),
                ("name", models.CharField(max_length=200)),
                ("html", models.TextField()),
                ("frame_height", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="ReviewRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.CharField(choices=[("Assignment", "assignment"), ("HIT", "HIT")], max_length=10)),
                ("is_action", models.BooleanField()),
                (
                    "record_id",
                    models.CharField(default=annotation.marketplace.ids.entity_id, max_length=64, unique=True),
                ),
                ("document", models.JSONField()),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="SignInFailures",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField()),
                ("closed_until", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name="hit",
            name="layout_id",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="hit",
            name="review_policies",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="hit",
            name="review_waits",
            field=models.BooleanField(default=False),
        ),
        migrations.AddIndex(
            model_name="hit",
            index=models.Index(condition=models.Q(("review_waits", True)), fields=["id"], name="hit_review_waits"),
        ),
        migrations.AddField(
            model_name="hitlayout",
            name="requester",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="layouts", to="marketplace.requester"
            ),
        ),
        migrations.AddField(
            model_name="reviewrecord",
            name="hit",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="review_records", to="marketplace.hit"
            ),
        ),
        migrations.AddConstraint(
            model_name="signinfailures",
            constraint=models.UniqueConstraint(fields=("key",), name="market_failures_once_per_key"),
        ),
    ]
