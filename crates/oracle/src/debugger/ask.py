# Runs inside gdb: opens core files one after the other and says what gdb sees in each.
#
# WHYDUNIT_CORES names the cores, one a line. The answer is text, one record a line, fields separated by tabs,
# with backslash, tab and newline escaped. See answer.rs, which reads it.
import os

import gdb

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


def tell_variable(role, level, symbol, frame):
    try:
        value = (symbol.value(frame) if symbol.needs_frame else symbol.value()).format_string()
    except gdb.error as error:
        # As `info locals` has it.
        value = "<error: %s>" % error
    tell(role, level, symbol.name, symbol.type, symbol.line, value)


# Arguments come in their order. Inside of a block gdb keeps variables in the order of a hash.
def symbols_of(block):
    arguments = [symbol for symbol in block if symbol.is_argument]
    others = [symbol for symbol in block if symbol.is_variable and not symbol.is_argument]
    return arguments + sorted(others, key=lambda symbol: (symbol.name, symbol.line))


def tell_frame_variables(level, frame, seen_types):
    try:
        block = frame.block()
    except RuntimeError:
        return
    hidden = set()
    frame.select()
    while block is not None:
        for symbol in symbols_of(block):
            tell_variable("argument" if symbol.is_argument else "local", level, symbol, frame)
            if symbol.name not in hidden and str(symbol.type) not in seen_types:
                seen_types.add(str(symbol.type))
                tell("type", level, symbol.name, definition(symbol.name))
            hidden.add(symbol.name)
        if block.function is not None:
            break
        block = block.superblock


def is_own(frame):
    table = frame.find_sal().symtab
    return table is not None and os.path.samefile(table.objfile.filename, PROGRAM)


# Lines that the line table has for the same address: one of them is the one that gdb prefers.
def lines_there(position):
    if position.symtab is None or position.line == 0:
        return ""
    rows = position.symtab.linetable()
    return ",".join(sorted({str(row.line) for row in rows if row.pc == position.pc}))


def tell_frames(seen_types):
    frame = gdb.newest_frame()
    level = own = 0
    tables = []
    while frame is not None:
        position = frame.find_sal()
        table = position.symtab
        where = table.fullname() if table is not None else ""
        form = "inlined" if frame.type() == gdb.INLINE_FRAME else "called"
        tell("frame", level, "%x" % frame.pc(), frame.name() or "", where, position.line, lines_there(position), form)
        if frame.function() is not None and table is not None and is_own(frame):
            tables.append((level, table))
            own += 1
            if own <= MOST_FRAMES:
                tell_frame_variables(level, frame, seen_types)
        level += 1
        frame = frame.older()
    return tables


# Variables at file level, of the units that are on the stack: which of them, turns with the core's number.
def tell_globals(tables, turn):
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
        tell_variable("global", level, symbol, None)


def main():
    gdb.execute("set backtrace past-main on")
    seen_types = set()
    for turn, core in enumerate(os.environ["WHYDUNIT_CORES"].splitlines()):
        gdb.execute("core-file %s" % core, to_string=True)
        tell("core", core)
        tables = tell_frames(seen_types)
        gdb.newest_frame().select()
        tell_globals(tables, turn)
        tell("end")


PROGRAM = gdb.current_progspace().filename
main()
