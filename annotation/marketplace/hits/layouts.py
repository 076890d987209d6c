"""HIT layouts: a requester's page with placeholders, and the question that comes of it with values filled in."""

import re
from collections.abc import Sequence

from lxml import etree

from annotation.common import clock
from annotation.marketplace.checks import check_length, check_range
from annotation.marketplace.errors import BadParameter, HITLayoutDoesNotExist
from annotation.marketplace.models import HITLayout, Requester
from annotation.marketplace.questions.xml import MOST_BYTES

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
PLACEHOLDER = re.compile(r"\$\{([^{}\s]{1,100})\}")
HIGHEST = 10_000
MOST_LAYOUTS = 500


def create_layout(requester: Requester, name: str, html: str, frame_height: int = 0) -> HITLayout:
    """Raises BadParameter."""
    check_length("The name", name, 200)
    check_length("The page", html, MOST_BYTES)
    check_range("The height", frame_height, 0, HIGHEST)
    _question(html, frame_height)
    if requester.layouts.count() >= MOST_LAYOUTS:
        raise BadParameter(f"There are {MOST_LAYOUTS} layouts already; delete one first. Nothing was changed.")
    return HITLayout.objects.create(
        requester=requester, name=name, html=html, frame_height=frame_height, created_at=clock.now()
    )


def own_layout(requester: Requester, layout_id: str) -> HITLayout:
    layout = HITLayout.objects.filter(requester=requester, layout_id=layout_id).first()
    if layout is None:
        raise HITLayoutDoesNotExist(f"HIT layout {layout_id} does not exist, or is not yours.")
    return layout


def placeholders(html: str) -> list[str]:
    return list(dict.fromkeys(PLACEHOLDER.findall(html)))


def question_from(layout: HITLayout, parameters: Sequence[dict[str, str]]) -> str:
    """The HTMLQuestion of a HIT. Raises BadParameter unless there is one value for each placeholder and no other."""
    values = {parameter["Name"]: parameter["Value"] for parameter in parameters}
    if len(values) < len(parameters):
        raise BadParameter("HITLayoutParameters names a placeholder twice.")
    names = placeholders(layout.html)
    wrong = [*(name for name in names if name not in values), *(name for name in values if name not in names)]
    if wrong:
        raise BadParameter(
            f"HITLayoutParameters must have a value for each placeholder of the layout ({', '.join(names) or 'none'}) "
            f"and for no other; see {', '.join(wrong)[:200]}."
        )
    return _question(PLACEHOLDER.sub(lambda match: values[match[1]], layout.html), layout.frame_height)


def _question(html: str, frame_height: int) -> str:
    root = etree.Element("HTMLQuestion", nsmap={None: NAMESPACE})
    try:
        etree.SubElement(root, "HTMLContent").text = html
    except ValueError:
        raise BadParameter("The page has characters that XML can't hold (control characters).") from None
    etree.SubElement(root, "FrameHeight").text = str(frame_height)
    return etree.tostring(root, encoding="unicode")
