"""C# code that names SQL objects by strings that it builds, and by the calls and properties that take names."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.names.run_time_links import text_values, texts
from groundwire_ingest.tree.source import TreeSource

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]

SCHEMA = """\
CREATE TABLE dbo.[User] (Id int)
CREATE TABLE dbo.[Device] (Id int)
CREATE TABLE audit.[Event] (Id int)
GO
""" + "".join(
    f"CREATE PROCEDURE {name} AS RETURN 0\nGO\n"
    for name in (
        "dbo.User_ReadById",
        "dbo.User_ReadByEmail",
        "dbo.Device_ReadById",
        "dbo.Device_ReadByUserId",
        "audit.Event_ReadById",
        "audit.Event_Purge",
        "dbo.Run",
    )
)
REPOSITORY = """\
public abstract class Repository<T, TId> where T : class
{
    public Repository(string connection, string schema = null, string table = null)
    {
        if (!string.IsNullOrWhiteSpace(table)) { Table = table; }
        if (!string.IsNullOrWhiteSpace(schema)) { Schema = schema; }
    }
    protected string Schema { get; private set; } = "dbo";
    protected string Table { get; private set; } = typeof(T).Name;
    public virtual async Task<T> GetByIdAsync(TId id)
    {
        return await connection.QueryAsync<T>(
            $"[{Schema}].[{Table}_ReadById]", new { Id = id }, commandType: CommandType.StoredProcedure);
    }
}
"""
Named = Callable[[Mapping[str, str]], set[tuple[str, str, str, float]]]


@pytest.fixture
def named(make_tree: TreeMaker) -> Named:
    """The edges from C# to SQL: the symbol, the type, the object and the confidence."""

    def of_files(files: Mapping[str, str]) -> set[tuple[str, str, str, float]]:
        root = make_tree({"schema.sql": SCHEMA, **files})
        edges = [record for record in TreeSource(root).read() if isinstance(record, SourceEdge)]
        return {
            (edge.from_key.partition("#")[2], edge.edge_type, edge.to_key[5:].partition("|")[0], edge.confidence)
            for edge in edges
            if edge.from_key.startswith("cs::") and edge.to_key.startswith("sql::")
        }

    return of_files


def test_a_hole_in_the_schema_means_any_schema(named: Named) -> None:
    code = """\
class Users {
    void ByEmail(string schema) { db.Query<User>($"[{schema}].[User_ReadByEmail]", x); }
    void Purge() { db.Execute($"[{Options.Schema}].[Event_Purge]"); }
    void Select(string schema) { db.Query($"SELECT * FROM [{schema}].[Event] WHERE Id = {id}"); }
    void Bare(string schema) { db.Query($"DELETE FROM {schema}.Device"); }
    void Columns() { db.Query($"SELECT Id AS {nameof(User.Id)} FROM [dbo].[User]"); }
    void Unknown(string table) { db.Query($"SELECT * FROM [dbo].[{table}]"); db.Query($"[dbo].[{table}_ReadById]"); }
}
"""
    assert named({"Users.cs": code}) == {
        ("Users.ByEmail", "Executes", "dbo.User_ReadByEmail", 0.8),
        ("Users.Purge", "Executes", "audit.Event_Purge", 0.8),
        ("Users.Select", "ReadsFrom", "audit.Event", 0.9),
        ("Users.Columns", "ReadsFrom", "dbo.User", 0.9),
        ("Users.Bare", "WritesTo", "dbo.Device", 0.9),
    }


def test_a_schema_of_a_constant_decides(named: Named) -> None:
    code = """\
class Events {
    private const string Schema = "dbo";
    void Purge() { db.Execute($"[{Schema}].[Event_Purge]"); }
    void Other() { db.Execute($"[{Names.Audit}].[Event_Purge]"); }
}
static class Names { public static readonly string Audit = "audit"; }
"""
    assert named({"Events.cs": code}) == {("Events.Other", "Executes", "audit.Event_Purge", 0.8)}


def test_an_inherited_member_executes_a_procedure_for_each_class_below(named: Named) -> None:
    code = """\
public class UserRepository : Repository<User, Guid>
{
    public UserRepository(Settings s) : this(s.Connection) { }
    public UserRepository(string connection) : base(connection) { }
}
public class DeviceRepository(string c) : Repository<Models.Device, Guid>(c)
{
    Task ByUser() => db.QueryAsync($"[{Schema}].[{Table}_ReadByUserId]", commandType: CommandType.StoredProcedure);
}
public class EventRepository : Repository<Record, Guid>
{
    public EventRepository(string c) : base(c, table: "Event", schema: "audit") { }
}
public class OwnRepository : Repository<User, Guid>
{
    public OwnRepository(string c) : base(c) { }
    public override Task<User> GetByIdAsync(Guid id) => null;
}
"""
    assert named({"Repository.cs": REPOSITORY, "Repositories.cs": code}) == {
        ("UserRepository", "Executes", "dbo.User_ReadById", 0.8),
        ("DeviceRepository", "Executes", "dbo.Device_ReadById", 0.8),
        ("DeviceRepository.ByUser", "Executes", "dbo.Device_ReadByUserId", 0.9),
        ("EventRepository", "Executes", "audit.Event_ReadById", 0.8),
    }


