/* Runs the Lua program that is its argument: the part of lua.c that is needed here. */
#include <stdio.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

int main(int argc, char **argv)
{
    lua_State *state = luaL_newstate();
    luaL_openlibs(state);
    int status = luaL_dostring(state, argc > 1 ? argv[1] : "");
    if (status != LUA_OK)
        fprintf(stderr, "%s\n", lua_tostring(state, -1));
    lua_close(state);
    return status != LUA_OK;
}
