//! Which cause `whydunit explain` tells, of small programs in each of which one thing is wrong.

mod common;

use common::Scratch;
use serde_json::Value;

/// A program, how it is compiled and run, and how it is known to be wrong.
struct Failing<'a> {
    name: &'a str,
    source: &'a str,
    flags: &'a [&'a str],
    arguments: &'a [&'a str],
    input: &'a str,
    oracle: &'a [&'a str],
}

impl Failing<'_> {
    fn answer(&self, format: &str) -> String {
        let scratch = Scratch::new(&format!("causes-{}", self.name));
        scratch.compile(self.name, self.source, self.flags);
        let program = format!("./{}", self.name);
        let options = [&["explain", "--format", format], self.oracle, &["--", &program]].concat();
        let ran = scratch.whydunit_apart(&[&options[..], self.arguments].concat(), self.input.as_bytes());
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stdout
    }

    fn causes(&self) -> Vec<Value> {
        let answer: Value = serde_json::from_str(&self.answer("json")).unwrap();
        answer["findings"][0]["causes"].as_array().unwrap().clone()
    }
}

/// The line of a condition, and which decision of it is meant.
fn decision(condition: &Value) -> (u64, u64) {
    (condition["place"]["line"].as_u64().unwrap(), condition["number"].as_u64().unwrap())
}

