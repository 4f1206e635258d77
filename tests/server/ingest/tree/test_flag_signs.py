"""Which files are tests, by the names of their folders and their own."""

import pytest

from groundwire_ingest.tree.flag_signs import FlagSigns

TESTS = (
    "tests/shop.py src/Shop.UnitTests/Order.cs web/__tests__/order.ts spec/order.rb web/e2e/order.ts "
    "bookmarks/tests_e2e/e2e_order.py apps/app-e2e/order.ts web/e2e-tests/order.ts tests-integration/order.go "
    "shop/tests.py server/mcp/evals/orders.xml go/testdata/order.json shop/test_order.py go/order_test.go "
    "web/order.spec.ts"
).split()
PRODUCT = (
    "src/shop.py src/contest/order.py flask/testing.py src/latest/order.ts src/evaluation/rules.cs "
    "src/specials/order.go "
    "src/attestation/key.go src/pytests.py web/ne2eg/order.ts"
).split()


@pytest.mark.parametrize("path", TESTS)
def test_a_folder_or_a_name_makes_a_file_a_test(path: str) -> None:
    assert FlagSigns().is_test(path)


@pytest.mark.parametrize("path", PRODUCT)
def test_a_part_of_a_word_does_not(path: str) -> None:
    assert not FlagSigns().is_test(path)
