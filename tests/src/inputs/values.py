import collections, json, math, re, signal, time

squares = {n: n * n for n in range(20)}
print(squares, sum(squares.values()))
print(math.sqrt(2), 0.1 + 0.2, 1e300 * 1e10, round(2.675, 2), float("nan"), 7 // -2, 7 % -2, 2**200, math.fsum([0.1] * 10))
print(re.findall(r"(\w+)@(\w+)\.org", "a@b.org, cc@dd.org, x@y.com"), re.sub(r"\d+", lambda m: str(int(m[0]) * 2), "1 22 333"))
print(json.dumps({"b": [1, 2.5, None, True], "a": "\u00e9"}, sort_keys=True), json.loads('{"k": [1, {"z": 3.5e2}]}'))
with open("short.txt") as text:
    words = collections.Counter(text.read().split())
print(sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:10])
with open("written.txt", "w") as file:
    file.write("\n".join(f"{n:04d} {n / 3:.3f} {n:b}" for n in range(100)))
print(sum(float(line.split()[1]) for line in open("written.txt")))


class Node:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest

    def __iter__(self):
        while self is not None:
            yield self.value
            self = self.rest


print(list(Node(1, Node(2, Node(3)))), sorted(["b", "a", "C"], key=str.lower), f"{math.pi:>10.4f}|")


def failing(depth):
    return 1 / depth if depth == 0 else failing(depth - 1)


try:
    failing(3)
except ZeroDivisionError as error:
    print("caught", error)
try:
    (lambda f: f(f))(lambda f: f(f))
except RecursionError as error:
    print("too deep")


def alarmed(number, frame):
    raise TimeoutError(number)


signal.signal(signal.SIGALRM, alarmed)
signal.alarm(1)
try:
    time.sleep(100)
except TimeoutError as error:
    print("alarm", error)
