"""Every table of a page scrolls in a box of its own that has a name and takes the focus."""

from django.template import engines


def rendered(template: str, **context: object) -> str:
    return engines["django"].from_string("{% load tables %}" + template).render(context)


def test_a_table_has_its_name_its_columns_and_its_rows():
    html = rendered(
        '{% table "Worker" "Tasks"|numbers labelledby="people" css="card" %}<tr><td>w</td></tr>{% endtable %}'
    )
    assert html == (
        '<div class="table card" tabindex="0" role="group" aria-labelledby="people"><table><thead><tr>'
        '<th scope="col">Worker</th><th scope="col" class="n">Tasks</th></tr></thead>'
        "<tbody><tr><td>w</td></tr></tbody></table></div>"
    )


def test_a_column_of_buttons_has_a_title_for_screen_readers_alone():
    html = rendered('{% table "Undo"|unseen label="Log" %}{% endtable %}')
    assert '<th scope="col"><span class="visually-hidden">Undo</span></th>' in html


def test_names_and_titles_from_people_are_escaped():
    html = rendered("{% table name|numbers name|unseen label=name %}{{ name }}{% endtable %}", name="<b>")
    assert "<b>" not in html
    assert html.count("&lt;b&gt;") == 4
