"""Static files with hashed names, also inside ES module imports, and compressed beside them."""

from django_manifeststaticfiles_enhanced.storage import EnhancedManifestStaticFilesStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage


class CompressedEnhancedManifestStaticFilesStorage(CompressedManifestStaticFilesStorage, EnhancedManifestStaticFilesStorage):
    """WhiteNoise's compression around the enhanced hashing.

    Django's own hashing misses imports without a semicolon and crashes on circular ones; the enhanced storage does not.
    """
