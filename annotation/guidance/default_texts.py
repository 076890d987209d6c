"""The consent text a study starts with; the instructions are the protocols' own.

An admin edits them on the study's guidance page; each change is a new version.
"""

CONSENT = """\
## What you take part in

You judge texts for a study on how well summaries are written. Your answers are used for research and may be published
under a pseudonym, never with your name or account.

## What is recorded

- Your answers, and every change you make to them.
- **Active time**: how long you work on a task. Pauses of more than 60 seconds and hidden tabs don't count.
- **Time and changes per item**: how long each item takes you, and how often you change its answer.
- **Focus lost**: how often you leave the page while you work on a task.
- **Paste events**: that something was pasted into a field, not what it was.

These signals help us to tell careful work from careless work. Other annotators never see them.

## Your choice

Taking part is voluntary. You can stop at any time and give a task back; what you have submitted stays with the study.
Ask the people who invited you if you want it removed.
"""
