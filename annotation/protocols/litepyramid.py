"""LitePyramid: is each SCU of the reference present in the summary? (Shapira et al. 2019; Bhandari et al. 2020)"""

from annotation.models import Assignment, ContentUnit, Task

from .base import Item, Protocol


class LitePyramid(Protocol):
    name = "litepyramid"
    title = "LitePyramid"
    template = "annotation/work/litepyramid.html"
    scale_min = 0
    scale_max = 1

    def items(self, assignment: Assignment) -> list[Item]:
        task = assignment.task
        assert task.summary_id is not None  # LitePyramid tasks always have one summary
        units = ContentUnit.objects.filter(document_id=task.document_id).in_force()
        return [Item(task.summary_id, unit.scu_id, unit.text, unit.is_check) for unit in units]

    def values(self, task: Task) -> list[float]:
        return [0.0, 1.0]