const LEAP: &str = "#include <stdio.h>
#include <stdlib.h>
static int leap(int y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 1;
}
static int days(int m, int y)
{
    static const int d[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return d[m - 1] + (m == 2 && leap(y));
}
int main(int argc, char **argv)
{
    int y = atoi(argv[1]), m = atoi(argv[2]), d = atoi(argv[3]), n = 0;
    for (int i = 1; i < m; i++) n += days(i, y);
    printf(\"day %d of %d\\n\", n + d, y);
    return 0;
}
";

/// January's decision is of another call of the same function: it hands nothing on to February's.
#[test]
fn what_an_earlier_call_decided_is_not_handed_on() {
    let failing = Failing {
        name: "leap",
        source: LEAP,
        flags: &["-O0"],
        arguments: &["2000", "3", "1"],
        input: "",
        oracle: &["--expect-stdout", "day 61 of 2000"],
    };
    let causes = failing.causes();
    assert_eq!(decision(&causes[0]["condition"]), (5, 1));
    let steps: Vec<(u64, u64)> = causes[0]["steps"].as_array().unwrap().iter().map(decision).collect();
    assert_eq!(steps, [(10, 2)]);
    assert_eq!(causes.len(), 1, "each condition is told once");
    assert!(causes[0]["path"].as_array().unwrap().len() > 2);
}

/// `28 + (a && b)` is made of jumps; the sum is near all the same.
#[test]
fn a_condition_of_jumps_that_becomes_a_number_is_at_a_distance() {
    let failing = Failing {
        name: "number",
        source: "#include <stdio.h>
static int days(int m, int y)
{
    return 28 + (m == 2 && y > 5);
}
int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < 3; i++)
        n += days(i, argc);
    printf(\"%d\\n\", n);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["a"],
        input: "",
        oracle: &["--expect-stdout", "57"],
    };
    let causes = failing.causes();
    assert_eq!(decision(&causes[0]["condition"]), (4, 2));
    assert!(causes[0]["distance"].is_u64(), "{}", causes[0]["distance"]);
}

/// The loop's condition reads the letter before it decides, and hands on the letter, not that it went on.
#[test]
fn a_loop_hands_on_what_its_condition_read_but_not_its_outcome() {
    let failing = Failing {
        name: "letters",
        source: "#include <stdio.h>
static int next(const char **text)
{
    return *(*text)++;
}
int main(int argc, char **argv)
{
    const char *text = argv[argc - 1];
    int c, count = 0;
    while ((c = next(&text)) != 0)
        if (c == 'b' || c == 'c')
            count++;
    printf(\"%d\\n\", count);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["abc"],
        input: "",
        oracle: &["--expect-stdout", "1"],
    };
    let causes = failing.causes();
    assert_eq!(decision(&causes[0]["condition"]).0, 11);
    assert_eq!(causes[0]["steps"], Value::Array(Vec::new()));
}

/// The name was read by the call that was asked as well; how that went is another matter.
#[test]
fn what_a_library_read_for_a_condition_is_not_its_outcome() {
    let failing = Failing {
        name: "words",
        source: "#include <stdio.h>
#include <string.h>
static int next(char *word)
{
    return scanf(\"%9s\", word) == 1;
}
int main(void)
{
    char word[10];
    int count = 0;
    while (next(word)) {
        if (strcmp(word, \"end\") == 0)
            continue;
        count++;
    }
    printf(\"%d\\n\", count);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &[],
        input: "one end",
        oracle: &["--expect-stdout", "2"],
    };
    let causes = failing.causes();
    assert_eq!(decision(&causes[0]["condition"]), (12, 2));
    assert_eq!(causes[0]["steps"], Value::Array(Vec::new()));
}

/// Both numbers that are no primes have to be seen to be none. That the loop of `main` ends early for the second is no repair.
#[test]
fn pairs_of_one_condition_come_before_others_and_are_told_whole() {
    let failing = Failing {
        name: "primes",
        source: "#include <stdio.h>
#include <stdlib.h>
static int is_prime(int n)
{
    if (n < 2) return 0;
    for (int i = 2; i * i < n; i++)
        if (n % i == 0) return 0;
    return 1;
}
int main(int argc, char **argv)
{
    int limit = atoi(argv[1]), count = 0;
    for (int i = 0; i <= limit; i++) if (is_prime(i)) { printf(\"%d \", i); count++; }
    printf(\"\\n%d primes\\n\", count);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["10"],
        input: "",
        oracle: &["--expect-stdout", "2 3 5 7 \n4 primes"],
    };
    let causes = failing.causes();
    for (cause, line) in causes.iter().zip([13, 6]) {
        assert_eq!(cause["change"], "pair");
        for condition in [&cause["condition"], &cause["second"]] {
            assert_eq!(condition["place"]["line"], line);
        }
    }
    let text = failing.answer("text");
    for number in [4, 9] {
        assert!(text.contains(&format!("was true with is_prime(i) = 1 and i = {number}")), "{text}");
    }
    let others = text.split("ALSO POSSIBLE").nth(1).unwrap();
    assert!(others.contains(" then\n") && others.contains("if both go the other way the run"), "{text}");
    assert!(!text.split("PATH").next().unwrap().contains("i <= limit"), "{text}");
}

/// The condition that should have set the word's end is not in the slice: it did nothing.
#[test]
fn the_first_of_a_pair_may_be_a_decision_that_left_something_out() {
    let failing = Failing {
        name: "words",
        source: "#include <stdio.h>
int main(void)
{
    int c, lines = 0, words = 0, chars = 0, inword = 0;
    while ((c = getchar()) != EOF) {
        chars++;
        if (c == '\\n')
            lines++;
        if (c == ' ' || c == '\\t')
            inword = 0;
        else if (!inword) {
            inword = 1;
            words++;
        }
    }
    printf(\"%d %d %d\\n\", lines, words, chars);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &[],
        input: "hello big world\nfoo bar\nend\n",
        oracle: &["--expect-stdout", "3 6 28"],
    };
    let causes = failing.causes();
    assert_eq!(
        (&causes[0]["condition"]["place"]["line"], &causes[0]["change"]),
        (&11.into(), &"pair".into())
    );
}

/// Also where the run does not crash: what the condition compared had been left over.
#[test]
fn what_was_never_set_is_told_of_wrong_output() {
    let failing = Failing {
        name: "flags",
        source: "#include <stdio.h>
#include <stdlib.h>
struct rec { int id; int flags; };
int main(int argc, char **argv)
{
    struct rec *r = malloc(sizeof *r);
    r->id = atoi(argv[1]);
    if (argc > 2)
        r->flags = 1;
    printf(\"%d\", r->id);
    if (r->flags & 1)
        printf(\" special\");
    printf(\"\\n\");
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["5"],
        input: "",
        oracle: &["--expect-stdout", "5"],
    };
    let text = failing.answer("text");
    assert!(text.contains("UNSET   flags.c:11"), "{text}");
    assert!(text.contains("uses r->flags, which was never given a value"), "{text}");
}

/// The loop reads what nobody has set as well, and decides by it; the statement that the crash comes from is told all the same.
#[test]
fn what_was_never_set_is_told_where_several_statements_read_it() {
    let failing = Failing {
        name: "append",
        source: "#include <stdlib.h>
#include <stdio.h>
struct item { int count; struct item *next; };
static struct item *add(struct item *list, int count)
{
    struct item *it = malloc(sizeof *it);
    it->count = count;
    if (!list)
        return it;
    struct item *at = list;
    while (at->next)
        at = at->next;
    at->next = it;
    return list;
}
int main(int argc, char **argv)
{
    struct item *list = NULL;
    int sum = 0;
    for (int i = 1; i < argc; i++)
        list = add(list, atoi(argv[i]));
    for (; list; list = list->next)
        sum += list->count;
    printf(\"%d\\n\", sum);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["1", "2"],
        input: "",
        oracle: &[],
    };
    let text = failing.answer("text");
    assert!(text.contains("UNSET   append.c:12"), "{text}");
    assert!(text.contains("uses at->next, which was never given a value"), "{text}");
}

const WRAP: Failing = Failing {
    name: "wrap",
    source: "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int width = atoi(argv[1]), col = 0;
    char word[256];
    while (scanf(\"%255s\", word) == 1) {
        int len = strlen(word);
        if (col + len > width) {
            putchar('\\n');
            col = 0;
        } else if (col > 0) {
            putchar(' ');
            col++;
        }
        fputs(word, stdout);
        col += len;
    }
    putchar('\\n');
    return argc == 9;
}
",
    flags: &["-O0"],
    arguments: &["6"],
    input: "aaa bbb cc dd",
    oracle: &["--expect-stdout", "aaa\nbbb cc\ndd"],
};

/// `strlen` loads what lies behind the text as well; the text itself was read from the input.
#[test]
fn what_lies_behind_a_text_is_not_told_as_never_set() {
    let text = WRAP.answer("text");
    assert!(text.contains("CAUSE   wrap.c:10") && !text.contains("UNSET"), "{text}");
    let scratch = Scratch::new("causes-why-wrap");
    scratch.compile(WRAP.name, WRAP.source, WRAP.flags);
    let asked = ["why", "--at", "wrap.c:10:len", "--", "./wrap", "6"];
    let ran = scratch.whydunit_apart(&asked, WRAP.input.as_bytes());
    assert!(ran.stdout.contains("int len = strlen(word);"), "{ran:?}");
    assert!(!ran.stdout.contains("before it was given a value"), "{ran:?}");
}

/// A text without an end: `strlen` goes by what was left over behind it. That of the other text is beside the point.
#[test]
fn what_lies_behind_a_text_without_an_end_was_never_set() {
    let failing = Failing {
        name: "tail",
        source: "#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char head[16], tail[8];
    strncpy(tail, argv[1], 4);
    strcpy(head, \"ab\");
    unsigned long both = strlen(head) + strlen(tail);
    if (both < 1000)
        puts(\"short\");
    else
        puts(\"long\");
    return argc == 9;
}
",
        flags: &["-O0", "-w"],
        arguments: &["abcdefg"],
        input: "",
        oracle: &["--expect-stdout", "long"],
    };
    let text = failing.answer("text");
    assert!(text.contains("UNSET   tail.c:8") && text.contains("uses tail, which was never given"), "{text}");
}

/// Nothing leads to output that is missing; but the condition before it went by what nobody had set.
#[test]
fn what_was_never_set_is_told_where_no_condition_explains_a_failure() {
    let failing = Failing {
        name: "counts",
        source: "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int *counts;
static int size;
static void grow(int wanted)
{
    if (wanted <= size)
        return;
    counts = realloc(counts, wanted * sizeof *counts);
    memset(counts + size, 0, wanted - size);
    size = wanted;
}
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int value = atoi(argv[i]);
        grow(value + 1);
        counts[value]++;
    }
    for (int i = 0; i < size; i++)
        if (counts[i] > 0)
            printf(\"%d: %d\\n\", i, counts[i]);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["1", "3"],
        input: "",
        oracle: &["--expect-stdout", "1: 1\n3: 1\n"],
    };
    let scratch = Scratch::new("causes-counts");
    scratch.compile(failing.name, failing.source, failing.flags);
    let asked = [&["explain"], failing.oracle, &["--", "./counts"], failing.arguments].concat();
    let ran = scratch.whydunit_apart(&asked, b"");
    assert!(
        ran.stdout.contains("UNSET   counts.c:22")
            && ran.stdout.contains("uses counts[i], which was never given a value"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("whether the failure comes of that is not known"), "{ran:?}");
    assert_eq!(ran.status, 1, "a cause was not found");
    let next =
        ran.stdout.split("CAUSE   no condition explains this").nth(1).expect("what led to the condition");
    for line in ["counts = realloc(", "memset(", "return 0;"] {
        assert!(next.contains(line), "{next}");
    }
}

/// A library header's function is inlined where it crashes; that `main` is the program's own is seen all the same.
#[test]
fn a_null_pointer_from_a_library_is_followed_through_code_that_was_inlined() {
    let failing = Failing {
        name: "inlined",
        source: "#include <stdlib.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char *p = strchr(argv[1], ',');
    if (argc > 2)
        puts(\"more\");
    printf(\"%ld\\n\", atol(p));
    return 0;
}
",
        flags: &["-O2"],
        arguments: &["abc", "def"],
        input: "",
        oracle: &[],
    };
    let scratch = Scratch::new("causes-why-inlined");
    scratch.compile("inlined", failing.source, failing.flags);
    let ran = scratch.whydunit(&["why", "--at", "crash", "--", "./inlined", "abc"]);
    assert!(ran.stdout.contains("inlined.c:6"), "{ran:?}");
}

/// The text that is too long overwrites the variable behind it.
#[test]
fn a_write_into_another_variable_is_told() {
    let failing = Failing {
        name: "overrun",
        source: "#include <stdio.h>
int main(int argc, char **argv)
{
    struct { char name[8]; int admin; } user = { \"\", 0 };
    int i;
    for (i = 0; argv[1][i]; i++)
        user.name[i] = argv[1][i];
    if (user.admin)
        puts(\"admin\");
    else
        puts(\"user\");
    return argc == 9;
}
",
        flags: &["-O0"],
        arguments: &["abcdefghijk"],
        input: "",
        oracle: &["--expect-stdout", "user"],
    };
    let text = failing.answer("text");
    let from = text.split("FROM").nth(1).unwrap();
    assert!(from.contains("which lies in `user.admin`"), "{text}");
}

/// What is freed a second time is freed by the statement that the condition is around: not to come there is all that it can do.
#[test]
fn the_condition_around_a_double_free_is_the_cause() {
    let failing = Failing {
        name: "twice",
        source: "#include <stdlib.h>
#include <stdio.h>
#include <string.h>
struct buf { char *p; size_t n; };
static void put(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    char *q = realloc(b->p, b->n + n + 1);
    if (n > 5) {
        free(b->p);
        return;
    }
    memcpy(q + b->n, s, n + 1);
    b->p = q; b->n += n;
}
int main(int argc, char **argv)
{
    struct buf b = { 0 };
    for (int i = 1; i < argc; i++) put(&b, argv[i]);
    puts(b.p);
    free(b.p);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["ab", "abcdefgh", "c"],
        input: "",
        oracle: &[],
    };
    assert_eq!(decision(&failing.causes()[0]["condition"]), (9, 2));
}

/// gcc makes `setge` of it, so that the number is 1 where the comparison fails.
#[test]
fn a_question_that_chooses_between_numbers_is_told_by_its_own_side() {
    let failing = Failing {
        name: "verdict",
        source: "#include <stdio.h>
static int verdict(int bad, int total)
{
    return bad * 5 < total ? 0 : 1;
}
int main(int argc, char **argv)
{
    return verdict(argc - 4, 5);
}
",
        flags: &["-O0"],
        arguments: &["a", "b", "c", "d"],
        input: "",
        oracle: &["--expect-exit", "0"],
    };
    let text = failing.answer("text");
    assert!(text.contains("was false with bad = 1 and total = 5"), "{text}");
    assert!(text.contains("(bad * 5 < total) is false"), "{text}");
}

#[test]
fn what_a_condition_counts_up_is_given_no_value() {
    let failing = Failing {
        name: "counts",
        source: "#include <stdio.h>
int main(int argc, char **argv)
{
    int n = argc, limit = 3;
    if (n++ == limit)
        puts(\"limit\");
    return n == 0;
}
",
        flags: &["-O0"],
        arguments: &["a", "b"],
        input: "",
        oracle: &["--expect-stdout", ""],
    };
    let text = failing.answer("text");
    assert!(text.contains("was true with limit = 3;"), "{text}");
}

/// gcc evaluates the second argument first.
#[test]
fn calls_in_no_known_order_are_given_no_values() {
    let failing = Failing {
        name: "gap",
        source: "#include <stdio.h>
#include <stdlib.h>
static int gap(int a, int b) { return b - a; }
int main(int argc, char **argv)
{
    if (gap(atoi(argv[1]), atoi(argv[2])) < 8)
        puts(\"too close\");
    return argc == 9;
}
",
        flags: &["-O0"],
        arguments: &["2", "9"],
        input: "",
        oracle: &["--expect-stdout", ""],
    };
    let text = failing.answer("text");
    let told = "was true with gap(atoi(argv[1]), atoi(argv[2])) = 7, argv[1] = \"2\" and argv[2] = \"9\"";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_switch_is_neither_true_nor_false() {
    let failing = Failing {
        name: "kinds",
        source: "#include <stdio.h>
static const char *kind(int letter)
{
    switch (letter) {
    case 't': return \"text\";
    case 'p': return \"picture\";
    case 's': return \"sound\";
    case 'm': return \"film\";
    default: return \"other\";
    }
}
int main(int argc, char **argv)
{
    puts(kind(argv[argc - 1][0]));
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["m"],
        input: "",
        oracle: &["--expect-stdout", "sound"],
    };
    let text = failing.answer("text");
    assert!(text.contains("went to one of its cases with letter = 109"), "{text}");
    assert!(text.contains("(letter) chooses a case"), "{text}");
}

#[test]
fn what_chooses_an_argument_is_told_without_the_call() {
    let failing = Failing {
        name: "price",
        source: "#include <stdio.h>
int main(int argc, char **argv)
{
    int discount = argc > 1, total = 50;
    printf(\"%s %d\\n\", argv[argc - 1], discount ? total / 2 : total);
    return 0;
}
",
        flags: &["-O0"],
        arguments: &["bob"],
        input: "",
        oracle: &["--expect-stdout", "bob 50"],
    };
    let text = failing.answer("text");
    assert!(text.contains("(discount) is true"), "{text}");
    assert!(text.contains("with discount = 1;"), "{text}");
}
