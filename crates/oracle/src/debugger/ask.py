# Runs inside gdb: opens core files one after the other and says what gdb sees in each.
#
# WHYDUNIT_CORES names the cores, one a line. The answer is text, one record a line, fields separated by tabs,
# with backslash, tab and newline escaped. See answer.rs, which reads it.
import os
import re

import gdb

# gdb warns in the middle of a value, when it looks at a constant of Rust's as if it were code.
WARNING = re.compile(r"warning: \((Internal error|Error): pc 0x[0-9a-f]+ in [^()]*, but not in symtab\.\)\n?")

# Frames of the program itself whose variables are told, and variables at file level that are told.
MOST_FRAMES = 6
MOST_GLOBALS = 16


def escape(field):
    return str(field).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def tell(*fields):
    print("\t".join(escape(field) for field in fields))


def definition(name):
    try:
        return gdb.execute("ptype %s" % name, to_string=True)
    except gdb.error as error:
        return "<%s>" % error


# What `info locals` and `info args` print: a line a variable, in gdb's own order.
def lines_of(command):
    lines = WARNING.sub("", gdb.execute(command, to_string=True)).splitlines()
    return [line for line in lines if " = " in line]


# Labels without code are among gdb's variables, with a type of gdb's own.
def is_label(symbol):
    return str(symbol.type) == "__CORE_ADDR"


# `info locals` has what is constant, and with it what an enum of the function names.
def is_listed(symbol):
    return symbol.is_argument or symbol.is_variable or symbol.addr_class == gdb.SYMBOL_LOC_CONST


def is_enumerator(symbol):
    if symbol.addr_class != gdb.SYMBOL_LOC_CONST or symbol.type.code != gdb.TYPE_CODE_ENUM:
        return False
    return symbol.name in [field.name for field in symbol.type.fields()]


# `info args` looks an argument up by its name, and finds another variable of the same block that has it, too, if there is one.
def is_ambiguous(symbol, block):
    return symbol.is_argument and sum(other.name == symbol.name for other in block) > 1


# The variables of a frame, block by block from the inside, each with what gdb prints.
def variables(frame):
    frame.select()
    arguments, others = lines_of("info args"), lines_of("info locals")
    block = frame.block()
    while block is not None:
        found = []
        for symbol in block:
            if not is_listed(symbol):
                continue
            line = (arguments if symbol.is_argument else others).pop(0)
            name, value = line.split(" = ", 1)
            assert name == symbol.name, (line, symbol.name)
            if is_ambiguous(symbol, block):
                value = printed(symbol, frame)
            if not is_label(symbol) and not is_enumerator(symbol):
                found.append((symbol, value))
        yield found
        if block.function is not None:
            break
        block = block.superblock


# Arguments come in their order; the others of a block gdb keeps in the order of a hash.
def tell_frame_variables(level, frame, seen_types):
    hidden = set()
    for found in variables(frame):
        names = [symbol.name for symbol, _ in found]
        hidden.update(name for name in names if names.count(name) > 1)
        found.sort(key=lambda pair: (0,) if pair[0].is_argument else (1, pair[0].name, pair[0].line))
        for symbol, value in found:
            tell("argument" if symbol.is_argument else "local", level, symbol.name, symbol.type, symbol.line, value)
            if symbol.name not in hidden and str(symbol.type) not in seen_types:
                seen_types.add(str(symbol.type))
                tell("type", level, symbol.name, definition(symbol.name))
            hidden.add(symbol.name)


def printed(symbol, frame=None):
    if symbol.addr_class == gdb.SYMBOL_LOC_OPTIMIZED_OUT:
        return "<optimized out>"
    try:
        return symbol.value(frame).format_string() if frame else symbol.value().format_string()
    except gdb.error as error:
        # As `info locals` has it.
        return "<error: %s>" % error


# The program's own libraries are beside it.
def is_own(frame):
    table = frame.find_sal().symtab
    return table is not None and directory(table.objfile.filename) == directory(PROGRAM)


def directory(path):
    return os.path.dirname(os.path.realpath(path))


# Lines that the line table has for the same address: one of them is the one that gdb prefers.
def lines_there(position):
    if position.symtab is None or position.line == 0:
        return ""
    rows = position.symtab.linetable()
    try:
        # Asked first, because gdb crashes when it walks through a table that is not there.
        if not rows.has_line(position.line):
            return ""
    except RuntimeError:
        return ""
    return ",".join(sorted({str(row.line) for row in rows if row.pc == position.pc}))


def tell_frames(seen_types):
    frame = gdb.newest_frame()
    level = own = 0
    tables = []
    while frame is not None:
        position = frame.find_sal()
        table = position.symtab
        where = table.fullname() if table is not None else ""
        form = FORMS.get(frame.type(), "called")
        producer = (table.producer or "") if table is not None else ""
        lines = lines_there(position)
        tell("frame", level, "%x" % frame.pc(), frame.name() or "", where, position.line, lines, form, producer)
        if frame.function() is not None and table is not None and is_own(frame):
            tables.append((level, table))
            own += 1
            if own <= MOST_FRAMES:
                tell_frame_variables(level, frame, seen_types)
        level += 1
        frame = frame.older()
    return tables


# Variables at file level, of the units that are on the stack: which of them, turns with the core's number. A value is written in the
# language of the selected frame.
def tell_globals(tables, turn):
    frames = []
    frame = gdb.newest_frame()
    while frame is not None:
        frames.append(frame)
        frame = frame.older()
    symbols = {}
    for level, table in tables:
        for block in (table.global_block(), table.static_block()):
            for symbol in block:
                if symbol.is_variable and symbol.type is not None:
                    key = (symbol.name, symbol.symtab.filename, symbol.line)
                    symbols.setdefault(key, (level, symbol))
    chosen = [symbols[key] for key in sorted(symbols)]
    start = turn * MOST_GLOBALS % max(len(chosen), 1)
    for level, symbol in (chosen + chosen)[start:start + min(MOST_GLOBALS, len(chosen))]:
        frames[level].select()
        tell("global", level, symbol.name, symbol.type, symbol.line, printed(symbol))


def main():
    gdb.execute("set backtrace past-main on")
    seen_types = set()
    for turn, core in enumerate(os.environ["WHYDUNIT_CORES"].splitlines()):
        gdb.execute("core-file %s" % core, to_string=True)
        tell("core", core)
        tables = tell_frames(seen_types)
        tell_globals(tables, turn)
        tell("end")


FORMS = {gdb.INLINE_FRAME: "inlined", gdb.TAILCALL_FRAME: "left"}
PROGRAM = gdb.current_progspace().filename
main()
