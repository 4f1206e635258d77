"""How many examples a property is tried on: the profile of Hypothesis decides, no test does.

`make test` runs the profile `quick`, the gate runs `thorough`. Neither has a deadline: a shared machine stalls, and the
time of an example says nothing about its correctness.
"""

from hypothesis import settings

settings.register_profile("quick", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=400)


def costly() -> settings:
    """A decorator for a property that builds indexes, starts servers or searches long: a fifth of the examples."""
    profile = settings.default
    assert profile is not None, "Hypothesis has a profile once it is imported"
    return settings(max_examples=profile.max_examples // 5)
