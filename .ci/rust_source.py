"""Rust sources as `.ci/circles` reads them; rustfmt has written them."""

import re


def is_test_file(path):
    """Whether a file holds tests alone: tests.rs, or a file in a `tests` folder."""
    return path.endswith("/tests.rs") or re.search(r"(^|/)tests/", path) is not None


def without_tests(path, text):
    """The lines of a file outside items of `#[cfg(test)]`. An item of several lines
    ends with the first `}` that is indented as its attribute is."""
    if is_test_file(path):
        return []
    kept, lines = [], iter(text.splitlines())
    for line in lines:
        if line.strip() != "#[cfg(test)]":
            kept.append(line)
            continue
        end = line.replace("#[cfg(test)]", "}")
        item = next(line for line in lines if not line.strip().startswith("#["))
        if not item.endswith(";"):
            next(line for line in lines if line == end)
    return kept
