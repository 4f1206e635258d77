"""Celery, Dramatiq and Huey: functions that run later, by a method of the function itself: `send_mail.delay(1)`."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.names.conventions import NameConventions

CELERY = Framework(
    languages="python", names=NameConventions(deferring="delay apply_async apply s si signature send send_with_options")
)
