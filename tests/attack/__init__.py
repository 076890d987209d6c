"""The site and the marketplace as strangers attack them: all routes, all roles, hostile values, over the network.

A deployment as documented runs for it (deployment.py): PostgreSQL, gunicorn, Caddy with TLS, outside the demo, signed
entry. The attackers know what anybody can read (the list of addresses, the OpenAPI document, MTurk's service model) and
hold an account or none; of the code they know nothing. `make test` runs each module for some seconds;
`ATTACK_SECONDS=600 python -m pytest -n 0 tests/attack` for as long as one likes, ATTACK_SEED repeats a run.
"""
