"""The facts that Python classes, functions and variables state where they are declared."""

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Parameter, Trait
from groundwire_ingest.tree.languages.nodes import FIRST, children_of, field_of, first_child, given_in, text_of, type_of
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.types import arguments, head

_PROPERTIES = frozenset({"property", "cached_property", "setter", "getter", "deleter", "hybrid_property"})
_ABSTRACT = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})
YIELDING = frozenset({"contextmanager", "asynccontextmanager", "fixture"})
"""Decorators of generators whose one yielded value is the result."""
_ITERATORS = frozenset({"Iterator", "Generator", "Iterable", "AsyncIterator", "AsyncGenerator", "AsyncIterable"})
# The settings in settings modules of Django, and some of other frameworks.
_SETTINGS = frozenset(
    """ALLOWED_HOSTS AUTHENTICATION_BACKENDS AUTH_PASSWORD_VALIDATORS AUTH_USER_MODEL CACHES DATABASES DEBUG
    DEFAULT_AUTO_FIELD EMAIL_BACKEND INSTALLED_APPS INTERNAL_IPS LANGUAGE_CODE LOGGING MEDIA_ROOT MEDIA_URL MIDDLEWARE
    ROOT_URLCONF SECRET_KEY SESSION_ENGINE STATICFILES_DIRS STATICFILES_STORAGE STATIC_ROOT STATIC_URL TEMPLATES
    TIME_ZONE USE_I18N USE_TZ WSGI_APPLICATION""".split()
)
_MIN_SETTINGS = 2
# What makes the things that each file has for itself: loggers, type parameters, the model of users, template tags.
_OF_ONE_FILE = frozenset("getLogger get_logger TypeVar TypeVarTuple ParamSpec get_user_model Library".split())
_NOT_IMPLEMENTED = "raiseNotImplementedError"


def decorators(syntax: Syntax, node: Node) -> Iterator[str]:
    """The last names of a declaration's decorators: `route` of `@app.route("/")`."""
    around = node.parent
    for child in around.named_children if around is not None and around.type == "decorated_definition" else ():
        path = syntax.path(first_child(child)) if child.type == "decorator" else ()
        if path:
            yield path[-1].removesuffix("()")


def module_variable(syntax: Syntax, statement: Node) -> str:
    """The name that a statement outside of every class and function sets.

    Empty when it is no assignment to a plain name, or to one like `__all__`.
    """
    around = statement.parent
    while around is not None and around.type in syntax.transparent:
        around = around.parent
    assignment = first_child(statement)
    if around is None or around.type != "module" or assignment is None or assignment.type != "assignment":
        return ""
    left = assignment.child_by_field_name("left")
    name = text_of(left) if left is not None and left.type == "identifier" else ""
    return "" if name.startswith("__") or name == "_" else name


def is_shared_variable(syntax: Syntax, statement: Node, name: str) -> bool:
    """True if a variable of a module is public, and its name, its type or its value says that it is no mere helper.

    It begins with a capital, states a type, or is set to a dictionary or to the result of a call.
    """
    assignment = first_child(statement)
    value = field_of(assignment, "right")
    called = syntax.path(value) if value is not None and value.type == "call" else ()
    if name.startswith("_") or (called and called[-1].removesuffix("()") in _OF_ONE_FILE):
        return False
    is_made = value is not None and value.type in ("call", "dictionary")
    return name[:1].isupper() or is_made or field_of(assignment, "type") is not None


def is_settings_module(variables: Iterable[str]) -> bool:
    """True if a module with these variables holds the settings of an application."""
    return len(_SETTINGS.intersection(variables)) >= _MIN_SETTINGS


def parameters_of(_: Syntax, node: Node) -> tuple[Parameter, ...] | None:
    """The parameters of a function, `self` included; `*args` and `**kwargs` are none."""
    parameters = map(parameter_of, children_of(node, "parameters"))
    return tuple(item for item in parameters if item.name) if node.type == "function_definition" else None


def parameter_of(node: Node) -> Parameter:
    """One parameter; without a name when it takes any number of arguments or only separates others."""
    if node.type == "identifier":
        return Parameter(text_of(node))
    name = node.child_by_field_name("name")
    if node.type == "typed_parameter":
        name = first_child(node)
    named = text_of(name) if name is not None and name.type == "identifier" else ""
    is_optional = node.child_by_field_name("value") is not None
    return Parameter(named, type_of(node, "type"), is_optional)


def result_of(syntax: Syntax, node: Node) -> str:
    """The type that a function returns or a variable has, as stated; of what yields one value that value's."""
    if node.type == "expression_statement":
        return type_of(node, FIRST, "type")
    stated = type_of(node, "return_type")
    if head(stated).rpartition(".")[2] in _ITERATORS and not YIELDING.isdisjoint(decorators(syntax, node)):
        return next(iter(arguments(stated)), "")
    return stated


def _class_traits(node: Node) -> frozenset[Trait]:
    """A protocol is structural; a class that derives from ABC is abstract."""
    listed = children_of(node, "superclasses")
    # A metaclass is the value of a keyword.
    named = (child.child_by_field_name("value") if child.type == "keyword_argument" else child for child in listed)
    bases = {head(type_of(child)).rpartition(".")[2] for child in named}
    if "Protocol" in bases:
        return frozenset({"interface", "structural"})
    return frozenset({"abstract"}) if bases & {"ABC", "ABCMeta"} else frozenset()


def traits_of(syntax: Syntax, node: Node, parent: Node | None) -> frozenset[Trait]:
    """The flags of a class, or of a method by its decorators, its name and by a body that is there to be overridden."""
    if node.type == "class_definition":
        return _class_traits(node)
    if node.type == "expression_statement":
        is_conditional = node.parent is not None and node.parent.type != "module"
        return frozenset({"conditional"}) if is_conditional else frozenset()
    if node.type != "function_definition" or parent is None or parent.type != "class_definition":
        return frozenset()
    names, statements = frozenset(decorators(syntax, node)), _statements(node)
    traits: set[Trait] = set()
    if names & _PROPERTIES:
        traits.add("property")
    if "staticmethod" in names:
        traits.add("static")
    name = text_of(node, "name")
    if name.startswith("__") and not name.endswith("__"):
        traits.add("private")
    raises = len(statements) == 1 and "".join(text_of(statements[0]).split()).startswith(_NOT_IMPLEMENTED)
    is_empty = all(text_of(statement) in ("...", "pass") for statement in statements)
    if names & _ABSTRACT or raises or (is_empty and "structural" in _class_traits(parent)):
        traits.add("abstract")
    return frozenset(traits)


def _statements(function: Node) -> list[Node]:
    """The statements of a function's body, documentation aside."""
    listed = given_in(function, "body")
    first = first_child(listed[0]) if listed and listed[0].type == "expression_statement" else None
    return listed[1:] if first is not None and first.type in ("string", "concatenated_string") else listed
