from collections.abc import Callable, Mapping

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.file_analysis import EntityMapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]
Resolver = Callable[[Mapping[str, str]], list[SourceEdge | EntityMapping]]

SHOP = {
    "Services/InvoiceService.cs": (
        "using Shop.Data;\n"
        "using static Shop.Util.Text;\n"
        "using Aid = Shop.Util.Helper;\n"
        "namespace Shop.Services;\n\n"
        "public partial class InvoiceService : ServiceBase, IInvoiceService\n{\n"
        "    private readonly IRepository<Invoice> _repository;\n"
        "    public InvoiceService(IRepository<Invoice> repository)\n    {\n        _repository = repository;\n    }\n"
        "    public void Create(Invoice invoice)\n    {\n"
        "        _repository.Insert(invoice);\n"
        "        Audit(invoice);\n"
        "        base.Begin();\n"
        "        this.Begin();\n"
        "        var line = new Line(1);\n"
        "        line.Round();\n"
        "        Slug(invoice);\n"
        "        Aid.Help();\n"
        "        Shop.Util.Helper.Help();\n"
        "        Console.WriteLine(invoice);\n"
        "    }\n}\n"
    ),
    "Services/InvoiceService.Audit.cs": (
        "namespace Shop.Services\n{\n"
        "    public partial class InvoiceService\n    {\n"
        "        void Audit(Invoice invoice)\n        {\n            invoice.Touch();\n        }\n"
        "    }\n"
        "    public class ServiceBase\n    {\n"
        "        protected void Begin()\n        {\n        }\n"
        "    }\n}\n"
    ),
    "Services/IInvoiceService.cs": (
        "namespace Shop.Services;\npublic interface IInvoiceService\n{\n    void Create(Invoice invoice);\n}\n"
    ),
    "Data/IRepository.cs": "namespace Shop.Data;\n\npublic interface IRepository<T>\n{\n    void Insert(T item);\n}\n",
    "Data/Line.cs": (
        "namespace Shop.Data;\n\npublic class Line\n{\n"
        "    public Line()\n    {\n    }\n"
        "    public Line(int count)\n    {\n    }\n"
        "    public void Round()\n    {\n    }\n}\n"
    ),
    "Domain/Invoice.cs": ("namespace Shop;\n\npublic class Invoice\n{\n    public void Touch()\n    {\n    }\n}\n"),
    "Util/Text.cs": (
        "namespace Shop.Util;\n\npublic static class Text\n{\n"
        "    public static void Slug(object value)\n    {\n    }\n}\n"
        "public class Helper\n{\n    public static void Help()\n    {\n    }\n}\n"
    ),
}

CREATE = "Services/InvoiceService.cs#Shop.Services.InvoiceService.Create"


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        (CREATE, "Data/IRepository.cs#Shop.Data.IRepository.Insert"): 0.9,
        (CREATE, "Services/InvoiceService.Audit.cs#Shop.Services.InvoiceService.Audit"): 1.0,
        (CREATE, "Services/InvoiceService.Audit.cs#Shop.Services.ServiceBase.Begin"): 0.9,
        (CREATE, "Data/Line.cs#Shop.Data.Line"): 0.9,
        (CREATE, "Data/Line.cs#Shop.Data.Line.Round"): 0.8,
        (CREATE, "Util/Text.cs#Shop.Util.Text.Slug"): 0.9,
        (CREATE, "Util/Text.cs#Shop.Util.Helper.Help"): 1.0,
        (
            "Services/InvoiceService.Audit.cs#Shop.Services.InvoiceService.Audit",
            "Domain/Invoice.cs#Shop.Invoice.Touch",
        ): 0.9,
    }


def test_inherits(edges_of: EdgesOf) -> None:
    service = "Services/InvoiceService.cs#Shop.Services.InvoiceService"
    assert edges_of("Inherits", SHOP) == {
        (service, "Services/InvoiceService.Audit.cs#Shop.Services.ServiceBase"): 0.9,
        (service, "Services/IInvoiceService.cs#Shop.Services.IInvoiceService"): 0.9,
    }


def test_a_using_leads_to_the_files_of_its_namespace_that_are_used(edges_of: EdgesOf) -> None:
    files = {**SHOP, "Data/Unused.cs": "namespace Shop.Data;\n\npublic class Unused\n{\n}\n"}
    service = "Services/InvoiceService.cs#Shop.Services.InvoiceService"
    assert edges_of("Imports", files) == {
        (service, "Data/IRepository.cs#Shop.Data.IRepository"): 0.9,
        (service, "Data/Line.cs#Shop.Data.Line"): 0.9,
        (service, "Util/Text.cs#Shop.Util.Text"): 1.0,
    }


def test_global_usings_hold_for_every_file(edges_of: EdgesOf) -> None:
    files = {
        "Usings.cs": "global using Shop.Data;\n",
        "A.cs": "class A\n{\n    void F(Line line)\n    {\n        line.Round();\n    }\n}\n",
        "Data/Line.cs": SHOP["Data/Line.cs"],
    }
    assert edges_of("Calls", files) == {("A.cs#A.F", "Data/Line.cs#Shop.Data.Line.Round"): 0.9}


def test_of_types_of_one_name_the_nearest_is_meant(edges_of: EdgesOf) -> None:
    program = "namespace Sample;\n\nclass Program\n{\n    void Main()\n    {\n        new Start();\n    }\n}\n"
    start = "namespace Sample;\n\nclass Start\n{\n}\n"
    files = {"one/P.cs": program, "one/S.cs": start, "two/P.cs": program, "two/S.cs": start}
    assert edges_of("Calls", files) == {
        ("one/P.cs#Sample.Program.Main", "one/S.cs#Sample.Start"): 0.9,
        ("two/P.cs#Sample.Program.Main", "two/S.cs#Sample.Start"): 0.9,
    }


def test_a_property_has_the_type_it_states(edges_of: EdgesOf) -> None:
    files = {
        "A.cs": (
            "class A : B\n{\n    void F()\n    {\n        Store.Save();\n        this.Store.Inner.Load();\n    }\n}\n"
            "class B\n{\n    protected Store Store { get; }\n}\n"
            "class Store\n{\n    public Inner Inner;\n    public void Save()\n    {\n    }\n}\n"
            "class Inner\n{\n    public void Load()\n    {\n    }\n}\n"
        )
    }
    assert edges_of("Calls", files) == {("A.cs#A.F", "A.cs#Store.Save"): 0.9, ("A.cs#A.F", "A.cs#Inner.Load"): 0.9}


def test_entities_of_other_files_are_mapped(resolved: Resolver) -> None:
    files = {
        "Context.cs": (
            "namespace Shop.Data;\n\nclass Context : DbContext\n{\n"
            "    public DbSet<Invoice> Invoices { get; set; }\n}\n"
        ),
        "Map.cs": (
            "namespace Shop.Data;\n\nclass Map : IEntityTypeConfiguration<Invoice>\n{\n"
            '    void Configure(B b)\n    {\n        b.ToTable("Invoices");\n    }\n}\n'
        ),
        "Invoice.cs": SHOP["Domain/Invoice.cs"],
    }
    mappings = [item for item in resolved(files) if isinstance(item, EntityMapping)]
    assert mappings == [
        EntityMapping("cs::Context.cs#Shop.Data.Context", "Invoices", 0.8),
        EntityMapping("cs::Invoice.cs#Shop.Invoice", "Invoices", 0.8),
        EntityMapping("cs::Invoice.cs#Shop.Invoice", "Invoices", 1.0),
        EntityMapping("cs::Map.cs#Shop.Data.Map.Configure", "Invoices", 1.0),
    ]
