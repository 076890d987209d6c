"""How the program runs, as a Django app of both products: backup, restore, doctor."""

from django.apps import AppConfig


class DeployConfig(AppConfig):
    name = "deploy"
