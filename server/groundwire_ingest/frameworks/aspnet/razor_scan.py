"""Razor as its markup, its C# and its directives: one pass over the text, linear in its length.

The borders follow the rules of Razor's own parser. `@` leads from markup into C#. An element at the start of a
statement leads from C# into markup, and its end tag leads back.
"""

import re
from dataclasses import dataclass, field

from groundwire_ingest.frameworks.aspnet.razor_expressions import WORD, expression_end, implicit_end, razor_value_end
from groundwire_ingest.tree.files.facts_about_code import CodeKind, CodePart, ComponentTag, Directive
from groundwire_ingest.tree.files.markup.elements import LineNumbers, comment_end, component_tag, is_raw
from groundwire_ingest.tree.files.markup.tags import VOID_ELEMENTS, Tag, balanced_end, code_step, read_tag
from groundwire_ingest.tree.files.parts import Part

_DIRECTIVES = frozenset(
    "page using inject inherits implements model namespace layout attribute typeparam rendermode addTagHelper "
    "removeTagHelper tagHelperPrefix preservewhitespace".split()
)
_STATEMENTS = re.compile(r"(?:if|for|foreach|while|switch|lock|using)\s*\(|(?:do|try)\s*\{")
_CONTINUATION = re.compile(r"\s*(?:else|catch|finally|while)\b")
_MEMBERS = re.compile(r"(?:code|functions)\s*(\{)")
_SECTION = re.compile(r"section\s+(\w+)\s*(\{)")
_LINE_END = re.compile(r"\r?\n|\Z")
_MARKUP_STEP = re.compile(r"[@<]")
_LINE_MARKUP_STEP = re.compile(r"[@<\n]")
_LITERAL_ATTRIBUTES = frozenset({"@formname"})
_LITERAL_MODIFIERS = (":event", ":format", ":culture")


@dataclass(slots=True)
class _Context:
    """Where the scanner is: in C# or in markup.

    In C#, `depth` counts braces and `start` is where the statements begin that have not been noted yet; in a section,
    whose text is no C#, nothing is noted. In markup inside of C#, `depth` counts elements; `ends_with_line` marks
    `@:`. The outermost markup has no end. `raw` is the element whose text holds no tags.
    """

    is_code: bool
    start: int = 0
    depth: int = 0
    is_outermost: bool = False
    is_section: bool = False
    ends_with_line: bool = False
    raw: str = ""


