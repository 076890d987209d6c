"""Reading XML from strangers: no DTD, no entities, no network, no external files, at most 65,535 bytes."""

from lxml import etree

from annotation.marketplace.errors import BadXML

MOST_BYTES = 65_535
INTEGERS = (-(2**31), 2**31 - 1)
"""What a whole number may be, here and in the database."""


def parse_xml(text: str, label: str, most_bytes: int = MOST_BYTES) -> etree._Element:
    """The root element. Raises BadXML with a sentence that begins with `label`."""
    data = text.encode()
    if len(data) > most_bytes:
        raise BadXML(f"{label} has {len(data):,} bytes; at most {most_bytes:,} are allowed.")
    if not text.strip():
        raise BadXML(f"{label} is empty.")
    # The text is decoded already, whatever encoding its declaration names.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise BadXML(f"{label} is not well-formed XML: {error}.") from None
    # A DOCTYPE is refused even if it declares nothing: no question needs one.
    if root.getroottree().docinfo.doctype or root.getroottree().docinfo.internalDTD is not None:
        raise BadXML(f"{label} has a DOCTYPE; document types and entities are not allowed.")
    return root


def local(element: etree._Element) -> str:
    """The element's name without its namespace."""
    return etree.QName(element).localname


def schema_of(element: etree._Element) -> str:
    """The schema its namespace names, e.g. "ExternalQuestion"; empty where there is none of MTurk's."""
    namespace = etree.QName(element).namespace or ""
    if "AWSMechanicalTurkDataSchemas/" not in namespace or not namespace.endswith(".xsd"):
        return ""
    return namespace.rpartition("/")[2].removesuffix(".xsd")


def expect_root(root: etree._Element, name: str, label: str) -> None:
    if local(root) != name or schema_of(root) != name:
        raise BadXML(f'{label} must be <{name} xmlns="…/{name}.xsd">, but is <{local(root)}> in another namespace.')


def child(element: etree._Element, name: str) -> etree._Element | None:
    return next((inner for inner in element if local(inner) == name), None)


def children(element: etree._Element, name: str) -> list[etree._Element]:
    return [inner for inner in element if local(inner) == name]


def required_child(element: etree._Element, name: str, label: str) -> etree._Element:
    inner = child(element, name)
    if inner is None:
        raise BadXML(f"{label}: <{local(element)}> needs a <{name}>.")
    return inner


def text_of(element: etree._Element | None) -> str:
    return (element.text or "").strip() if element is not None else ""


def integer_of(element: etree._Element | None, label: str, default: int | None = None) -> int:
    words = text_of(element)
    if not words and default is not None:
        return default
    name = local(element) if element is not None else "a number"
    return read_integer(words, f"{label}: <{name}> is")


def read_integer(words: str, start: str) -> int:
    """A whole number that a column can hold. Raises BadXML with a sentence that begins with `start`."""
    try:
        value = int(words)
    except ValueError:
        raise BadXML(f"{start} {words[:80]!r}, but must be a whole number.") from None
    if not INTEGERS[0] <= value <= INTEGERS[1]:
        raise BadXML(f"{start} {words[:80]!r}, but must be {INTEGERS[0]} to {INTEGERS[1]}.")
    return value
