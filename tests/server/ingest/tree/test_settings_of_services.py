"""Settings of Spring's services, and the clients of one service for another."""

from collections.abc import Callable, Mapping
from typing import Protocol

import pytest


class ReadTree(Protocol):
    def of(self, edge_type: str) -> dict[tuple[str, str], float]: ...


Reader = Callable[[Mapping[str, str]], ReadTree]

JOBS = """\
package orders;
public class Jobs {
  @Value("${orders.batch-size:10}")
  private int size;
  @Scheduled(cron = "${orders.cron}")
  public void sweep() {
    int n = size;
    run(n);
  }
}
"""
LIMITS = """\
package orders;
@ConfigurationProperties(prefix = "orders.limits")
class Limits {
  private int most;
  int most() {
    int n = most;
    return n;
  }
}
"""
CONTROLLER = """\
package orders;
@RestController
@RequestMapping("/orders")
class OrderController {
  @GetMapping("/{id}")
  Order one(@PathVariable long id) {
    long n = id;
    return load(n);
  }
}
"""
CLIENT = """\
package web;
@FeignClient(name = "order-service", path = "/orders")
interface OrderClient {
  @GetMapping("/{id}")
  Order one(@PathVariable("id") long id);
}
"""
SETTINGS = "orders:\n  batch-size: 5\n  cron: 0 0\n  limits:\n    most: 3\n    least: 1\n"
NAMED = "spring:\n  application:\n    name: {}\n"
MAIN, TEST = "orders/src/main/resources/application.yml", "orders/src/test/resources/application.yml"


def test_code_reads_the_settings_of_its_service(tree: Reader) -> None:
    files = {"orders/src/main/java/Jobs.java": JOBS, "orders/src/main/java/Limits.java": LIMITS}
    read = tree({**files, MAIN: SETTINGS, TEST: SETTINGS, "web/src/main/resources/application.yml": SETTINGS})
    jobs, limits = "orders/src/main/java/Jobs.java#orders.Jobs", "orders/src/main/java/Limits.java#orders.Limits"
    assert read.of("ReadsSetting") == {(jobs, MAIN): 0.9, (f"{jobs}.sweep", MAIN): 0.9, (limits, MAIN): 0.9}


def test_settings_of_tests_count_for_tests_alone(tree: Reader) -> None:
    read = tree({"orders/src/main/java/a/b/Jobs.java": JOBS, TEST: SETTINGS, "config/orders.yml": SETTINGS})
    assert {end for _, end in read.of("ReadsSetting")} == {"config/orders.yml"}


def test_settings_in_a_file_named_as_the_service_are_its_own(tree: Reader) -> None:
    files = {f"config/shared/{name}.yml": SETTINGS for name in ("order-service", "web", "application")}
    name = {"orders/src/main/resources/bootstrap.yml": NAMED.format("order-service")}
    read = tree({"orders/src/main/java/Jobs.java": JOBS, **files, **name})
    assert {end for _, end in read.of("ReadsSetting")} == {"config/shared/order-service.yml"}


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (CLIENT, {"orders/src/main/java/OrderController.java#orders.OrderController.one"}),
        (CLIENT.replace("order-service", "web"), {"web/src/main/java/OrderController.java#orders.OrderController.one"}),
        (CLIENT.replace("order-service", "elsewhere"), set()),
        (CLIENT.replace("path", 'url = "https://orders.example.org", path'), set()),
    ],
)
def test_a_client_asks_the_service_that_it_names(tree: Reader, client: str, expected: set[str]) -> None:
    files = {
        "orders/src/main/java/OrderController.java": CONTROLLER,
        "orders/src/main/resources/application.yml": NAMED.format("order-service"),
        "web/src/main/java/OrderController.java": CONTROLLER,
        "web/src/main/resources/application.yml": NAMED.format("web"),
        "web/src/main/java/OrderClient.java": client,
    }
    requests = tree(files).of("Requests")
    start = "web/src/main/java/OrderClient.java#web.OrderClient.one"
    assert {end for begin, end in requests if begin == start} == expected
    assert all(confidence == 0.9 for confidence in requests.values())
