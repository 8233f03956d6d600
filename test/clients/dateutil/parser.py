"""The function of python-dateutil that the generated code calls. That package is not on npm."""

from datetime import datetime

parse = datetime.fromisoformat
