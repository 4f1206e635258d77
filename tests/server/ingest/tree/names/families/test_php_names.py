r"""A name from elsewhere (`\Vendor\Row`) is not taken for one of the tree that ends like it."""

from collections.abc import Callable, Mapping

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]
EdgesOf = Callable[..., dict[tuple[str, str], float]]

SHOP: Mapping[str, str] = {
    "src/Service.php": """\
<?php

namespace App\\Service;

use App\\Data\\{Repo, Line as Row};
use function App\\Text\\slug;

/** Serves. */
#[Marked]
final class Service extends Base implements \\App\\Data\\Closer
{
    use Logs;

    /** @var Row */
    private $row;

    private $made;

    public function __construct(private readonly Repo $repo, ?int $count = 1)
    {
        $this->made = new Row(1);
        parent::__construct($count);
    }

    public function close(Invoice $invoice, string ...$rest): ?Invoice
    {
        $this->repo->save($invoice)->touch();
        $this->made->settle();
        $this->row->settle();
        $this->log('x');
        self::make()->begin();
        slug($invoice);
        format($invoice);
        $other = new \\App\\Data\\Repo();
        $other->save($invoice);
        \\Vendor\\Row::settle();
        array_map([$this, 'report'], $rest);
        $unknown->clear();

        return $invoice;
    }

    public static function make(): static
    {
        return new static(Repo::class);
    }

    private function report(): void
    {
        echo 1;
        echo 2;
    }
}
""",
    "src/Base.php": """\
<?php

namespace App\\Service;

abstract class Base
{
    public function __construct(int $count)
    {
        echo $count;
    }

    public function begin(): void
    {
        echo 1;
    }
}

trait Logs
{
    protected function log(string $text): void
    {
        echo $text;
    }
}

class Invoice
{
    public function touch(): void
    {
        echo 1;
    }
}
""",
    "src/Data.php": """\
<?php

namespace App\\Data;

interface Closer
{
    public function close(object $invoice, string ...$rest): ?object;
}

class Repo
{
    public function save(\\App\\Service\\Invoice $invoice): \\App\\Service\\Invoice
    {
        return $invoice->touched();
    }
}

class Line
{
    public function settle(): void
    {
        echo 1;
    }
}
""",
    "src/text.php": """\
<?php

namespace App\\Text;

function slug(object $value): string
{
    return strtolower($value);
}
""",
    "src/global.php": """\
<?php
require_once __DIR__ . '/text.php';

if (!function_exists('format')) {
    function format($value)
    {
        return $value;
    }
}
""",
}


