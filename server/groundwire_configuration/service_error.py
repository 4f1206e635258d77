"""The failure of a service. To import it loads no HTTP library."""


class ServiceError(Exception):
    """What a service did, in words that follow its name; holds nothing that was sent.

    `status` is that of its reply, 0 without one. `may_pass` is True if another try makes sense, after `wait_seconds`
    where the service says so.
    """

    def __init__(self, rule: str, status: int = 0, wait_seconds: float = 0.0, *, may_pass: bool = False) -> None:
        super().__init__(rule)
        self.status = status
        self.wait_seconds = wait_seconds
        self.may_pass = may_pass
