/* Locked instructions, compare-and-exchange of all sizes, and locks that nobody contends. Built with -mcx16. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static _Atomic uint8_t a8; static _Atomic uint16_t a16; static _Atomic uint32_t a32; static _Atomic uint64_t a64;
static __int128 wide __attribute__((aligned(16)));
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised;
static void initialise(void) { initialised++; }

#define EXERCISE(v, type)                                                                                        \
    for (int i = 0; i < 300; i++) {                                                                              \
        type expected = (type)(v ^ (i % 3 == 0));                                                                \
        total = total * 31 + atomic_fetch_add(&v, (type)(i * 12345)); total = total * 31 + atomic_fetch_sub(&v, (type)i); \
        total = total * 31 + atomic_fetch_or(&v, (type)(i & 5)); total = total * 31 + atomic_fetch_and(&v, (type)~(i & 2)); \
        total = total * 31 + atomic_fetch_xor(&v, (type)i); total = total * 31 + atomic_exchange(&v, (type)(v + 3)); \
        total = total * 31 + atomic_compare_exchange_strong(&v, &expected, (type)(i * 7)); total = total * 31 + expected; \
    }                                                                                                            \
    printf("%s %llu %llu\n", #type, (unsigned long long)v, (unsigned long long)total)

int main(void)
{
    uint64_t total = 0;
    EXERCISE(a8, uint8_t); EXERCISE(a16, uint16_t); EXERCISE(a32, uint32_t); EXERCISE(a64, uint64_t);
    for (int i = 0; i < 100; i++) {
        __int128 seen = wide + (i % 4 == 0), next = wide * 3 + i;
        uint64_t low = seen, high = seen >> 64, new_low = next, new_high = next >> 64;
        unsigned char equal;
        __asm__ volatile("lock cmpxchg16b %1; setz %0" : "=q"(equal), "+m"(wide), "+a"(low), "+d"(high) : "b"(new_low), "c"(new_high) : "cc");
        total = total * 31 + equal + low + high;
    }
    printf("%llx %llx %llu\n", (unsigned long long)wide, (unsigned long long)(wide >> 64), (unsigned long long)total);
    atomic_thread_fence(memory_order_seq_cst);
    pthread_once(&once, initialise);
    pthread_once(&once, initialise);
    pthread_mutex_lock(&mutex);
    int busy = pthread_mutex_trylock(&mutex);
    pthread_mutex_unlock(&mutex);
    printf("%d %d %d\n", initialised, busy != 0, pthread_mutex_trylock(&mutex));
    return 0;
}
