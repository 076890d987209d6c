"""The REST API: tokens only (never cookies), one file per resource, every error a problem+json document."""
