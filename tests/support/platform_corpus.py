"""A small platform as a retrieval corpus: code, deployments, conversations and documents of several services.

It has everything that a query can tell apart: documents with versions and chunks, collections, cases, metadata, deleted
nodes and nodes that not everyone may see. Vectors are by topic, so that a test names what its query is about.
"""

from support.jsonl import edge, node

AUTH, ORDERS, DEPLOY, INCIDENT, DOCS, BILLING = ([float(place == topic) for place in range(6)] for topic in range(6))

FINANCE_TAG, OPERATIONS_TAG, AUDITOR_TAG, TENANT = "finance", "operations", "auditor", "acme"


def _between(first: list[float], second: list[float], share: float) -> list[float]:
    """A vector between two topics, nearer to the first the larger `share` is."""
    return [share * component + (1.0 - share) * other for component, other in zip(first, second, strict=True)]


def _code(service: str, symbol: str, text: str, vector: list[float], **fields: object) -> dict[str, object]:
    folder = service.removesuffix("-service")
    place = {"path": f"{folder}/{symbol}.go", "start_line": 10, "end_line": 12, "repo_name": folder}
    what = {"language": "go", "data_type": "regular_code", "corpus_type": "CODE_LOGIC"}
    return node(
        f"{folder}/{symbol}", text, vector, "go", symbol=symbol, service_name=service, **place, **what, **fields
    )


def _deployment(service: str, port: int) -> dict[str, object]:
    return node(
        service, f"kind: Service\nname: {service}\nport: {port}", DEPLOY, "yaml", path=f"deploy/{service}.yaml",
        service_name=service, language="yaml", data_type="deploy", corpus_type="CODE_DEPLOY",
    )  # fmt: skip


def _message(local_id: str, text: str, vector: list[float], **fields: object) -> dict[str, object]:
    return node(
        local_id, text, vector, "slack", data_type="conversation", corpus_type="CONVO_SLACK", channel="incident",
        author="ada", source_uri=f"https://chat.example/{local_id}", **fields,
    )  # fmt: skip


def _document(local_id: str, text: str, vector: list[float] | None, **fields: object) -> dict[str, object]:
    return node(local_id, text, vector, "md", **{"data_type": "doc", "language": "markdown", **fields})


def _runbook_chunk(number: int, title: str, text: str, **fields: object) -> dict[str, object]:
    return _document(
        f"runbook/{number}", f"## {title}\n{text}", DOCS, path="docs/runbook.md", start_line=number * 10,
        end_line=number * 10 + 1, document_id="runbook", chunk_index=number, corpus_type="DOC_RUNBOOK",
        section_path=f"Deploy > {title}", context_prefix=f"Runbook: Deploy > {title}", **fields,
    )  # fmt: skip


CODE = [
    _code("auth-service", "GetUser", "func GetUser(id string) User { return db.Find(id) }", AUTH,
          signature="func GetUser(id string) User"),
    _code("auth-service", "ValidateToken", "func ValidateToken(token string) bool { return keys.Verify(token) }",
          _between(AUTH, ORDERS, 0.9)),
    _code("auth-service", "GetUserLegacy", "func GetUserLegacy(id string) User { return ldap.Find(id) }",
          _between(AUTH, ORDERS, 0.95), deleted=True),
    _code("order-service", "CreateOrder", "func CreateOrder(item string) Order { http.Post(payment, item) }", ORDERS),
    _code("order-service", "CancelOrder", "func CancelOrder(id string) { http.Post(refundURL, id) }",
          _between(ORDERS, BILLING, 0.8)),
    _code("payment-service", "ChargeCard", "func ChargeCard(card string, cents int) { gateway.Charge(card, cents) }",
          _between(BILLING, ORDERS, 0.7)),
    _code("user-service", "LoadProfile", "func LoadProfile(user string) Profile { return store.Load(user) }",
          _between(AUTH, DOCS, 0.6)),
    _code("ledger-service", "PostEntry", "func PostEntry(order string) { ledger.Append(order) }",
          _between(ORDERS, BILLING, 0.95), acl_tags=[FINANCE_TAG]),
    _code("acme-service", "AcmeOrder", "func AcmeOrder(item string) Order { return acme.Order(item) }",
          _between(ORDERS, BILLING, 0.9), tenant_id=TENANT),
]  # fmt: skip

DEPLOYMENTS = [_deployment("auth-service", 8080), _deployment("order-service", 8081)]

CONVERSATIONS = [
    _message("incident/1", "auth-service is throwing 503s, checking user-service", INCIDENT,
             service_name="auth-service", timestamp="2025-01-01T10:00:00Z"),
    _message("latency/new", "checkout latency is high again", _between(INCIDENT, ORDERS, 0.7),
             timestamp="2025-05-31T00:00:00Z"),
    _message("latency/old", "checkout latency is high again", _between(INCIDENT, ORDERS, 0.7),
             timestamp="2024-06-01T00:00:00Z"),
    _message("latency/undated", "checkout latency is high again", _between(INCIDENT, ORDERS, 0.7)),
    _document("latency/note", "checkout latency is high again", _between(INCIDENT, ORDERS, 0.7),
              corpus_type="DOC_README", timestamp="2025-05-31T00:00:00Z"),
]  # fmt: skip

