#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Values that are kept in registers while a handler runs, and faults that are repaired. */
static volatile int handled;
static volatile double scaled = 1;

static void handler(int signal)
{
    handled += signal;
    scaled = scaled * 1.25 + handled;
}

int main(void)
{
    signal(SIGUSR1, handler);
    double a, sum = 0;
    long whole = 0;
    while (scanf("%lf", &a) == 1) {
        for (int n = 0; n < 4; n++) {
            sum = sum * 0.5 + a;
            whole = whole * 31 + (long)a;
            if (n & 1)
                raise(SIGUSR1);
            sum += whole % 100;
        }
    }
    printf("%f %ld %d %f\n", sum, whole, handled, scaled);
    return 0;
}
