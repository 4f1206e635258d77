"""Places intervals on a line without overlap, in a given order, as near as can be to where they want to be."""

from collections.abc import Sequence


def spread(wanted: Sequence[float], widths: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Centres that keep the order and the widths, with the least weighted sum of squared distances from those wanted.

    With each centre measured from where its left neighbours end this is isotonic regression, solved by pooling adjacent
    violators.
    """
    offsets: list[float] = []
    reach = 0.0
    for width in widths:
        offsets.append(reach + width / 2)
        reach += width
    pools: list[tuple[float, float, int]] = []
    for target, offset, weight in zip(wanted, offsets, weights, strict=True):
        total, mass, count = (target - offset) * weight, weight, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / mass:
            pooled = pools.pop()
            total, mass, count = total + pooled[0], mass + pooled[1], count + pooled[2]
        pools.append((total, mass, count))
    means = [total / mass for total, mass, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
