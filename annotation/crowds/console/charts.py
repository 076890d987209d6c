"""The charts of the Monitor: their geometry and scales; the template draws them."""

from collections import Counter
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Batch, WorkerFigures

from .monitor import Hour, Monitor

LEFT, TOP, WIDTH, HEIGHT = 40, 8, 430, 176
"""The field of a chart inside its drawing."""
GAP = 2
DOTS_AT_MOST = 300
"""With more workers than this, squares tell how many stand where."""
COLUMNS, ROWS = 43, 16


@dataclass(frozen=True)
class Tick:
    """A value on an axis, and where it stands."""

    place: float
    label: str


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    hour: Hour


@dataclass(frozen=True)
class Hours:
    """Answers per hour, with the scale of the answers."""

    bars: list[Bar]
    ticks: list[Tick]


@dataclass(frozen=True)
class Dot:
    """A worker in the scatter of time against agreement."""

    worker_id: int
    x: float
    y: float
    label: str
    is_odd: bool


@dataclass(frozen=True)
class Square:
    """Several workers who stand close together; the more, the darker."""

    x: float
    y: float
    shade: float
    label: str


@dataclass(frozen=True)
class Scatter:
    """Workers by seconds per answer and agreement: a dot each, or squares where they are many."""

    dots: list[Dot]
    squares: list[Square]
    seconds: list[Tick]
    agreement: list[Tick]
    square_width: float = WIDTH / COLUMNS
    square_height: float = HEIGHT / ROWS


@dataclass(frozen=True)
class Level:
    """Tasks with so many answers."""

    answers: int
    tasks: int
    percent: int


def levels(state: Monitor) -> list[Level]:
    largest_count = max((count for _answers, count in state.tasks), default=1)
    return [Level(answers, count, max(1, 100 * count // largest_count)) for answers, count in state.tasks]


def round_above(value: float) -> float:
    """The next of 1, 2 or 5 times a power of ten: a scale ends there."""
    power = 10.0 ** floor(log10(value)) if value > 0 else 1.0
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def hours_chart(hours: list[Hour]) -> Hours | None:
    """One bar per hour, on a scale that ends at a round number."""
    if not hours:
        return None
    top = max(2, int(round_above(max(hour.answers for hour in hours))))
    step = WIDTH / max(len(hours), 8)
    first = LEFT + WIDTH - step * len(hours)
    bars = [
        Bar(round(first + n * step, 1), TOP + HEIGHT - height, round(step - GAP, 1), height, hour)
        for n, hour in enumerate(hours)
        if (height := ceil(HEIGHT * hour.answers / top)) >= 0
    ]
    ticks = [Tick(TOP + HEIGHT * (1 - share), _number(top * share)) for share in (0, 0.5, 1)]
    return Hours(bars, ticks)


def axis_end(lowest: float) -> float:
    """Where the agreement axis begins: at 0, or at the next tenth below, so that its label is exact."""
    return min(0, floor(round(10 * lowest, 6))) / 10


def scatter(batch: Batch) -> Scatter | None:
    """Everybody of a batch whose time and agreement are known; None while these are fewer than two."""
    rows = WorkerFigures.objects.filter(batch=batch, seconds__isnull=False, agreement__isnull=False)
    people: list[tuple[int, str, Any, Any, int, int]] = list(
        rows.order_by("pk").values_list("worker", "worker__pseudonym", "seconds", "agreement", "answers", "stands_out")
    )
    if len(people) < 2:
        return None
    times = sorted(seconds for _worker, _name, seconds, *_rest in people)
    few = len(people) <= DOTS_AT_MOST
    slowest = round_above(max(1.0, times[-1] if few else times[int(0.99 * len(times))]))
    lowest = axis_end(min(agreement for *_person, agreement, _answers, _odd in people))

    def place(seconds: float, agreement: float) -> tuple[float, float]:
        x = LEFT + WIDTH * min(1.0, seconds / slowest)
        return round(x, 1), round(TOP + HEIGHT * (1 - agreement) / (1 - lowest), 1)

    end = _number(slowest) if few else "≥ " + _number(slowest)
    return Scatter(
        [
            Dot(worker, *place(seconds, agreement), _dot_label(name, seconds, agreement, answers), odd > 0)
            for worker, name, seconds, agreement, answers, odd in people
        ]
        if few
        else [],
        [] if few else _squares([place(seconds, agreement) for _w, _n, seconds, agreement, *_rest in people]),
        [Tick(LEFT, "0"), Tick(LEFT + WIDTH / 2, _number(slowest / 2)), Tick(LEFT + WIDTH, end)],
        [Tick(TOP, "1"), Tick(TOP + HEIGHT / 2, _number((1 + lowest) / 2)), Tick(TOP + HEIGHT, _number(lowest))],
    )


def _squares(places: list[tuple[float, float]]) -> list[Square]:
    counts = Counter(
        (min(COLUMNS - 1, int((x - LEFT) * COLUMNS / WIDTH)), min(ROWS - 1, int((y - TOP) * ROWS / HEIGHT)))
        for x, y in places
    )
    most = max(counts.values())
    return [
        Square(
            round(LEFT + column * WIDTH / COLUMNS, 1),
            round(TOP + row * HEIGHT / ROWS, 1),
            round(0.15 + 0.85 * n / most, 2),
            ngettext("%(n)d worker", "%(n)d workers", n) % {"n": n},
        )
        for (column, row), n in sorted(counts.items())
    ]


def _dot_label(name: str, seconds: float, agreement: float, answers: int) -> str:
    return _("%(worker)s: %(seconds).1f seconds per answer, agreement %(agreement).2f, %(n)d answers") % {
        "worker": name,
        "seconds": seconds,
        "agreement": agreement,
        "n": answers,
    }
