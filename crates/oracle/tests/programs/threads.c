/* Calls libraries with thread-local variables, which call back, so that both are on the stack. */
#include <dlfcn.h>

extern int early_use(int, int (*)(int)), fixed_use(int, int (*)(int));
__thread int mine = 3;

static int note(int number) {
    mine += number;
    return mine;
}

int main(int count, char **arguments) {
    int total = early_use(1, note) + fixed_use(2, note);
    void *library = dlopen(arguments[count - 1], RTLD_NOW);
    if (!library)
        return 1;
    int (*use)(int, int (*)(int)) = (int (*)(int, int (*)(int)))dlsym(library, "late_use");
    for (int i = 0; i < 3; i++)
        total += use(i, note);
    return total == 0;
}
