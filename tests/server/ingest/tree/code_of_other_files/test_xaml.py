"""What XAML leads to in C#."""

from collections.abc import Callable, Mapping
from typing import Protocol


class ReadTree(Protocol):
    def of(self, edge_type: str) -> dict[tuple[str, str], float]: ...


VIEW = """\
<ContentPage xmlns="http://schemas.microsoft.com/dotnet/2021/maui"
             xmlns:x="http://schemas.microsoft.com/winfx/2009/xaml"
             xmlns:vm="clr-namespace:Shop.ViewModels"
             x:Class="Shop.Views.OrdersView"
             x:DataType="vm:OrdersModel">
    <ListView ItemsSource="{Binding Orders}" />
    <Button Clicked="OnAdd" Text="{Binding Missing}" />
</ContentPage>
"""
FILES = {
    "Views/OrdersView.xaml": VIEW,
    "Views/OrdersView.xaml.cs": (
        "namespace Shop.Views;\npublic partial class OrdersView\n{\n    void OnAdd(object s, E e) => Go();\n}\n"
    ),
    "ViewModels/OrdersModel.cs": (
        "namespace Shop.ViewModels;\npublic class OrdersModel\n{\n"
        "    public X Orders\n    {\n        get { return Load(); }\n    }\n}\n"
    ),
    "Other/OrdersModel.cs": "namespace Shop.Other;\npublic class OrdersModel\n{\n    public X Orders;\n}\n",
}


def test_a_view_leads_to_its_code_its_model_and_what_it_binds_to(tree: Callable[[Mapping[str, str]], ReadTree]) -> None:
    read_tree = tree(FILES)
    view, behind = "Views/OrdersView.xaml", "Views/OrdersView.xaml.cs#Shop.Views.OrdersView"
    assert read_tree.of("PartialOf").keys() == {(view, behind), (behind, view)}
    assert {end: value for (start, end), value in read_tree.of("References").items() if start == view} == {
        "ViewModels/OrdersModel.cs#Shop.ViewModels.OrdersModel": 0.9,
        "ViewModels/OrdersModel.cs#Shop.ViewModels.OrdersModel.Orders": 0.9,
        f"{behind}.OnAdd": 1.0,
    }
