from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import Binding, CodeAnalysis, Import, Parameter
from groundwire_ingest.tree.framework_facts import TableMapping

Analyser = Callable[[str, str], CodeAnalysis]

SERVICE = '''\
using System;
using static Shop.Util.Text;
using Inv = Shop.Domain.Invoice;
global using Shop.Data;

namespace Shop.Services
{
    /// <summary>Creates invoices.</summary>
    [Table("Invoices", Schema = "billing")]
    public partial class InvoiceService<T> : ServiceBase<T>, IInvoiceService where T : class
    {
        private readonly IRepository<Inv> _repository = new Repository(1);

        public string Name { get; set; }

        public int Total
        {
            get { return _repository.Count(); }
            set { Check(value); }
        }

        public InvoiceService(IRepository<Inv> repository) : base(repository)
        {
            this.Log("a\\n" + "b");
        }

        /* Saves. */
        [HttpPost]
        public async Task<int> CreateAsync(Inv invoice, int? count = null)
        {
            var audit = new Audit();
            base.Begin();
            _repository?.Insert(invoice);
            audit.Write<Inv>(@"say ""x""", $"{invoice} done").ConfigureAwait(false);
            foreach (Line line in invoice.Lines) { line.Save(); }
            return Format(count);
        }

#if DEBUG
        void Dump() { }
#endif
        enum State { Open, Closed }
    }

    public record Receipt(int Id) : Document(Id);

    interface IInvoiceService
    {
        Task<int> CreateAsync(Inv invoice, int? count);
    }
}
'''


def test_chunks(analyse: Analyser) -> None:
    nodes = analyse("src/InvoiceService.cs", SERVICE).file.nodes
    prefix = "src/InvoiceService.cs#Shop.Services."
    service = "public partial class InvoiceService<T> : ServiceBase<T>, IInvoiceService where T : class"
    assert [(node.local_id, node.start_line, node.end_line, node.signature) for node in nodes] == [
        (f"{prefix}InvoiceService", 8, 43, service),
        (f"{prefix}InvoiceService.Total", 16, 20, "public int Total"),
        (
            f"{prefix}InvoiceService.InvoiceService",
            22,
            25,
            "public InvoiceService(IRepository<Inv> repository) : base(repository)",
        ),
        (
            f"{prefix}InvoiceService.CreateAsync",
            27,
            37,
            "public async Task<int> CreateAsync(Inv invoice, int? count = null)",
        ),
        (f"{prefix}InvoiceService.Dump", 40, 40, "void Dump()"),
        (f"{prefix}InvoiceService.State", 42, 42, "enum State"),
        (f"{prefix}Receipt", 45, 45, "public record Receipt(int Id) : Document(Id)"),
        (f"{prefix}IInvoiceService", 47, 50, "interface IInvoiceService"),
        (f"{prefix}IInvoiceService.CreateAsync", 49, 49, "Task<int> CreateAsync(Inv invoice, int? count)"),
    ]
    assert {node.kind for node in nodes} == {"cs"}
    assert {node.language for node in nodes} == {"csharp"}
    assert {node.context_prefix for node in nodes[1:6]} == {service}


def test_fields_and_short_properties_stay_in_their_type(analyse: Analyser) -> None:
    facts = analyse("a.cs", SERVICE).facts
    assert facts is not None
    keys = {definition.symbol: definition.key for definition in facts.definitions}
    assert keys["Shop.Services.InvoiceService.Name"] == "cs::a.cs#Shop.Services.InvoiceService"


def test_usings_of_every_form(analyse: Analyser) -> None:
    facts = analyse("a.cs", SERVICE).facts
    assert facts is not None
    assert facts.imports == (
        Import("System", "*", "", 1),
        Import("Shop.Util.Text", "*", "", 2),
        Import("Shop.Domain", "Invoice", "Inv", 3),
        Import("Shop.Data", "*", "", 4, project_wide=True),
    )


def test_bases_calls_variables_and_literals(analyse: Analyser) -> None:
    analysis = analyse("a.cs", SERVICE)
    facts = analysis.facts
    assert facts is not None
    definitions = {definition.symbol: index for index, definition in enumerate(facts.definitions)}
    service, create = (
        definitions["Shop.Services.InvoiceService"],
        definitions["Shop.Services.InvoiceService.CreateAsync"],
    )
    assert facts.definitions[service].bases == ("ServiceBase<T>", "IInvoiceService")
    assert facts.definitions[service].type_parameters == ("T",)
    assert facts.definitions[service].traits == {"partial"}
    assert facts.definitions[create].parameters == (Parameter("invoice", "Inv"), Parameter("count", "int", True))
    assert facts.definitions[create].result == "Task<int>"
    calls = {(call.receiver, call.name) for call in facts.calls if call.scope == create}
    assert calls == {
        ("", "Audit"),
        ("base", "Begin"),
        ("_repository", "Insert"),
        ("audit", "Write"),
        ("audit.Write<Inv>()", "ConfigureAwait"),
        ("line", "Save"),
        ("", "Format"),
    }
    assert {Binding(service, "_repository", "IRepository<Inv>", True), Binding(create, "invoice", "Inv", True)} <= set(
        facts.bindings
    )
    assert {Binding(create, "audit", "Audit", False, "Audit()"), Binding(create, "line", "Line", True)} <= set(
        facts.bindings
    )
    assert [literal.text for literal in analysis.literals] == [
        "Invoices",
        "billing",
        "a\nb",
        'say "x"',
        "{invoice} done",
    ]


