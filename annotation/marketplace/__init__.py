"""The marketplace: a self-hosted market that speaks MTurk's requester API. It imports nothing else of ours."""
