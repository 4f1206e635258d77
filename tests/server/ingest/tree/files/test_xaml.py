"""XAML: parts by key, and what it says of code."""

from collections.abc import Callable

from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.files.reading import FileReading

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

PAD = "x" * 700

VIEW = f"""\
<ContentPage
    x:Class="Shop.Views.OrderView"
    xmlns="http://schemas.microsoft.com/dotnet/2021/maui"
    xmlns:x="http://schemas.microsoft.com/winfx/2009/xaml"
    xmlns:v="clr-namespace:Shop.Views"
    xmlns:vm="clr-namespace:Shop.ViewModels"
    x:DataType="vm:OrderViewModel">
  <ContentPage.Resources>
    <ResourceDictionary Source="../Styles/Colors.xaml" />
    <ResourceDictionary Source="pack://application:,,,/Shop;component/Themes/Generic.xaml" />
    <Style x:Key="Big" TargetType="{{x:Type Label}}">
      <Setter Property="Text" Value="{PAD}" />
    </Style>
  </ContentPage.Resources>
  <Button Text="{{Binding Order.Total, StringFormat='{{0}}'}}" Clicked="OnPay" Command="{{Binding Path=PayCommand}}" />
  <v:Cart Items="{{Binding}}" Style="{{StaticResource Big}}" />
  <DataTemplate x:DataType="{{x:Type vm:Line}}">
    <Label Text="{{Binding Mode=OneWay, Path=Name}}" Tag="{PAD}" />
    <Label Text="{{Binding Id, x:DataType=vm:Other}}" Focused="True" />
  </DataTemplate>
</ContentPage>
"""


def test_what_a_view_says_of_code(read: Read) -> None:
    facts = read("Views/OrderView.xaml", VIEW).facts
    assert isinstance(facts, CodeFacts)
    assert [item.symbol for item in facts.definitions] == ["", "Shop.Views.OrderView"]
    assert [(item.name, item.line, item.role) for item in facts.references] == [
        ("Shop.ViewModels.OrderViewModel", 1, "type"),
        ("Shop.ViewModels.Line", 17, "type"),
        ("Shop.Views.Cart", 16, "type"),
        ("Shop.ViewModels.OrderViewModel.Order.Total", 15, "value"),
        ("Shop.ViewModels.OrderViewModel.PayCommand", 15, "value"),
        ("Shop.ViewModels.Line.Name", 18, "value"),
        ("Shop.ViewModels.Other.Id", 19, "value"),
        ("OnPay", 15, "value"),
    ]


def test_parts_are_named_by_their_keys(chunks: Chunks) -> None:
    assert chunks("Views/OrderView.xaml", VIEW) == [
        ("OrderView.xaml", 1, 21),
        ("ContentPage.Resources", 8, 14),
        ("DataTemplate", 17, 20),
    ]
    styles = f"<Style x:Key='A'>\n{PAD}\n</Style>\n<Style TargetType='B'>\n{PAD}{PAD}\n</Style>\n"
    styles = f"<Styles xmlns:x='x'>\n{styles}</Styles>"
    assert chunks("Styles.axaml", styles) == [("Styles.axaml", 1, 8), ("A", 2, 4), ("B", 5, 7)]


def test_dictionaries_are_imports(read: Read) -> None:
    references = read("Views/OrderView.xaml", VIEW).references
    assert [(item.written, item.edge_type, item.line) for item in references] == [
        (("../Styles/Colors.xaml",), "Imports", 9),
        (("Themes/Generic.xaml",), "Imports", 10),
    ]