def test_namespace_of_the_whole_file(analyse: Analyser) -> None:
    nodes = analyse("a.cs", "using System;\nnamespace Shop.Core;\n\npublic struct Money { }\n").file.nodes
    assert [(node.symbol, node.text) for node in nodes] == [
        ("Shop.Core.Money", "public struct Money { }\n\nusing System;\nnamespace Shop.Core;")
    ]


@pytest.mark.parametrize(
    ("statement", "entity", "table"),
    [
        ('m.Entity<Invoice>().HasKey(x => x.Id).ToTable("Inv");', "Invoice", "Inv"),
        ('m.Entity<Domain.Invoice>().ToTable("Inv", "billing");', "Invoice", "billing.Inv"),
        ('m.Entity<Invoice>(b => { b.ToTable("Inv"); });', "Invoice", "Inv"),
        ("m.Entity<Invoice>().ToTable(nameof(Domain.Invoice));", "Invoice", "Invoice"),
        ('var e = m.Entity<Invoice>();\n    e.HasKey(x => x.Id);\n    e.ToTable("Inv");', "Invoice", "Inv"),
        ('const string Name = "Inv";\n    m.Entity<Invoice>().ToTable(Name);', "Invoice", "Inv"),
    ],
)
def test_to_table(analyse: Analyser, statement: str, entity: str, table: str) -> None:
    text = f"class Context {{\n  void OnModelCreating(ModelBuilder m) {{\n    {statement}\n  }}\n}}\n"
    facts = analyse("a.cs", text).facts
    assert facts is not None
    assert facts.mappings == (TableMapping("cs::a.cs#Context.OnModelCreating", 2, entity, table, 1.0),)


def test_configuration_class_table_attribute_and_db_set(analyse: Analyser) -> None:
    text = (
        "class InvoiceMap : IEntityTypeConfiguration<Invoice> {\n"
        '  public void Configure(EntityTypeBuilder<Invoice> b) {\n    b.ToTable("Inv");\n  }\n}\n'
        "class Context : DbContext {\n  public DbSet<Order> Orders { get; set; }\n}\n"
        '[Table("Lines", Schema = "billing")]\nclass Line { }\n'
    )
    facts = analyse("a.cs", text).facts
    assert facts is not None
    assert sorted(facts.mappings, key=lambda mapping: mapping.table) == [
        TableMapping("cs::a.cs#InvoiceMap.Configure", 2, "Invoice", "Inv", 1.0),
        TableMapping("cs::a.cs#Context", 3, "Order", "Orders", 0.8),
        TableMapping("cs::a.cs#Line", 5, "", "billing.Lines", 1.0),
    ]


def test_a_builder_that_a_helper_takes_is_of_its_entity(analyse: Analyser) -> None:
    text = (
        'class Maps {\n  static void Map(EntityTypeBuilder<Invoice> b) {\n    b.ToTable("Inv");\n    Log(b);\n  }\n}\n'
    )
    facts = analyse("a.cs", text).facts
    assert facts is not None
    assert facts.mappings == (TableMapping("cs::a.cs#Maps.Map", 2, "Invoice", "Inv", 1.0),)


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("Migrations/2024_First.Designer.cs", "partial class First"),
        ("Migrations/ShopModelSnapshot.cs", "partial class ShopModelSnapshot : ModelSnapshot"),
        ("Migrations/2024_First.cs", "class First : Migration"),
    ],
)
def test_snapshots_of_models_and_migrations_map_nothing(analyse: Analyser, path: str, base: str) -> None:
    text = (
        f"{base} {{\n  void BuildModel(ModelBuilder m) {{\n"
        '    m.Entity<Invoice>(b => { b.ToTable("Inv"); });\n  }\n}\n'
    )
    facts = analyse(path, text).facts
    assert facts is not None
    assert facts.mappings == ()


@pytest.mark.parametrize("statement", ["m.Entity<Invoice>().ToTable(name);", "m.Entity<Invoice>().ToTable(Named());"])
def test_a_table_that_is_not_plain_is_not_mapped(analyse: Analyser, statement: str) -> None:
    facts = analyse(
        "a.cs", f"class Context {{\n  void On(ModelBuilder m, string name) {{\n    {statement}\n  }}\n}}\n"
    ).facts
    assert facts is not None
    assert facts.mappings == ()
