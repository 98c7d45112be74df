# Runs inside gdb: opens core files one after the other and says what gdb sees in each.
#
# WHYDUNIT_CORES names the cores, one a line. The answer is text, one record a line, fields separated by tabs,
# with backslash, tab and newline escaped. See answer.rs, which reads it.
import os

import gdb

# Frames of the program itself whose variables are told, variables at file level that are told, elements of an array, and levels of
# structures inside of structures.
MOST_FRAMES = 6
MOST_GLOBALS = 16
MOST_ELEMENTS = 64
DEEPEST = 12


def escape(field):
    return str(field).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def tell(*fields):
    print("\t".join(escape(field) for field in fields))


def leaf(value, kind):
    if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return "0x%x" % (int(value.cast(UINT64)) if kind.code == gdb.TYPE_CODE_PTR else int(value.address))
    if kind.code == gdb.TYPE_CODE_ENUM:
        number = int(value)
        for field in kind.fields():
            if field.enumval == number:
                return field.name
        return str(number)
    if kind.code == gdb.TYPE_CODE_FLT:
        return "f" + value.format_string()
    if kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL):
        return str(int(value))
    return "?%d" % kind.code


# The value in a form that does not depend on how a language writes it.
def plain(value, depth=0):
    try:
        if depth > DEEPEST:
            return "..."
        if value.is_optimized_out:
            return "<optimized out>"
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_ARRAY:
            low, high = kind.range()
            last = min(high, low + MOST_ELEMENTS - 1)
            elements = [plain(value[n], depth + 1) for n in range(low, last + 1)]
            return "[" + ", ".join(elements + ["..."] * (high > last)) + "]"
        if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            parts = []
            for field in kind.fields():
                if not hasattr(field, "bitpos"):
                    continue
                parts.append("%s = %s" % (field.name or "", plain(value[field], depth + 1)))
            return "{" + ", ".join(parts) + "}"
        value.fetch_lazy()
        return leaf(value, kind)
    except gdb.MemoryError:
        return "<no memory>"
    except gdb.error as error:
        return "<%s>" % error


def printed(value):
    try:
        return value.format_string()
    except gdb.error as error:
        return "<%s>" % error


def definition(name, kind):
    try:
        return gdb.execute("ptype %s" % name, to_string=True)
    except gdb.error as error:
        return "<%s>" % error


def tell_variable(role, symbol, frame, seen_types):
    try:
        value = symbol.value(frame) if symbol.needs_frame else symbol.value()
    except gdb.error as error:
        tell(role, symbol.name, symbol.type, symbol.line, "<%s>" % error, "<%s>" % error)
        return
    tell(role, symbol.name, symbol.type, symbol.line, printed(value), plain(value))


def tell_type(symbol, seen):
    name = str(symbol.type)
    if name not in seen:
        seen.add(name)
        tell("type", name, definition(symbol.name, symbol.type))


def tell_frame_variables(frame, seen_types):
    try:
        block = frame.block()
    except RuntimeError:
        return
    shadowed = set()
    while block is not None:
        for symbol in block:
            if not (symbol.is_variable or symbol.is_argument):
                continue
            tell_variable("argument" if symbol.is_argument else "local", symbol, frame, seen_types)
            if symbol.name not in shadowed:
                shadowed.add(symbol.name)
                frame.select()
                tell_type(symbol, seen_types)
        if block.function is not None:
            break
        block = block.superblock


def is_own(frame):
    table = frame.find_sal().symtab
    return table is not None and os.path.samefile(table.objfile.filename, PROGRAM)


def tell_frames(seen_types):
    frame = gdb.newest_frame()
    level = own = 0
    tables = []
    while frame is not None:
        position = frame.find_sal()
        table = position.symtab
        where = table.fullname() if table is not None else ""
        form = "inlined" if frame.type() == gdb.INLINE_FRAME else "called"
        tell("frame", level, "%x" % frame.pc(), frame.name() or "", where, position.line, form)
        if frame.function() is not None and table is not None and is_own(frame):
            tables.append(table)
            own += 1
            if own <= MOST_FRAMES:
                tell_frame_variables(frame, seen_types)
        level += 1
        frame = frame.older()
    return tables


# Variables at file level, of the units that are on the stack: which of them, turns with the core's number.
def tell_globals(tables, turn, seen_types):
    symbols = {}
    for table in tables:
        for block in (table.global_block(), table.static_block()):
            for symbol in block:
                if symbol.is_variable and symbol.type is not None:
                    symbols[(symbol.name, symbol.symtab.filename, symbol.line)] = symbol
    chosen = [symbols[key] for key in sorted(symbols)]
    start = turn * MOST_GLOBALS % max(len(chosen), 1)
    for symbol in (chosen + chosen)[start:start + min(MOST_GLOBALS, len(chosen))]:
        tell_variable("global", symbol, None, seen_types)


def main():
    gdb.execute("set backtrace past-main on")
    gdb.execute("set print repeats unlimited")
    gdb.execute("set print elements 200")
    seen_types = set()
    for turn, core in enumerate(os.environ["WHYDUNIT_CORES"].splitlines()):
        gdb.execute("core-file %s" % core, to_string=True)
        tell("core", core)
        tables = tell_frames(seen_types)
        gdb.newest_frame().select()
        tell_globals(tables, turn, seen_types)
        tell("end")


PROGRAM = gdb.current_progspace().filename
UINT64 = gdb.lookup_type("unsigned long")
main()
