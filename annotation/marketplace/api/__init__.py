"""The requester API on the wire: AWS JSON 1.1, signed with SigV4, 39 operations."""
