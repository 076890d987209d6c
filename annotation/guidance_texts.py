"""The texts a study starts with. An admin edits them on the study's guidance page; each change is a new version."""

LITEPYRAMID = """\
## What to do

You see one summary and a list of short statements. For each statement, decide whether the summary **says it**.

- **Present**: the summary states it or makes it certain, in whatever words. Other words for the same thing count.
- **Not present**: the summary doesn't say it, says only part of it, or says something else.

Judge by the summary alone. What you know from elsewhere, or find likely, doesn't count.

## Worked examples

> **Summary:** The town council voted on Tuesday to keep the night ferry for three more years. Parking at the harbour
> will cost more from March.

| Statement | Answer | Why |
|---|---|---|
| The ferry will keep running. | Present | “keep the night ferry” says so. |
| The ferry will run for three more years. | Present | It is stated. |
| The vote was 11 to 4. | Not present | A vote is mentioned, but not how it ended in numbers. |
| Parking will cost 3 crowns. | Not present | It will cost more; how much isn't said. |
| Drivers will pay more at the harbour. | Present | Parking that costs more means that drivers pay more. |

A statement that joins two facts is present only if **both** are there.

## Keys

`j` and `k` or the arrows move, `p` is Present, `n` is Not present, `u` takes back, `?` shows help.
"""

LIKERT = """\
## What to do

You see an article and several summaries of it, in random order. Rate each summary on each dimension, from 1 (worst) to
5 (best). Read the article first; then look at one dimension at a time.

- **Coherence**: the sentences together make a well-built whole, not a heap of facts.
- **Consistency**: everything in the summary is backed by the article. An invented or twisted fact costs dearly.
- **Fluency**: each sentence by itself is well-formed and easy to read.
- **Relevance**: the summary holds what matters in the article, and nothing that doesn't.

The dimensions are independent: a fluent summary may be wrong, and a correct one may read badly.

## Worked examples

> **Article (in short):** The council voted 11 to 4 to keep the night ferry. Harbour parking rises from 2 to 3 crowns.

| Summary | Rating | Why |
|---|---|---|
| The council voted to drop the night ferry. | Consistency 1 | It says the opposite of the article. |
| Ferry. Council keep vote 11 4 parking. | Fluency 1 | The facts may be right, but these are no sentences. |
| The council kept the night ferry, and parking pays for it. | Relevance 5 | Both things that matter are there. |

## Keys

`j` and `k` or the arrows move, `1` to `5` rate, `u` takes back, `?` shows help.
"""

SCU = """\
## What to do

You see a reference summary. Write down **every fact** in it, one short sentence each.

- One fact per sentence. Split until no part could be true while another part is false.
- Each sentence must be understandable by itself: write the name, not “he” or “it”.
- Two or three names or numbers at most.
- Use the reference's own words where you can, and nothing that isn't in it.

Select the words of a fact in the reference and press Enter: they become a new sentence that you can edit. The words you
have used are shaded, so you see what is still missing.

## Worked example

> Bayern Munich beat Porto 6–1 in the Champions League on Tuesday.

1. Bayern Munich beat Porto.
2. Bayern Munich won 6–1.
3. Bayern Munich won in the Champions League.
4. Bayern Munich won on Tuesday.

Not like this: “They won 6–1 on Tuesday.” It joins two facts and doesn't say who won.
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

DEFAULTS = {
    ("instructions", "litepyramid"): LITEPYRAMID,
    ("instructions", "likert"): LIKERT,
    ("instructions", "scu"): SCU,
    ("consent", ""): CONSENT,
}
