"""Who is a model and who is a person: options that several commands share."""

from __future__ import annotations

import argparse

import pandas as pd

from analysis.cli import UsageError
from analysis.tables.where import keep_where

MODEL = "model"


def add_sides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", action="append", metavar="COLUMN=VALUE", help="the judges (default: role=model)")
    parser.add_argument("--people", action="append", metavar="COLUMN=VALUE", help="the people (default: all others)")


def sides(judgments: pd.DataFrame, args: argparse.Namespace, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The models' rows and the people's; nobody is both."""
    roles = sorted(set(judgments["role"]) - {""}) if "role" in judgments.columns else []
    if args.models is None and MODEL not in roles:
        raise UsageError(
            f"No judgment in {name} has the role {MODEL} (roles: {', '.join(roles) or 'none'}); say with --models "
            "column=value whose answers are a model's."
        )
    models = _chosen(judgments, args.models or [f"role={MODEL}"], "--models", name)
    others = judgments[~judgments["worker_id"].isin(set(models["worker_id"]))].reset_index(drop=True)
    if others.empty:
        raise UsageError(f"All judgments in {name} are the models'; answers of people are needed too.")
    return models, _chosen(others, args.people, "--people", name) if args.people else others


def _chosen(judgments: pd.DataFrame, conditions: list[str], option: str, name: str) -> pd.DataFrame:
    try:
        return keep_where(judgments, conditions, name)
    except UsageError as error:
        raise UsageError(str(error).replace("--where", option)) from None
