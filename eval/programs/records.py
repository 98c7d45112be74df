"""Makes records, writes and reads them as JSON, and sums them up: dicts, floats, regular expressions, sorting. The argument says how many."""

import json
import math
import re
import sys

count = int(sys.argv[1])
state = 1


def number(limit):
    global state
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % limit


def record(index):
    kind = ("loan", "sale", "gift")[number(3)]
    return {
        "id": index,
        "kind": kind,
        "price": number(100000) / 100,
        "tags": [f"t{number(50)}" for _ in range(number(4))],
        "note": f"{kind} number {index} of {1990 + number(30)}-{1 + number(12):02}-{1 + number(28):02}",
    }


text = json.dumps([record(index) for index in range(count)], indent=1)
records = json.loads(text)

totals, tags = {}, {}
for entry in records:
    totals[entry["kind"]] = totals.get(entry["kind"], 0.0) + entry["price"]
    for tag in entry["tags"]:
        tags[tag] = tags.get(tag, 0) + 1

dates = re.compile(r"(\d{4})-(\d\d)-(\d\d)$")
months = {}
for entry in records:
    year, month, _ = dates.search(entry["note"]).groups()
    months.setdefault((int(year), int(month)), []).append(entry["price"])
spread = {}
for month, prices in months.items():
    mean = math.fsum(prices) / len(prices)
    spread[month] = math.sqrt(sum((price - mean) ** 2 for price in prices) / len(prices))

records.sort(key=lambda entry: (entry["kind"], -entry["price"]))
print(len(text), sorted((kind, round(total, 2)) for kind, total in totals.items()))
print(sorted(tags.items(), key=lambda item: (-item[1], item[0]))[:5], round(max(spread.values()), 4), records[0]["id"])