@dataclass(slots=True)
class RazorScan:
    """The parts of a Razor file, in the order of the file. `blocks` are its `@code` blocks and sections."""

    text: str
    directives: list[Directive] = field(default_factory=list)
    code: list[CodePart] = field(default_factory=list)
    components: list[ComponentTag] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    blocks: list[Part] = field(default_factory=list)
    lines: LineNumbers = field(init=False)
    _contexts: list[_Context] = field(default_factory=lambda: [_Context(is_code=False, is_outermost=True)])

    def __post_init__(self) -> None:
        self.lines = LineNumbers(self.text)
        position = 0
        while position < len(self.text):
            context = self._contexts[-1]
            position = self._code(context, position) if context.is_code else self._markup(context, position)
        if self._contexts[-1].is_code:
            self._statements(self._contexts[-1], len(self.text))

    def _markup(self, context: _Context, position: int) -> int:
        step = (_LINE_MARKUP_STEP if context.ends_with_line else _MARKUP_STEP).search(self.text, position)
        if step is None:
            return len(self.text)
        if step.group() == "\n":
            return self._leave_markup(step.end())
        if step.group() == "@":
            return self._transition(step.start())
        return self._element(context, step.start())

    def _element(self, context: _Context, start: int) -> int:
        if self.text.startswith("<!--", start):
            return comment_end(self.text, start)
        if context.raw and not self.text.startswith(f"</{context.raw}", start):
            return start + 1
        tag = read_tag(self.text, start, razor_value_end)
        if tag is None:
            return start + 1
        context.raw = tag.name if is_raw(tag) else ""
        self.tags.append(tag)
        if not tag.is_closing:
            self._attributes(tag)
        if tag.is_closing:
            context.depth -= 1
        elif not tag.is_self_closing and tag.name.lower() not in VOID_ELEMENTS:
            context.depth += 1
        if context.depth <= 0 and not context.is_outermost and not context.ends_with_line:
            return self._leave_markup(tag.end)
        return tag.end

    def _leave_markup(self, position: int) -> int:
        self._contexts.pop()
        self._contexts[-1].start = position
        return position

    def _transition(self, at: int) -> int:
        """Reads the part after the `@` at offset `at`; returns the offset after it."""
        text, start = self.text, at + 1
        following = text[start : start + 1]
        if following == "*":
            end = text.find("*@", start + 1)
            return len(text) if end < 0 else end + 2
        if following == "(":
            end = balanced_end(text, start)
            self._note("expression", start, end)
            return end
        if following == "{" or (_STATEMENTS.match(text, start) and not self._is_inside_word(at)):
            self._contexts.append(_Context(is_code=True, start=start))
            return start
        if WORD.match(text, start) is None or self._is_inside_word(at):
            return start + (following == "@")
        return self._named(at, start)

    def _named(self, at: int, start: int) -> int:
        """A block, a directive or an expression that begins with a word at `start`."""
        text = self.text
        members, section = _MEMBERS.match(text, start), _SECTION.match(text, start)
        if members is not None:
            end = balanced_end(text, members.start(1))
            inside = end - text.endswith("}", 0, end)
            self._note("members", members.end(), max(inside, members.end()))
            self.blocks.append(Part(("code",), self.lines[at], self.lines[end - 1], is_own=True))
            return end
        if section is not None:
            self._contexts.append(_Context(is_code=True, start=section.start(2), is_section=True))
            return section.start(2)
        word = WORD.match(text, start)
        if word is not None and word.group() in _DIRECTIVES and self._begins_line(at):
            line_end = _LINE_END.search(text, start)
            end = line_end.start() if line_end is not None else len(text)
            self.directives.append(Directive(word.group(), text[word.end() : end].strip().rstrip(";"), self.lines[at]))
            return end
        end = implicit_end(self.text, start)
        self._note("expression", start, end)
        return end

    def _attributes(self, tag: Tag) -> None:
        text = self.text
        for item in tag.attributes:
            start, end = item.value_start, item.value_end
            if item.name.startswith("@"):
                is_literal = item.name in _LITERAL_ATTRIBUTES or item.name.endswith(_LITERAL_MODIFIERS)
                if end > start and not is_literal:
                    self._note("expression", start + text.startswith("@", start), end)
            else:
                self._value_expressions(start, end)
        has_helper = tag.name == "partial" or any(item.name.startswith("asp-") for item in tag.attributes)
        if tag.name[0].isupper() or has_helper:
            self.components.append(component_tag(text, tag, self.lines))

    def _value_expressions(self, start: int, end: int) -> None:
        position = self.text.find("@", start, end)
        while 0 <= position < end:
            behind = min(expression_end(self.text, position + 1), end)
            if behind > position + 1:
                self._note("expression", position + 1, behind)
            position = self.text.find("@", max(behind, position + 1), end)

    def _code(self, context: _Context, position: int) -> int:
        """One step through C#: over the next string, comment or bracket, or into the next markup."""
        step = code_step(self.text, position)
        if step is None:
            return len(self.text)
        if step.group() in {"@", ";", "<"}:
            return self._turn(context, step)
        if step.group() == "{":
            context.depth += 1
        elif step.group() == "}":
            context.depth -= 1
            if context.depth <= 0 and not _CONTINUATION.match(self.text, step.end()):
                return self._leave_code(context, step.end())
        elif step.group() in {"(", "["} and not context.is_section:
            return balanced_end(self.text, step.start())
        return step.end()

    def _turn(self, context: _Context, turn: re.Match[str]) -> int:
        at, text = turn.start(), self.text
        if turn.group() == ";":
            return self._leave_code(context, turn.end()) if context.depth <= 0 else turn.end()
        before = self._before(at)
        begins = context.is_section or before < context.start or text[before] in "{};:"
        if turn.group() == "@":
            if text.startswith(("@:", "@<"), at):
                self._enter_markup(context, at, text[at + 1] == ":")
                return at + 1 + (text[at + 1] == ":")
            if not begins or not context.depth:
                return at + 1
            self._statements(context, at)
            end = self._transition(at)
            context.start = end
            return end
        if not begins or not context.depth:
            return at + 1
        self._enter_markup(context, at, False)
        return at

    def _enter_markup(self, context: _Context, at: int, ends_with_line: bool) -> None:
        self._statements(context, at)
        self._contexts.append(_Context(is_code=False, ends_with_line=ends_with_line))

    def _leave_code(self, context: _Context, position: int) -> int:
        self._statements(context, position)
        self._contexts.pop()
        if self._contexts[-1].is_code:
            self._contexts[-1].start = position
        return position

    def _statements(self, context: _Context, end: int) -> None:
        if not context.is_section:
            self._note("statements", context.start, end)
        context.start = end

    def _note(self, kind: CodeKind, start: int, end: int) -> None:
        text = self.text[start:end]
        if text.strip():
            self.code.append(CodePart(kind, text, self.lines[start], "csharp"))

    def _is_inside_word(self, at: int) -> bool:
        """True if the `@` is part of an address of mail."""
        return at > 0 and self.text[at - 1].isalnum()

    def _begins_line(self, at: int) -> bool:
        while at > 0 and self.text[at - 1] in " \t\ufeff":
            at -= 1
        return at == 0 or self.text[at - 1] == "\n"

    def _before(self, at: int) -> int:
        """The offset of the last character before `at` that is no white space, -1 without one."""
        at -= 1
        while at >= 0 and self.text[at].isspace():
            at -= 1
        return at
