"""Reads Kubernetes manifests strictly, then with each field misspelt, which must be refused.

    python manifests.py FILE…
"""

import copy
import sys

import kubernetes_validate
import yaml

# Maps whose keys are free, as are those of labels, which have a slash.
FREE = {"requests", "limits"}


def refused(manifest):
    """Why a manifest is refused; None if it is not."""
    try:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
        return str(error)
    return None


def fields(node, path=()):
    """The paths of all fields whose names the schema knows."""
    if isinstance(node, list):
        for index, value in enumerate(node):
            yield from fields(value, (*path, index))
    elif isinstance(node, dict) and (not path or path[-1] not in FREE):
        for key, value in node.items():
            yield (*path, key)
            yield from fields(value, (*path, key))


misspelt = 0
for name in sys.argv[1:]:
    with open(name) as file:
        manifests = list(yaml.safe_load_all(file))
    assert manifests, f"{name} is empty"
    for manifest in manifests:
        error = refused(manifest)
        assert error is None, f"{name}: {error}"
        for *parents, field in fields(manifest):
            if field in ("apiVersion", "kind") or "/" in str(field):
                continue
            wrong = copy.deepcopy(manifest)
            parent = wrong
            for step in parents:
                parent = parent[step]
            parent[f"{field}s"] = parent.pop(field)
            assert refused(wrong), f"{name}: {parents} passes with {field}s for {field}"
            misspelt += 1
print(f"{len(sys.argv) - 1} files of manifests are valid; {misspelt} misspelt fields are refused")