DOCUMENTS = [
    _document("runbook", "The runbook of the platform.", _between(DOCS, DEPLOY, 0.9), corpus_type="DOC_RUNBOOK",
              symbol="Runbook", path="docs/runbook.md"),
    _runbook_chunk(1, "Before", "Tell the channel."),
    _runbook_chunk(2, "Rollback Procedure", "Run kubectl rollback on the release."),
    _runbook_chunk(3, "Secrets", "The vault's passphrase.", acl_tags=[OPERATIONS_TAG]),
    _runbook_chunk(4, "After", "Close the ticket.", is_generated=True),
    _document("readme", "How the platform is built and tested.", DOCS, corpus_type="DOC_README"),
    _document("handbook@1", "Vacation is twenty days.", _between(DOCS, BILLING, 0.8), document_id="handbook",
              document_version_id="v1", is_latest=False),
    _document("handbook@2", "Vacation is thirty days.", _between(DOCS, BILLING, 0.8), document_id="handbook",
              document_version_id="v2"),
    _document("refund/policy", "A refund needs the receipt.", BILLING, collection_id="policies", case_id="case-7",
              metadata={"process": "billing", "doc_class": "manual", "workflow_id": "w-1", "level": 2,
                        "teams": ["ops", "care"], "draft": None, "ünï": "ß"}),
    _document("refund/form", "A refund form names the receipt.", BILLING, collection_id="forms", case_id="case-8",
              metadata={"process": "help", "doc_class": "form", "workflow_id": "w-2", "level": 3, "teams": ["care"]}),
    _document("refund/withdrawn", "A refund needed a stamp.", BILLING, collection_id="forms", deleted=True),
    _document("refund/secret", "A refund needed a secret stamp.", BILLING, acl_tags=[FINANCE_TAG], deleted=True),
]  # fmt: skip

EDGES = [
    edge("go::order/CreateOrder", "go::payment/ChargeCard", "CallsService"),
    edge("go::order/CancelOrder", "go::payment/ChargeCard", "CallsService"),
    edge("go::order/CreateOrder", "go::auth/GetUser", "Reads"),
    edge("go::auth/GetUser", "go::user/LoadProfile", "CallsService"),
    edge("go::auth/ValidateToken", "go::auth/GetUser", "Calls"),
    edge("go::ledger/PostEntry", "go::order/CreateOrder", "CallsService"),
    edge("go::auth/GetUserLegacy", "go::payment/ChargeCard", "CallsService"),
    edge("yaml::order-service", "go::auth/ValidateToken", "Contains"),
    *(edge("md::runbook", f"md::runbook/{number}", "Contains") for number in (1, 2, 3, 4)),
    edge("md::readme", "md::runbook/2", "Contains"),
]

PLATFORM = [*CODE, *DEPLOYMENTS, *CONVERSATIONS, *DOCUMENTS, *EDGES]

_PADDING = " ".join(f"filler{number}" for number in range(20))


def _ranked(local_id: str, text: str, path: str, padding: str = _PADDING, **fields: object) -> dict[str, object]:
    """A node of more than 80 characters about refunds of orders, or not."""
    return {**node(local_id, f"{text} {padding}".strip(), [1.0, 0.0], path=path), **fields}


