"""What names, labels, ports and keys may look like (`k8s.io/apimachinery/pkg/util/validation`).

Each function returns what is wrong with a text, in the API server's words; nothing if it is well formed.
"""

from __future__ import annotations

import re

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_DNS_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_PERCENT = "[0-9]+%"
_LABEL_LENGTH = 63
_SUBDOMAIN_LENGTH = 253
_PORT_NAME_LENGTH = 15
_HIGHEST_PORT = 65535
_ENDS = "must start and end with an alphanumeric character"


def dns_label(text: str) -> list[str]:
    """RFC 1123: names of containers, volumes, namespaces."""
    errors = _longer(text, _LABEL_LENGTH)
    if re.fullmatch(_LABEL, text):
        return errors
    if re.fullmatch(_SUBDOMAIN, text):
        return [*errors, "must not contain dots"]
    rule = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ENDS}"
    return [*errors, _mismatch(rule, _LABEL, "my-name", "123-abc")]


def dns_subdomain(text: str) -> list[str]:
    """RFC 1123: names of most objects."""
    errors = _longer(text, _SUBDOMAIN_LENGTH)
    if re.fullmatch(_SUBDOMAIN, text):
        return errors
    rule = f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and {_ENDS}"
    return [*errors, _mismatch(rule, _SUBDOMAIN, "example.com")]


def dns_1035_label(text: str) -> list[str]:
    """RFC 1035: names of services."""
    errors = _longer(text, _LABEL_LENGTH)
    if re.fullmatch(_DNS_1035, text):
        return errors
    rule = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic"
        " character, and end with an alphanumeric character"
    )
    return [*errors, _mismatch(rule, _DNS_1035, "my-name", "abc-123")]


def path_segment(text: str) -> list[str]:
    """Names of roles and bindings, which need only fit into a URL."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{character}'" for character in ("/", "%") if character in text]


def label_key(text: str) -> list[str]:
    """A qualified name: keys of labels, annotations, taints."""
    rule = f"must consist of alphanumeric characters, '-', '_' or '.', and {_ENDS}"
    mismatch = _mismatch(rule, _KEY, "MyName", "my.name", "123-abc")
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        optional = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {mismatch}{optional}"]
    errors = []
    if slash and not prefix:
        errors.append("prefix part must be non-empty")
    elif slash:
        errors.extend(f"prefix part {error}" for error in dns_subdomain(prefix))
    if not name:
        errors.append("name part must be non-empty")
    else:
        errors.extend(f"name part {error}" for error in _longer(name, _LABEL_LENGTH))
    return errors if re.fullmatch(_KEY, name) else [*errors, f"name part {mismatch}"]


def label_value(text: str) -> list[str]:
    errors = _longer(text, _LABEL_LENGTH)
    if re.fullmatch(_VALUE, text):
        return errors
    rule = f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {_ENDS}"
    return [*errors, _mismatch(rule, _VALUE, "MyValue", "my_value", "12345")]


def config_key(text: str) -> list[str]:
    """Keys of ConfigMaps and Secrets, which become file names."""
    errors = _longer(text, _SUBDOMAIN_LENGTH)
    if not re.fullmatch(_CONFIG_KEY, text):
        rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        errors.append(_mismatch(rule, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if text in (".", ".."):
        errors.append(f"must not be '{text}'")
    elif text.startswith(".."):
        errors.append("must not start with '..'")
    return errors


def environment_name(text: str) -> list[str]:
    """Names of environment variables: anything printable since Kubernetes 1.34."""
    if all(" " <= character <= "~" and character != "=" for character in text):
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def port_name(text: str) -> list[str]:
    errors = _longer(text, _PORT_NAME_LENGTH)
    if not re.fullmatch("[-a-z0-9]+", text):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        errors.append("must contain at least one letter (a-z)")
    if "--" in text:
        errors.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def port_number(number: int) -> list[str]:
    return in_range(number, 1, _HIGHEST_PORT)


def in_range(number: int, lowest: int, highest: int) -> list[str]:
    if lowest <= number <= highest:
        return []
    return [f"must be between {lowest} and {highest}, inclusive"]


def percentage(text: str) -> list[str]:
    if re.fullmatch(_PERCENT, text):
        return []
    rule = "a valid percent string must be a numeric string followed by an ending '%'"
    return [_mismatch(rule, _PERCENT, "1%", "93%")]


def _longer(text: str, most: int) -> list[str]:
    return [f"must be no more than {most} characters"] if len(text) > most else []


def _mismatch(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"
