"""Django's `makemessages`, which also finds what `analysis` and `scoring` say: they know no Django."""

import ast
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.management.commands import makemessages

import analysis
import scoring

MARKED = "from django.utils.translation import gettext_noop\n"


def library_texts() -> list[str]:
    """Every text of the libraries that pages show: templates of sentences, what rules and metrics are for."""
    from analysis.filters import RULES
    from scoring import registry

    sentences = (str(template.value) for _, template in templates() if isinstance(template, ast.Constant))
    rules = (rule.summary for rule in RULES.values())
    metrics = (registry.get(name).family.description.title for name in registry.known())
    return list(dict.fromkeys([*sentences, *rules, *metrics]))


def templates() -> Iterator[tuple[str, ast.expr]]:
    """The template of every `Sentence(…)` in the libraries' code, with the name of its file."""
    for folder in (*analysis.__path__, *scoring.__path__):
        for path in sorted(Path(folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if "from analysis.sentence import" in source or path.name == "sentence.py":
                yield from ((path.name, call.args[0]) for call in _sentences(ast.parse(source)))


def _sentences(tree: ast.Module) -> Iterator[ast.Call]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Sentence")


class Command(makemessages.Command):
    def process_files(self, file_list: list[makemessages.TranslatableFile]) -> None:
        with TemporaryDirectory() as folder:
            lines = [f"gettext_noop({text!r})\n" for text in library_texts()]
            Path(folder, "libraries.py").write_text(MARKED + "".join(lines), encoding="utf-8")
            texts = makemessages.TranslatableFile(folder, "libraries.py", file_list[0].locale_dir)
            super().process_files([*file_list, texts])
