/* Threads that add under a lock. Built with -pthread. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *work(void *argument)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        total += (long)argument;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[4];
    void *result;
    long sum = 0;
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("%ld %ld\n", total, sum);
    return 0;
}
