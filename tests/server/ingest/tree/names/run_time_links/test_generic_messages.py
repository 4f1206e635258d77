"""Messages with type arguments, and callables that subscribe to a message."""

from collections.abc import Callable, Mapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

ADDED = """\
public class Order { public int Id; }
public class Customer { public int Id; }
public class Added<T> { public T Entity; }
public class Cache : IConsumer<Added<Order>>, IConsumer<Added<Customer>>
{
    public Task HandleAsync(Added<Order> message)
    {
        var m = message;
        return Run(m);
    }
    public Task HandleAsync(Added<Customer> message)
    {
        var m = message;
        return Run(m);
    }
}
public class Log<E> : IConsumer<Added<E>>
{
    public Task HandleAsync(Added<E> message)
    {
        var m = message;
        return Run(m);
    }
}
public class Shop
{
    public Task Add(Order order)
    {
        Save(order);
        return _bus.PublishAsync(new Added<Order>());
    }
    public Task AddCustomer(Customer customer)
    {
        Added<Customer> added = new();
        return _bus.PublishAsync(added);
    }
    public Task AddAny<T>(T entity)
    {
        Save(entity);
        return _bus.PublishAsync(new Added<T>());
    }
}
"""
SUBSCRIBED = """\
public record Placed(int Id);
public record Paid(int Id);
public class Mail
{
    public void Start(IBus bus)
    {
        bus.Subscribe<Placed>(OnPlaced);
        bus.Subscribe<Placed>(Other);
    }
    public Task OnPlaced(Placed placed)
    {
        var m = placed;
        return Run(m);
    }
    public Task Other(Paid paid)
    {
        var m = paid;
        return Run(m);
    }
}
public class Shop
{
    public Task Place(IBus bus)
    {
        Save();
        return bus.PublishAsync(new Placed(1));
    }
}
"""


def test_a_message_leads_to_the_handlers_of_its_type_arguments(edges_of: EdgesOf) -> None:
    first, second = "a.cs#Cache.HandleAsync", "a.cs#Cache.HandleAsync~2"
    assert edges_of("Sends", {"a.cs": ADDED}) == {
        ("a.cs#Shop.Add", first): 0.9,
        ("a.cs#Shop.AddCustomer", second): 0.9,
        ("a.cs#Shop.AddAny", first): 0.6,
        ("a.cs#Shop.AddAny", second): 0.6,
        ("a.cs#Shop.Add", "a.cs#Log.HandleAsync"): 0.9,
        ("a.cs#Shop.AddCustomer", "a.cs#Log.HandleAsync"): 0.9,
        ("a.cs#Shop.AddAny", "a.cs#Log.HandleAsync"): 0.6,
    }


def test_a_callable_that_subscribes_to_a_message_handles_it(edges_of: EdgesOf) -> None:
    assert edges_of("HandledBy", {"a.cs": SUBSCRIBED}) == {("a.cs#Placed", "a.cs#Mail.OnPlaced"): 1.0}
    assert edges_of("Sends", {"a.cs": SUBSCRIBED}) == {("a.cs#Shop.Place", "a.cs#Mail.OnPlaced"): 0.9}
