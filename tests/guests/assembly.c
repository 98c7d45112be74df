/* Instructions that compilers rarely emit, with the flags that they define. Built with -mno-red-zone, because it pushes. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CF = 1, PF = 4, AF = 16, ZF = 64, SF = 128, DF = 1024, OF = 2048 };
static uint64_t fold = 1469598103934665603u;
static void mix(uint64_t value) { fold = (fold ^ value) * 1099511628211u; }
static void show(const char *name) { printf("%-8s %016lx\n", name, fold); }

static const uint64_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x123456789abcdef0,
                                  0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
#define EACH(v) for (unsigned v##_ = 0; v##_ < sizeof values / sizeof *values; v##_++) for (uint64_t v = values[v##_], v##once = 1; v##once; v##once = 0)

/* op %cl or an immediate count on a value, with the carry given: result and flags within mask. */
#define SHIFT(op, suffix, mask)                                                                                   \
    EACH(a) for (int count = 0; count < 70; count++) for (int carry = 0; carry < 2; carry++) {                    \
        uint64_t r = a, f, c = count;                                                                             \
        __asm__ volatile("push %3; popfq; " op " %%cl, " suffix "; pushfq; pop %1" : "+a"(r), "=r"(f) : "c"(c), "r"((uint64_t)carry | 2) : "cc"); \
        mix(r); mix(f & (mask));                                                                                  \
    }                                                                                                             \
    show(op)

static void shifts(void)
{
    SHIFT("rolb", "%%al", CF); SHIFT("rorw", "%%ax", CF); SHIFT("roll", "%%eax", CF); SHIFT("rorq", "%%rax", CF);
    SHIFT("rclb", "%%al", CF); SHIFT("rcrb", "%%al", CF); SHIFT("rclw", "%%ax", CF); SHIFT("rcrw", "%%ax", CF);
    SHIFT("rcll", "%%eax", CF); SHIFT("rcrl", "%%eax", CF); SHIFT("rclq", "%%rax", CF); SHIFT("rcrq", "%%rax", CF);
    SHIFT("sarb", "%%al", ZF | SF | PF); SHIFT("sarq", "%%rax", CF | ZF | SF | PF); SHIFT("shll", "%%eax", ZF | SF | PF); SHIFT("shrl", "%%eax", ZF | SF | PF);
    EACH(a) EACH(b) for (int count = 0; count < 64; count++) {
        uint64_t r = a, s = a, f, c = count;
        __asm__ volatile("shldq %%cl, %3, %0; pushfq; pop %1" : "+r"(r), "=r"(f) : "c"(c), "r"(b) : "cc");
        mix(r); mix(f & (count ? CF | ZF | SF | PF : 0));
        __asm__ volatile("shrdl %%cl, %k3, %k0; pushfq; pop %1" : "+r"(s), "=r"(f) : "c"(c), "r"(b) : "cc");
        mix(s); mix(f & (count & 31 ? CF | ZF | SF | PF : 0));
    }
    show("shxd");
}

static void bit_strings(void)
{
    uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (long bit = -128; bit < 300; bit += 7) {
        unsigned char c1, c2, c3, c4;
        __asm__ volatile("btq %4, 16(%5); setc %0; btsq %4, 16(%5); setc %1; btcq %4, 16(%5); setc %2; btrl %k4, 16(%5); setc %3"
                         : "=&q"(c1), "=&q"(c2), "=&q"(c3), "=&q"(c4) : "r"(bit), "r"(words) : "memory", "cc");
        mix(c1 | c2 << 1 | c3 << 2 | c4 << 3);
    }
    for (int i = 0; i < 8; i++)
        mix(words[i]);
    EACH(a) {
        uint64_t low = 0, high = 0;
        if (a)
            __asm__("bsf %2, %0; bsr %2, %1" : "=&r"(low), "=&r"(high) : "r"(a) : "cc");
        uint32_t half = (uint32_t)a;
        __asm__("bswap %0" : "+r"(half));
        mix(low); mix(high); mix(half);
    }
    show("bits");
}

static void string_operations(void)
{
    char from[300], to[300];
    for (int i = 0; i < 300; i++)
        from[i] = (char)(i * 11), to[i] = (char)-i;
    for (int size = 0; size < 40; size++) {
        const char *s = from + size; char *d = to + 50 - size; uint64_t n = size;
        __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) :: "memory");
        mix(s - from); mix(d - to); mix(n);
        s = from + 200; d = to + 250; n = size;
        __asm__ volatile("std; rep movsw; cld" : "+S"(s), "+D"(d), "+c"(n) :: "memory", "cc");
        mix(s - from); mix(d - to);
        d = to + 260; n = size / 8;
        __asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"((uint64_t)size * 0x0101010101010101) : "memory");
        s = from; d = to; n = 300;
        uint64_t f;
        __asm__ volatile("repe cmpsb; pushfq; pop %3" : "+S"(s), "+D"(d), "+c"(n), "=r"(f) :: "memory", "cc");
        mix(n); mix(f & (CF | ZF | SF | OF | PF | AF));
        d = from; n = 300;
        __asm__ volatile("repne scasb; pushfq; pop %2" : "+D"(d), "+c"(n), "=r"(f) : "a"(size * 3) : "memory", "cc");
        mix(n); mix(f & (CF | ZF | SF | OF | PF | AF));
        s = from + size;
        uint64_t loaded = 0;
        __asm__ volatile("lodsl; movl %%eax, %k1; lodsb; xorb %%al, %b1" : "+S"(s), "+r"(loaded) :: "rax", "cc", "memory");
        mix(loaded);
    }
    for (int i = 0; i < 300; i++)
        mix((unsigned char)to[i]);
    show("strings");
}

