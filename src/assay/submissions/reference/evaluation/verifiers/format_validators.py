"""`slop_code.evaluation.verifiers.format_validators`: texts in well-known formats."""

from __future__ import annotations

import base64
import binascii
import datetime
import ipaddress
import json
import re
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from assay.errors import nearest
from assay.submissions.reference.evaluation.verifiers.errors import VerifierError

_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_PHONE = re.compile(r"\+?[\d\s().-]+")
_HEX = re.compile(r"(0[xX])?[0-9a-fA-F]+")
_US_ZIP = re.compile(r"\d{5}(-\d{4})?")
_CARD_BREAKS = re.compile(r"[ -]")
MALFORMED = "MALFORMED"


def validate_format(value: Any, fmt: str) -> str:
    """`VALID_<FMT>` if the value is written in the format, else `MALFORMED`."""
    holds = _FORMATS.get(fmt.lower())
    if holds is None:
        raise VerifierError(f"there is no format {fmt!r}: {nearest(fmt, _FORMATS)}")
    text = value if isinstance(value, str) else "" if value is None else str(value)
    try:
        is_valid = bool(text) and holds(text)
    except ValueError:
        is_valid = False
    return f"VALID_{fmt.upper()}" if is_valid else MALFORMED


def _made(make: Callable[[str], Any]) -> Callable[[str], bool]:
    """Valid if the text can be read at all."""

    def holds(text: str) -> bool:
        make(text)
        return True

    return holds


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme and parts.netloc) and not any(map(str.isspace, text))


def _is_phone(text: str) -> bool:
    digits = sum(map(str.isdigit, text))
    return _PHONE.fullmatch(text) is not None and 7 <= digits <= 15


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return True


def _is_credit_card(text: str) -> bool:
    """Thirteen to nineteen digits whose check digit is right (Luhn)."""
    digits = _CARD_BREAKS.sub("", text)
    if not (digits.isascii() and digits.isdigit() and 13 <= len(digits) <= 19):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


_FORMATS: dict[str, Callable[[str], bool]] = {
    "timestamp": _made(datetime.datetime.fromisoformat),
    "date": _made(datetime.date.fromisoformat),
    "uuid": _made(uuid.UUID),
    "ip": _made(ipaddress.ip_address),
    "ipv4": _made(ipaddress.IPv4Address),
    "ipv6": _made(ipaddress.IPv6Address),
    "email": _matches(_EMAIL),
    "url": _is_url,
    "phone": _is_phone,
    "hex": _matches(_HEX),
    "base64": _is_base64,
    "json": _made(json.loads),
    "credit_card": _is_credit_card,
    "us_zip": _matches(_US_ZIP),
}
