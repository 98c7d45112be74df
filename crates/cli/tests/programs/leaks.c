// Programs that lose blocks or keep them, each by its name. `list` prints the names.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct node {
    struct node *next, *other;
    long value;
};

static void *kept, *also_kept;
static __thread void *kept_by_thread;
static struct __attribute__((packed)) { char tag; void *pointer; } packed;
static uintptr_t hidden;
static jmp_buf back;

static struct node *make(struct node *next, struct node *other) {
    struct node *node = malloc(sizeof *node);
    *node = (struct node){next, other, 1};
    return node;
}

static struct node *ring(int length) {
    struct node *first = make(0, 0), *last = first;
    for (int i = 1; i < length; i++)
        last = last->next = make(0, 0);
    last->next = first;
    return first;
}

// Ends the process with a value in a register that nobody saves.
static void end_with(void *value) {
    register void *in_register __asm__("r12") = value;
    __asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0), "r"(in_register) : "rcx", "r11", "memory");
}

static void lost(void) { malloc(24); }
static void lost_in_loop(void) { for (int i = 1; i <= 10; i++) malloc(i); }
static void lost_list(void) { make(make(make(0, 0), 0), 0); }
static void lost_ring(void) { ring(4); }
static void lost_rings_joined(void) { struct node *one = ring(2), *other = ring(3); one->other = other; other->other = one; }
static void lost_tree(void) {
    struct node *root = make(0, 0);
    root->next = make(root, 0);
    root->other = make(root, make(0, 0));
}
static void lost_points_to_itself(void) { struct node *node = make(0, 0); node->next = node; }
static void lost_points_into_another(void) { make((struct node *)&make(0, 0)->value, 0); }
static void lost_points_to_kept(void) { kept = make(0, 0); make(kept, 0); }
static void lost_large(void) { void **large = malloc(1 << 20); memset(large, 0, 1 << 20); large[1000] = malloc(40); large[100000] = malloc(50); }
static void lost_empty(void) { malloc(0); }
static void lost_grown(void) { char *text = malloc(8); text = realloc(text, 100); text = 0; }
static void lost_copy_of_text(void) { strdup("a text of twenty-four c."); }
static void lost_table(void) { char **rows = calloc(5, sizeof *rows); for (int i = 0; i < 5; i++) rows[i] = malloc(16); }
static void lost_by_overwriting(void) { kept = malloc(10); kept = malloc(20); }
static void lost_with_its_owner(void) { struct node *owner = make(make(0, 0), 0); free(owner); }
static void lost_aligned(void) { void *block; posix_memalign(&block, 256, 100); aligned_alloc(64, 128); }
static void just_behind(void) { kept = (char *)malloc(32) + 32; }
static void pointer_in_unaligned_place(void) { packed.pointer = malloc(32); }
static void pointer_in_disguise(void) { hidden = ~(uintptr_t)malloc(32); }
static void kept_in_global(void) { kept = make(make(0, 0), 0); }
static void kept_in_static(void) { static void *here; here = malloc(12); }
static void kept_by_the_thread(void) { kept_by_thread = malloc(12); }
static void kept_in_mapping(void) {
    void **mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped[7] = malloc(12);
}
static void kept_empty(void) { kept = malloc(0); }
static void kept_inside(void) { kept = &make(0, 0)->value; }
static void kept_inside_with_more(void) { kept = &make(make(make(0, 0), 0), 0)->value; }
static void kept_inside_and_at_start(void) { struct node *node = make(0, 0); kept = &node->value; also_kept = node; }
static void kept_ring_inside(void) { kept = &ring(3)->value; }
static void kept_behind_its_length(void) { long *block = malloc(88); *block = 80; kept = block + 1; }
static void kept_by_lost_inside(void) { kept = &make(0, 0)->other; make(kept, 0); }
static void in_register(void) { end_with(make(make(0, 0), 0)); }
static void in_register_inside(void) { end_with(&make(0, 0)->value); }
static void ends_in_the_middle(void) {
    struct node *local = make(make(0, 0), 0);
    malloc(5);
    if (local->value)
        exit(0);
    free(local);
}
static void fail(int depth) {
    char *volatile buffer = malloc(100);
    if (depth == 0)
        longjmp(back, 1);
    fail(depth - 1);
    free(buffer);
}
static void lost_by_longjmp(void) { if (setjmp(back) == 0) fail(3); }
static void at_exit_lost(void) { kept = malloc(7); kept = 0; }
static void lost_at_exit(void) { kept = 0; atexit(at_exit_lost); kept = malloc(9); }
static void nothing(void) { free(make(0, 0)); }

#define PROGRAM(name) {#name, name}
static const struct { const char *name; void (*run)(void); } programs[] = {
    PROGRAM(nothing), PROGRAM(lost), PROGRAM(lost_in_loop), PROGRAM(lost_list), PROGRAM(lost_ring), PROGRAM(lost_rings_joined),
    PROGRAM(lost_tree), PROGRAM(lost_points_to_itself), PROGRAM(lost_points_into_another), PROGRAM(lost_points_to_kept), PROGRAM(lost_large),
    PROGRAM(lost_empty), PROGRAM(lost_grown), PROGRAM(lost_copy_of_text), PROGRAM(lost_table), PROGRAM(lost_by_overwriting),
    PROGRAM(lost_with_its_owner), PROGRAM(lost_aligned), PROGRAM(just_behind), PROGRAM(pointer_in_unaligned_place),
    PROGRAM(pointer_in_disguise), PROGRAM(kept_in_global), PROGRAM(kept_in_static), PROGRAM(kept_by_the_thread), PROGRAM(kept_in_mapping),
    PROGRAM(kept_empty), PROGRAM(kept_inside), PROGRAM(kept_inside_with_more), PROGRAM(kept_inside_and_at_start), PROGRAM(kept_ring_inside),
    PROGRAM(kept_behind_its_length), PROGRAM(kept_by_lost_inside), PROGRAM(in_register), PROGRAM(in_register_inside),
    PROGRAM(ends_in_the_middle), PROGRAM(lost_by_longjmp), PROGRAM(lost_at_exit),
};

int main(int count, char **arguments) {
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (count > 1 && strcmp(arguments[1], programs[i].name) == 0)
            programs[i].run();
        else if (count > 1 && strcmp(arguments[1], "list") == 0)
            puts(programs[i].name);
    }
    return 0;
}
