/* Thread-local variables of a library, which is built several times with other names. */
__thread int first = 11;
__thread long second = 22;
static __thread char text[] = "thread";

int use(int value, int (*visit)(int)) {
    first += value;
    second -= value;
    text[0] = 'T';
    return visit(first) + text[1];
}
