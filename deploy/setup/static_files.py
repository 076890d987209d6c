"""Static files under names with their hash, so that a browser keeps them for good."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORT = r"""(?P<matched>(?P<words>^(?:import|export)\b[^"';]*)["'](?P<url>\.{1,2}/[^"']+)["'])"""


class HashedFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise has no types
    """WhiteNoise's own; our scripts' imports are written with hashes too, or a browser would ask for them each time."""

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        *((f"{folder}/*.js", ((f"(?m){IMPORT}", '%(words)s"%(url)s"'),)) for folder in ("annotation", "marketplace")),
    )
