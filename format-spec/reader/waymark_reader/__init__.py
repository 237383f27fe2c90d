"""Reads Waymark stores. Written from the format page alone, independently of the engine."""

from .errors import (
    Closed,
    CODES,
    Corruption,
    CorruptCurrent,
    CorruptManifest,
    CorruptRecord,
    InvalidArgument,
    MissingExtra,
    Moving,
    NotAStore,
    NotRestorable,
    NotStored,
    StoreIoError,
    TooLarge,
    UnsupportedFormat,
    WaymarkError,
)
from .store import Finding, Report, Restored, Store, Tensor, open_store

__version__ = "0.1.0"
__all__ = [
    "CODES", "Closed", "CorruptCurrent", "CorruptManifest", "CorruptRecord", "Corruption",
    "Finding", "InvalidArgument", "MissingExtra", "Moving", "NotAStore", "NotRestorable",
    "NotStored", "Report", "Restored", "Store", "StoreIoError", "Tensor", "TooLarge",
    "UnsupportedFormat", "WaymarkError", "open_store",
]  # fmt: skip
