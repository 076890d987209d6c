"""Reads what a worker handed in on the market: QuestionFormAnswers, the MTurk API's XML for the fields of a form."""

from lxml import etree


def read_answers(xml: str) -> dict[str, str]:
    """Field -> text; several selections are joined by |. What can't be read is no answer."""
    # No entities, no network, no files: the fields are strangers' words.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(xml.encode(), parser)
    except etree.XMLSyntaxError:
        return {}
    return {
        name: "|".join(text for child in answer if _name(child) != "QuestionIdentifier" and (text := child.text or ""))
        for answer in root
        if _name(answer) == "Answer" and (name := _identifier(answer))
    }


def _identifier(answer: "etree._Element") -> str:
    return next((child.text or "" for child in answer if _name(child) == "QuestionIdentifier"), "")


def _name(element: "etree._Element") -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""