def test_nodes(analyse: Analyser) -> None:
    code = {path: text for path, text in SHOP.items() if not path.endswith(".toml")}
    analyses = [analyse(path, text) for path, text in code.items()]
    assert [item for analysis in analyses for item in analysis.file.skipped] == []
    nodes = [node for analysis in analyses for node in analysis.file.nodes]
    assert [(node.local_id, node.start_line, node.end_line, node.signature) for node in nodes] == [
        (
            "src/Service.php#App.Service.Service",
            8,
            53,
            "final class Service extends Base implements \\App\\Data\\Closer",
        ),
        (
            "src/Service.php#App.Service.Service.__construct",
            19,
            23,
            "public function __construct(private readonly Repo $repo, ?int $count = 1)",
        ),
        (
            "src/Service.php#App.Service.Service.close",
            25,
            41,
            "public function close(Invoice $invoice, string ...$rest): ?Invoice",
        ),
        ("src/Service.php#App.Service.Service.make", 43, 46, "public static function make(): static"),
        ("src/Service.php#App.Service.Service.report", 48, 52, "private function report(): void"),
        ("src/Base.php#App.Service.Base", 5, 16, "abstract class Base"),
        ("src/Base.php#App.Service.Base.__construct", 7, 10, "public function __construct(int $count)"),
        ("src/Base.php#App.Service.Base.begin", 12, 15, "public function begin(): void"),
        ("src/Base.php#App.Service.Logs", 18, 24, "trait Logs"),
        ("src/Base.php#App.Service.Logs.log", 20, 23, "protected function log(string $text): void"),
        ("src/Base.php#App.Service.Invoice", 26, 32, "class Invoice"),
        ("src/Base.php#App.Service.Invoice.touch", 28, 31, "public function touch(): void"),
        ("src/Data.php#App.Data.Closer", 5, 8, "interface Closer"),
        (
            "src/Data.php#App.Data.Closer.close",
            7,
            7,
            "public function close(object $invoice, string ...$rest): ?object",
        ),
        ("src/Data.php#App.Data.Repo", 10, 16, "class Repo"),
        (
            "src/Data.php#App.Data.Repo.save",
            12,
            15,
            "public function save(\\App\\Service\\Invoice $invoice): \\App\\Service\\Invoice",
        ),
        ("src/Data.php#App.Data.Line", 18, 24, "class Line"),
        ("src/Data.php#App.Data.Line.settle", 20, 23, "public function settle(): void"),
        ("src/text.php", 1, 8, ""),
        ("src/text.php#App.Text.slug", 5, 8, "function slug(object $value): string"),
        ("src/global.php", 1, 9, ""),
        ("src/global.php#format", 5, 8, "function format($value)"),
    ]


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        ("src/Service.php#App.Service.Service.__construct", "src/Base.php#App.Service.Base.__construct"): 0.9,
        ("src/Service.php#App.Service.Service.__construct", "src/Data.php#App.Data.Line"): 1.0,
        ("src/Service.php#App.Service.Service.close", "src/Base.php#App.Service.Base.begin"): 0.9,
        ("src/Service.php#App.Service.Service.close", "src/Base.php#App.Service.Invoice.touch"): 0.9,
        ("src/Service.php#App.Service.Service.close", "src/Base.php#App.Service.Logs.log"): 0.9,
        ("src/Service.php#App.Service.Service.close", "src/Data.php#App.Data.Line.settle"): 0.9,
        ("src/Service.php#App.Service.Service.close", "src/Data.php#App.Data.Repo.save"): 0.9,
        ("src/Service.php#App.Service.Service.close", "src/Service.php#App.Service.Service.make"): 1.0,
        ("src/Service.php#App.Service.Service.close", "src/global.php#format"): 0.9,
        ("src/Service.php#App.Service.Service.close", "src/text.php#App.Text.slug"): 1.0,
        ("src/Service.php#App.Service.Service.make", "src/Service.php#App.Service.Service.__construct"): 1.0,
    }


def test_imports(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", SHOP) == {
        ("src/Service.php#App.Service.Service", "src/Data.php#App.Data.Closer"): 1.0,
        ("src/Service.php#App.Service.Service", "src/text.php"): 1.0,
        ("src/global.php", "src/text.php"): 0.9,
    }


def test_inherits(edges_of: EdgesOf) -> None:
    assert edges_of("Inherits", SHOP) == {
        ("src/Service.php#App.Service.Service", "src/Base.php#App.Service.Base"): 0.9,
        ("src/Service.php#App.Service.Service", "src/Base.php#App.Service.Logs"): 0.9,
        ("src/Service.php#App.Service.Service", "src/Data.php#App.Data.Closer"): 1.0,
    }


def test_implements(edges_of: EdgesOf) -> None:
    assert edges_of("Implements", SHOP) == {
        ("src/Service.php#App.Service.Service.close", "src/Data.php#App.Data.Closer.close"): 0.9
    }


def test_implemented_by(edges_of: EdgesOf) -> None:
    assert edges_of("ImplementedBy", SHOP) == {
        ("src/Base.php#App.Service.Base", "src/Service.php#App.Service.Service"): 0.9,
        ("src/Data.php#App.Data.Closer", "src/Service.php#App.Service.Service"): 0.9,
        ("src/Data.php#App.Data.Closer.close", "src/Service.php#App.Service.Service.close"): 0.9,
    }


def test_references(edges_of: EdgesOf) -> None:
    assert edges_of("References", SHOP) == {
        ("src/Data.php#App.Data.Repo.save", "src/Base.php#App.Service.Invoice"): 1.0,
        ("src/Service.php#App.Service.Service.__construct", "src/Data.php#App.Data.Repo"): 1.0,
        ("src/Service.php#App.Service.Service.close", "src/Base.php#App.Service.Invoice"): 0.9,
        ("src/Service.php#App.Service.Service.close", "src/Service.php#App.Service.Service.report"): 1.0,
        ("src/Service.php#App.Service.Service.make", "src/Data.php#App.Data.Repo"): 1.0,
        ("src/Service.php#App.Service.Service.make", "src/Service.php#App.Service.Service"): 1.0,
    }