static void arithmetic(void)
{
    EACH(a) EACH(b) for (int carry = 0; carry < 2; carry++) {
        uint64_t r, f;
#define BINARY(op, mask, ...) \
        r = a; \
        __asm__ volatile("push %3; popfq; " op "; pushfq; pop %1" : "+a"(r), "=&r"(f) : "c"(b), "r"((uint64_t)carry | 2) : "cc", "rdx" __VA_ARGS__); \
        mix(r); mix(f & (mask))
        BINARY("adcb %%cl, %%al", CF | PF | AF | ZF | SF | OF); BINARY("adcw %%cx, %%ax", CF | PF | AF | ZF | SF | OF);
        BINARY("adcl %%ecx, %%eax", CF | PF | AF | ZF | SF | OF); BINARY("adcq %%rcx, %%rax", CF | PF | AF | ZF | SF | OF);
        BINARY("sbbb %%cl, %%al", CF | PF | AF | ZF | SF | OF); BINARY("sbbl %%ecx, %%eax", CF | PF | AF | ZF | SF | OF);
        BINARY("sbbq %%rcx, %%rax", CF | PF | AF | ZF | SF | OF); BINARY("cmpw %%cx, %%ax", CF | PF | AF | ZF | SF | OF);
        BINARY("incb %%al", CF | PF | AF | ZF | SF | OF); BINARY("decq %%rax", CF | PF | AF | ZF | SF | OF); BINARY("negl %%eax", CF | PF | AF | ZF | SF | OF);
        BINARY("testb %%ch, %%ah", CF | PF | ZF | SF | OF); BINARY("xorw %%cx, %%ax", CF | PF | ZF | SF | OF); BINARY("andb %%cl, %%ah", CF | PF | ZF | SF | OF);
        BINARY("mulb %%cl", CF | OF); BINARY("imulw %%cx", CF | OF); BINARY("imull %%ecx, %%eax", CF | OF); BINARY("imulq $-77, %%rcx, %%rax", CF | OF);
        BINARY("mulq %%rcx; xorq %%rdx, %%rax", 0); BINARY("cmc; setbe %%al; lahf; not %%al", CF | AF | PF | ZF | SF);
        BINARY("xaddw %%ax, %%ax", CF | PF | AF | ZF | SF | OF); BINARY("xchgb %%al, %%ah", CF); BINARY("cbw; cwtl; cltq; cqto; addq %%rdx, %%rax", CF | ZF | SF | OF);
        BINARY("movzbw %%cl, %%ax", CF); BINARY("movsbl %%ch, %%eax", CF); BINARY("movslq %%ecx, %%rax", CF); BINARY("cmovbw %%cx, %%ax", CF); BINARY("cmovncl %%ecx, %%eax", CF);
        BINARY("sahf; setp %%al; seto %%ah", CF | PF | AF | ZF | SF);
        BINARY("stc; clc; cmc; adc $0, %%rax", CF | PF | AF | ZF | SF | OF);
    }
    show("arith");
    EACH(a) EACH(b) {
        uint64_t q = a, m = 0; uint32_t q32 = (uint32_t)a, m32 = 0;
        if (b)
            __asm__("divq %2" : "+a"(q), "+d"(m) : "r"(b) : "cc");
        if ((uint32_t)b)
            __asm__("divl %2" : "+a"(q32), "+d"(m32) : "r"((uint32_t)b) : "cc");
        mix(q); mix(m); mix(q32); mix(m32);
        int64_t s = (int64_t)a / 4, sr = s >> 63;
        if (b && b != UINT64_MAX)
            __asm__("idivq %2" : "+a"(s), "+d"(sr) : "r"(b) : "cc");
        mix(s); mix(sr);
        uint64_t old = a, cell = b, f;
        __asm__ volatile("cmpxchgl %k3, %k0; pushfq; pop %2" : "+r"(cell), "+a"(old), "=&r"(f) : "r"(a ^ 5) : "cc");
        mix(cell); mix(old); mix(f & (CF | PF | AF | ZF | SF | OF));
    }
    show("divide");
}

static void control(void)
{
    uint64_t count = 10, total = 0;
    __asm__ volatile("1: add %0, %1; loop 1b" : "+c"(count), "+r"(total) :: "cc");
    mix(total);
    count = 5;
    __asm__ volatile("1: dec %0; jrcxz 2f; jmp 1b; 2: inc %1" : "+c"(count), "+r"(total) :: "cc");
    mix(count); mix(total);
    unsigned char table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (unsigned char)(i * 3 + 1);
    uint64_t index = 77;
    __asm__ volatile("xlatb" : "+a"(index) : "b"(table) : "memory");
    mix(index);
    __asm__ volatile("sub $128, %%rsp; enter $32, $0; push $-5; pop %0; leave; add $128, %%rsp" : "=r"(total) :: "memory", "cc");
    mix(total);
    __asm__ volatile("sub $128, %%rsp; pushw $0x1234; popw %w0; pushq %%rsp; popq %1; subq %%rsp, %1; add $128, %%rsp" : "+r"(total), "=r"(index) :: "memory", "cc");
    mix(total); mix(index);
    uint64_t flags;
    __asm__ volatile("sub $128, %%rsp; push $0xad7; popfq; pushfq; pop %0; push $2; popfq; cld; add $128, %%rsp" : "=r"(flags) :: "memory", "cc");
    mix(flags & (CF | PF | AF | ZF | SF | OF));
    show("control");
}

int main(void)
{
    shifts();
    bit_strings();
    string_operations();
    arithmetic();
    control();
    return 0;
}
