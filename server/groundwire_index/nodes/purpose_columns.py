"""The purposes of many nodes at once. It loads numpy, which `purposes` does not."""

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.purposes import Purpose


def purposes_of(
    by_path: NDArray[np.int8], is_prose: NDArray[np.bool_], is_test: NDArray[np.bool_], is_generated: NDArray[np.bool_]
) -> NDArray[np.int8]:
    """The purposes of nodes [n] by the same rule as `purpose_of`; `by_path` [n] are those of the paths alone."""
    purposes = by_path.copy()
    purposes[(by_path == Purpose.PRODUCT) & is_prose] = Purpose.DOCUMENTATION
    purposes[is_generated] = Purpose.GENERATED
    purposes[is_test] = Purpose.TEST
    return purposes