REFUNDS = [
    _ranked("alone", "refunded total", "src/a.cs"),
    _ranked("in-file", "refunded total", "src/b.cs"),
    _ranked("in-file/rest", "order", "src/b.cs"),
    _ranked("other-words", "refunded nothing", "src/c.cs"),
    _ranked("other-words/rest", "nothing", "src/c.cs"),
    _ranked("test", "refunded order", "tests/a.cs", is_test=True),
    _ranked("generated", "refunded order", "src/generated.cs", is_generated=True),
    _ranked("prose", "refunded order", "docs/refunds.md", corpus_type="DOC_GENERAL"),
    _ranked("agents", "refunded order agents", "AGENTS.md"),
    _ranked("licence", "refunded order licence", "LICENSE"),
    _ranked("change-log", "refunded order change-log", "docs/changelog.md"),
    _ranked("translation", "refunded order translation", "web/locales/de/shop.json"),
    _ranked("translation/part", "refunded order translation further", "web/locales/de/shop.json"),
    _ranked("migration", "refunded order", "db/migrations/0001_orders.py"),
    _ranked("story", "refunded order", "web/Order.stories.tsx"),
    _ranked("user-text", "refunded order", "web/blog/refunds.md"),
    _ranked("tool-configuration", "refunded order", "web/package.json"),
    _ranked("user-interface", "refunded order", "web/Order.tsx"),
    _ranked("third-party", "refunded order", "wwwroot/lib/orders/orders.js"),
    _ranked("prompt", "refunded order", "ai/prompts/refund.txt"),
    _ranked("data", "refunded order", "src/orders.csv", " ".join([_PADDING] * 10)),
    _ranked("fragment", "refunded order", "src/short.cs", ""),
    _ranked("another", "order", "src/another.cs"),
    _ranked("called", "order", "src/called.cs"),
    _ranked("doubtful", "order", "src/doubtful.cs"),
    _ranked("hub", "order", "src/hub.cs"),
    *(_ranked(f"leaf/{number}", "nothing", "src/leaves.cs") for number in range(30)),
    *(_ranked(f"crowd/{number}", "refunded " * (9 - number) + "order", "src/crowd.cs") for number in (1, 2, 3)),
    _ranked("outside", "refunded refunded refunded refunded order", "src/outside.cs"),
    _ranked("outside/rest", "nothing", "src/outside.cs"),
    _ranked("hidden", "refunded order refunded order", "src/another.cs", acl_tags=["inside"]),
    _ranked("brief", "nothing", "src/brief.cs"),
    _ranked("detailed", "nothing", "src/detailed.cs", " ".join([_PADDING] * 10)),
    edge("cs::crowd/1", "cs::called", "Calls"),
    edge("cs::crowd/1", "cs::hub", "Calls"),
    edge("cs::crowd/1", "cs::doubtful", "Calls", confidence=0.5),
    edge("cs::hidden", "cs::another", "Calls"),
    edge("cs::translation", "cs::translation/part", "Contains"),
    *(edge("cs::hub", f"cs::leaf/{number}", "Calls") for number in range(30)),
]
"""Code of which some answers where an order is refunded, for the rules of the ranking."""


def _definition(local_id: str, path: str, text: str, **fields: object) -> dict[str, object]:
    """A definition of the procedure SettleInvoice, with words of the question in its text."""
    padding = f"create procedure body of {local_id} {_PADDING}"
    return {**node(local_id, f"{text} {padding}", None, kind="sql", path=path, symbol="dbo.SettleInvoice"), **fields}


REDEFINITIONS = [
    _definition("current", "dbo/SettleInvoice.sql", "invoice"),
    _definition("first", "releases/1.sql", "closed invoice closed invoice"),
    _definition("second", "releases/2.sql", "closed invoice"),
    _definition("secret", "secret/3.sql", "invoice", acl_tags=["inside"]),
    *(node(f"step/{number}", f"nothing {_PADDING}", None, kind="sql", path="releases/1.sql") for number in (1, 2)),
    {**node("other", f"closed invoice {_PADDING}", None, kind="sql", path="dbo/OpenInvoice.sql"), "symbol": "Open"},
    edge("sql::first", "sql::current", "RedefinedBy", confidence=0.9),
    edge("sql::second", "sql::current", "RedefinedBy", confidence=0.9),
    edge("sql::current", "sql::secret", "RedefinedBy", confidence=0.9),
    edge("sql::other", "sql::current", "RedefinedBy", confidence=0.5),
]
"""A procedure that two scripts define as well, and for insiders a third place, which is current for them."""

BULK_TEXT_CHARACTERS = 1_600_000
BULK = [
    *(
        _document(
            f"bulk/{number}",
            "bulk ".ljust(BULK_TEXT_CHARACTERS, "-"),
            None,
            collection_id="bulk",
            document_id="bulk",
            chunk_index=number,
        )
        for number in (1, 2, 3)
    ),
    _document("bulk", "all of it ".ljust(BULK_TEXT_CHARACTERS, "-"), None),
    *(edge("md::bulk", f"md::bulk/{number}", "Contains") for number in (1, 2, 3)),
]
"""Texts two of which fill a response."""


def _of(collection: str, name: str, *words: str, **fields: object) -> dict[str, object]:
    """A node of a collection about refunds, chunk of a document that two collections share."""
    text = " ".join(("refund", collection, *words))
    return _document(
        f"{collection}/{name}", text, BILLING, collection_id=collection, case_id=f"{collection} case",
        metadata={"workflow_id": [collection, "shared"]}, **fields,
    )  # fmt: skip


COLLECTIONS = [
    _of("red", "first", "stamp", service_name="auth-service", document_id="manual", chunk_index=1),
    _of("blue", "second", "receipt", service_name="pay-service", document_id="manual", chunk_index=2),
    _of("red", "third", service_name="order-service", document_id="manual", chunk_index=3),
    _of("red", "whole"),
    _of("blue", "whole"),
    _of("blue", "withdrawn", deleted=True),
    _document("nowhere", "refund of no collection", BILLING, document_id="manual", chunk_index=4),
    edge("md::red/first", "md::blue/second", "CallsService"),
    edge("md::blue/second", "md::red/third", "CallsService"),
    edge("md::red/first", "md::red/third", "CallsService", confidence=0.5),
    edge("md::red/third", "md::nowhere", "Calls"),
    edge("md::red/whole", "md::red/first", "Contains"),
    edge("md::blue/whole", "md::red/first", "Contains"),
]
"""Two collections that lie across each other: in documents, edges, services and wholes."""