def test_the_class_between_decides_for_those_below_it(named: Named) -> None:
    code = """\
public class Middle<TEntity> : Repository<TEntity, Guid> { public Middle(string c) : base(c) { } }
public class Users : Middle<User> { public Users(string c) : base(c) { } }
public class MoreUsers : Users { public MoreUsers(string c) : base(c) { } }
"""
    assert named({"Repository.cs": REPOSITORY, "Repositories.cs": code}) == {
        ("Users", "Executes", "dbo.User_ReadById", 0.8)
    }


def test_an_overridden_property_decides(named: Named) -> None:
    code = """\
abstract class Store {
    protected abstract string Table { get; }
    void Load() { db.Query("SELECT * FROM dbo." + Table); }
}
class Users : Store { protected override string Table => nameof(User); }
class Devices : Store { protected override string Table { get { return "Device"; } } }
"""
    assert named({"Store.cs": code}) == {
        ("Users", "ReadsFrom", "dbo.User", 0.8),
        ("Devices", "ReadsFrom", "dbo.Device", 0.8),
    }


def test_names_are_followed_through_constants_and_variables(named: Named) -> None:
    code = """\
class Sql { public const string ByEmail = "dbo.User_ReadByEmail"; public const string All = "SELECT * FROM [User]"; }
class Users {
    void Constant() { db.Query<User>(Sql.ByEmail, commandType: CommandType.StoredProcedure); }
    void All() { db.Query<User>(Sql.All); }
    void Both() { x.CommandType = CommandType.StoredProcedure; var c = new SqlCommand(Sql.All); c.Run(); }
    void Variable() { var table = "Device"; var sql = $"SELECT * FROM {table}"; db.Query(sql); }
    void Twice() { var table = "Device"; if (x) table = "User"; db.Query($"SELECT * FROM {table}"); }
    void Command() { command.CommandText = Sql.ByEmail; command.Run(); }
    void Assigned() { var sql = Sql.ByEmail; Run(sql); }
    void Passed() { Run("Run"); }
    void Run(string procedure) { db.Query(procedure, commandType: CommandType.StoredProcedure); }
}
"""
    edges = {edge for edge in named({"Users.cs": code}) if edge[0] != "Sql"}
    assert edges == {
        ("Users.Constant", "Executes", "dbo.User_ReadByEmail", 0.9),
        ("Users.All", "ReadsFrom", "dbo.User", 0.9),
        ("Users.Both", "ReadsFrom", "dbo.User", 0.9),
        ("Users.Variable", "ReadsFrom", "dbo.Device", 0.9),
        ("Users.Command", "Executes", "dbo.User_ReadByEmail", 0.8),
        ("Users.Assigned", "Executes", "dbo.User_ReadByEmail", 0.9),
        ("Users.Passed", "Executes", "dbo.Run", 0.9),
    }


def test_what_is_executed_as_a_procedure_is_sure_to_be_one(named: Named) -> None:
    code = """\
class Jobs {
    void Dapper() { db.Execute("Run", new { x }, commandType: CommandType.StoredProcedure); }
    void Ado() { var c = new SqlCommand("Run", connection); c.CommandType = CommandType.StoredProcedure; }
    void Text() { c.CommandText = "User_ReadById"; c.CommandType = CommandType.StoredProcedure; }
    void Mapper() { SqlMapper.Query(db, "Run", p, commandType: CommandType.StoredProcedure); }
    void Other() { log.Info("Run"); }
}
"""
    assert named({"Jobs.cs": code}) == {
        ("Jobs.Dapper", "Executes", "dbo.Run", 0.9),
        ("Jobs.Ado", "Executes", "dbo.Run", 0.9),
        ("Jobs.Text", "Executes", "dbo.User_ReadById", 0.9),
        ("Jobs.Mapper", "Executes", "dbo.Run", 0.9),
    }


def test_a_bulk_copy_writes_its_table(named: Named) -> None:
    code = """\
class Copy {
    void Write() { using var copy = new SqlBulkCopy(c); copy.DestinationTableName = "[dbo].[User]"; }
    void Made() { var copy = new SqlBulkCopy(c) { DestinationTableName = nameof(Device) }; }
    void Other() { x.DestinationTableName = name; }
}
"""
    assert named({"Copy.cs": code}) == {
        ("Copy.Write", "WritesTo", "dbo.User", 0.9),
        ("Copy.Made", "WritesTo", "dbo.Device", 0.9),
    }


CONTEXT = """\
using Models;
public class Context : DbContext {
    public DbSet<Models.Device> Devices { get; set; }
    public DbSet<User> Users { get; set; }
    protected override void OnModelCreating(ModelBuilder builder) {
        builder.Entity<User>().ToTable(nameof(User));
        builder.Entity<Device>().ToTable("Device");
    }
}
public class User { }
namespace Models { public class Device { } }
"""


