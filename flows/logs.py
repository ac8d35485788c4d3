"""What Prefect's loggers say: a user's mistake in its own words, and nothing of its transport."""

import logging

from ragtriage.errors import RagtriageError


class _PlainRefusals(logging.Filter):
    """A user's mistake is said in its own words, without a traceback; what lies behind has one."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record; drop the traceback of what we raised on purpose."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, RagtriageError) and error.__cause__ is None:
            record.exc_info = None
        return True


_REFUSALS = _PlainRefusals()


def keep_quiet() -> None:
    """Set the loggers; once or often."""
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    for engine in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(engine).addFilter(_REFUSALS)
