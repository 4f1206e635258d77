"""The texts for testing that an int8 encoder agrees with its model.

They are typical queries and texts of an index of code and its documents: questions, names, lines of code, errors,
prose. Their lengths are from a word to a long query. They are the same for every index. A choice that depended on the
texts of one index would let hidden nodes change the scores of visible ones.
"""

TEXTS: tuple[str, ...] = (
    # Questions.
    "where is the user loaded from the database",
    "How do we retry a failed payment?",
    "which service sends the order confirmation e-mail",
    "what happens when the connection pool is exhausted",
    "find the function that parses command line arguments",
    "why does the nightly import time out after an hour",
    "who calls the tax calculation",
    "show me how access tokens are verified and where their keys come from",
    "does anything still use the old invoice table?",
    "convert a date string with a time zone to a unix timestamp",
    "read a csv file line by line without loading it into memory",
    "sort a list of dictionaries by several keys, the last one descending",
    "steps to roll back a deployment when the health check keeps failing",
    "difference between soft delete and archive for customer records, and which of them the export leaves out",
    # Names, as in code and as people type them.
    "getUserById",
    "parse_http_header",
    "OrderRepository",
    "MAX_RETRY_COUNT",
    "dbo.Invoice_Create",
    "Shop.Billing.Invoices.InvoiceService.CreateAsync",
    "kubectl rollout undo deployment/web",
    "src/auth/middleware/session.ts",
    "ECONNREFUSED 127.0.0.1:5432",
    "sha256",
    "x",
    "404",
    # Lines of code.
    "def load(path: Path) -> dict[str, int]:\n    with path.open() as file:\n        return json.load(file)",
    "for index, (name, value) in enumerate(sorted(headers.items())):\n    print(f'{index}: {name}={value!r}')",
    "class Stack(Generic[T]):\n    def __init__(self) -> None:\n        self._items: list[T] = []",
    "public async Task<Invoice?> FindAsync(int id, CancellationToken token) =>\n"
    "    await _context.Invoices.FirstOrDefaultAsync(invoice => invoice.Id == id, token);",
    'if err != nil {\n\treturn nil, fmt.Errorf("open %s: %w", name, err)\n}',
    "const total = items.reduce((sum, item) => sum + item.price * item.quantity, 0);",
    "export function useDebounce<T>(value: T, delay = 300): T {\n  const [state, setState] = useState(value);",
    "List<String> names = users.stream().filter(User::isActive).map(User::getName).toList();",
    "fn main() -> Result<(), Box<dyn Error>> {\n    let args: Vec<String> = env::args().collect();",
    "static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }",
    "SELECT c.name, COUNT(*) AS orders FROM customer c JOIN orders o ON o.customer_id = c.id\n"
    "WHERE o.created_at >= '2024-01-01' GROUP BY c.name HAVING COUNT(*) > 10",
    "CREATE TABLE audit_log (id BIGINT PRIMARY KEY, actor TEXT NOT NULL, happened_at TIMESTAMPTZ DEFAULT now());",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3",
    '{"level": "error", "message": "upstream timed out", "duration_ms": 30000, "retry": false}',
    "FROM python:3.11-slim\nCOPY . /app\nRUN pip install --no-cache-dir /app",
    '<button class="primary" disabled={!valid} onClick={() => submit(form)}>Save</button>',
    '#!/bin/sh\nset -eu\ntar -czf "backup-$(date +%F).tar.gz" /var/lib/data',
    "@app.route('/orders/<int:order_id>', methods=['GET', 'DELETE'])",
    "    }\n  }\n});",
    # Errors.
    "Traceback (most recent call last):\n  File \"app.py\", line 12, in <module>\nKeyError: 'customer_id'",
    "System.NullReferenceException: Object reference not set to an instance of an object.",
    "error TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'string'.",
    "panic: runtime error: index out of range [5] with length 3",
    "FATAL: remaining connection slots are reserved for non-replication superuser connections",
    # Prose.
    "The scheduler wakes up every minute, takes the oldest job whose time has come and hands it to a free worker. "
    "A job that fails is tried again after a pause that doubles each time, at most five times.",
    "Restart the broker only after every consumer has committed its offsets.",
    "This endpoint is deprecated; use /v2/accounts instead.",
    "We saw the latency double at 14:05, right after the cache was flushed. Rolled back, all green since 14:20.",
    "Copyright holders and contributors provide this software as is, without warranty of any kind.",
    "## Installation\n\nDownload the archive, unpack it and run the setup script as an administrator.",
    "Returns true if both trees have the same shape and equal values in corresponding nodes.",
    "TODO: remove this workaround once the upstream fix has been released",
    "thanks, that fixed it!",
    # Other languages, other scripts, numbers and signs.
    "Wie wird die Mehrwertsteuer auf der Rechnung berechnet?",
    "où se trouve la configuration de la base de données",
    "как отменить заказ клиента",
    "ユーザーを検索する関数",
    "0xDEADBEEF 3.14159 1e-9 2024-02-29T23:59:60Z 192.168.0.1/24",
    "a && b || !c ? d : e",
)
