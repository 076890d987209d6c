#!/usr/bin/env python
"""Pyramidion's command line for the site: `python manage.py help` lists the commands."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as problem:
        # A wrong setting is the operator's to mend: a sentence helps, a traceback doesn't.
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
