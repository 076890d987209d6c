"""Paying: what a submission is worth, approving, rejecting, bonuses."""
