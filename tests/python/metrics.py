"""Reads a server's metrics with the strict parser of Prometheus's client.

    python metrics.py http://127.0.0.1:8000

Prints each metric's name and type.
"""

import sys
from urllib.request import urlopen

from prometheus_client.openmetrics.parser import text_string_to_metric_families

with urlopen(f"{sys.argv[1]}/metrics") as answer:
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    text = answer.read().decode()
for family in text_string_to_metric_families(text):
    assert family.documentation and family.samples, family
    print(family.name, family.type)