def test_sets_of_entities_read_and_write_their_tables(named: Named) -> None:
    code = """\
class Store {
    private readonly Context _context;
    async Task Read(Context c) { return await c.Users.Where(u => u.Id == 1).ToListAsync(); }
    async Task Query() { var found = from d in _context.Devices where d.Id == 1 select d; }
    async Task Add(User user) { await _context.Users.AddAsync(user); await _context.SaveChangesAsync(); }
    async Task Delete() { await _context.Devices.Where(d => d.Id == 1).ExecuteDeleteAsync(); }
    async Task Set() { return await _context.Set<User>().FirstAsync(); }
    async Task Through(User user) { _context.Remove(user); await _context.SaveChangesAsync(); }
    async Task Other(Lists lists) { return lists.Users.Where(u => u.Id == 1).Any(); }
}
class Lists { public List<User> Users { get; set; } }
"""
    edges = {edge for edge in named({"Context.cs": CONTEXT, "Store.cs": code}) if edge[1] != "MapsTo"}
    assert edges == {
        ("Store.Read", "ReadsFrom", "dbo.User", 0.9),
        ("Store.Query", "ReadsFrom", "dbo.Device", 0.9),
        ("Store.Add", "WritesTo", "dbo.User", 0.9),
        ("Store.Delete", "WritesTo", "dbo.Device", 0.9),
        ("Store.Set", "ReadsFrom", "dbo.User", 0.9),
        ("Store.Through", "WritesTo", "dbo.User", 0.8),
    }


def test_a_hole_in_the_schema_may_mean_one_of_a_few_schemas(make_tree: TreeMaker) -> None:
    """Of more than three schemas none is meant; a schema that is a variable of the script is the hole."""
    few = "".join(f"CREATE TABLE {schema}.Job (Id int)\nGO\n" for schema in ("a", "b"))
    many = "".join(f"CREATE TABLE {schema}.[State] (Id int)\nGO\n" for schema in "abcd")
    variable = "CREATE TABLE [$(Schema)].[Server] (Id int)\nGO\nCREATE TABLE HangFire.[Server] (Id int)\nGO\n"
    code = """\
class Jobs {
    void Few(string s) { db.Query($"SELECT Id FROM [{s}].Job WHERE Id = @id"); }
    void Many(string s) { db.Query($"SELECT Id FROM [{s}].[State] WHERE Id = @id"); }
    void Variable(string s) { db.Query($"SELECT Id FROM [{s}].[Server] WHERE Id = @id"); }
    void Stated() { db.Query("SELECT Id FROM HangFire.[Server] WHERE Id = @id"); }
}
"""
    root = make_tree({"schema.sql": few + many + variable, "Jobs.cs": code})
    edges = [record for record in TreeSource(root).read() if isinstance(record, SourceEdge)]
    assert {
        (edge.from_key.partition("#")[2], edge.to_key[5:].partition("|")[0], edge.confidence)
        for edge in edges
        if edge.edge_type == "ReadsFrom"
    } == {
        ("Jobs.Few", "a.Job", 0.5),
        ("Jobs.Few", "b.Job", 0.5),
        ("Jobs.Variable", "$(Schema).Server", 0.9),
        ("Jobs.Stated", "HangFire.Server", 0.9),
    }


def test_strings_that_are_made_of_each_other_many_times_take_no_longer_than_they_are_written(named: Named) -> None:
    """Twenty times twenty, eleven times over, would be read otherwise."""
    constants = "".join(f"const string A{n} = {' + '.join(20 * [f'A{n - 1}'])};\n" for n in range(1, 12))
    code = f"""class Reports
{{
    const string A0 = "x";
    {constants}
    void Run() {{ Query($"SELECT * FROM dbo.[User] WHERE name = '{{A11}}'"); Query("SELECT * FROM dbo.[Device]"); }}
}}"""
    assert {to for _, _, to, _ in named({"Reports.cs": code})} == {"dbo.User", "dbo.Device"}


def test_strings_of_inherited_members_are_not_much_longer_than_the_file(
    named: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = REPOSITORY + "".join(
        f"public class {name}Repository : Repository<{name}, int> {{ }}\n" for name in ("User", "Device")
    )
    assert {to for _, _, to, _ in named({"Repository.cs": code})} == {"dbo.User_ReadById", "dbo.Device_ReadById"}
    monkeypatch.setattr(texts, "_CHARACTERS_OF_FILE", 50)
    monkeypatch.setattr(texts, "_CHARACTERS_FOR_EACH_WRITTEN", 0)
    assert len({to for _, _, to, _ in named({"Repository.cs": code})}) == 1


def test_a_parameter_of_many_constructors_is_not_known(named: Named, monkeypatch: pytest.MonkeyPatch) -> None:
    code = REPOSITORY + (
        "public class EventRepository : Repository<Event, int>\n"
        '{ public EventRepository() : base("c", "audit") { } public EventRepository(int a) : base("c", "audit") { } }\n'
    )
    expected = ("audit.Event_ReadById", 0.8)
    assert expected in {(to, confidence) for _, _, to, confidence in named({"Repository.cs": code})}
    monkeypatch.setattr(text_values, "_MAX_PASSED", 1)
    assert expected not in {(to, confidence) for _, _, to, confidence in named({"Repository.cs": code})}
