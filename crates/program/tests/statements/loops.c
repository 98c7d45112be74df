/* Every form of a `for`, and loops that are none. */
int plain(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    for (int i = n; i > 0; --i) {
        sum -= i;
        sum *= 2;
    }
    return sum;
}

int one_line(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i;
    for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) sum += j;
    sum++; for (int i = 0; i < n; i += 2) { sum--; } sum += 3;
    return sum;
}

int several_lines(int n)
{
    int sum = 0;
    for (int i = 0,
             j = n;
         i < j &&
         sum < 1000;
         i++,
         j -= 2)
        sum += i * j;
    for (int i = 0; /* to the
                       end */
         i < n; i++)
        sum++;
    return sum;
}

int empty_clauses(int n)
{
    int i = 0;
    for (;;) {
        if (i++ > n)
            break;
    }
    for (; i > 0;)
        i--;
    for (i = 3; ; i--)
        if (i == 0)
            break;
    for (; i < n; i++)
        ;
    for (i = 0; i < n; i++);
    return i;
}

int nested(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (j == i)
                continue;
            sum += i;
        }
    return sum;
}

int others(int n)
{
    int sum = 0;
    while (n > 0)
        n--, sum++;
    while ((n = sum--) > 2) { sum--; }
    do {
        n++;
    } while (n < 10);
    do n--; while (n);
again:
    if (sum++ < 3)
        goto again;
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    return plain(argc) + one_line(argc) + several_lines(argc) + empty_clauses(argc) + nested(argc) + others(argc);
}
