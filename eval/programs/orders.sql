-- Orders and customers: inserts, an index, joins, aggregates, a window and text functions. `size` says how many orders.
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, region TEXT);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER, cents INTEGER, note TEXT);
WITH RECURSIVE counter(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counter WHERE i < (SELECT orders / 20 FROM size))
INSERT INTO customer SELECT i, 'customer ' || (i * 7919 % 10007), substr('northsoutheast west ', i % 4 * 5 + 1, 5) FROM counter;
WITH RECURSIVE counter(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counter WHERE i < (SELECT orders FROM size))
INSERT INTO purchase SELECT i, i * 31 % (SELECT orders / 20 FROM size) + 1, i * 17 % 365, i * 7919 % 100003, 'order ' || hex(i * 2654435761 % 4294967296) FROM counter;
CREATE INDEX purchase_by_customer ON purchase (customer, day);
SELECT region, count(*), sum(cents), round(avg(cents), 2) FROM purchase JOIN customer ON customer.id = purchase.customer GROUP BY region ORDER BY region;
SELECT name, total FROM (SELECT customer, sum(cents) AS total FROM purchase GROUP BY customer) JOIN customer ON id = customer ORDER BY total DESC, name LIMIT 10;
SELECT max(gap) FROM (SELECT day - lag(day) OVER (PARTITION BY customer ORDER BY day, id) AS gap FROM purchase);
UPDATE purchase SET cents = cents + 1 WHERE note LIKE '%7F%';
DELETE FROM purchase WHERE day % 7 = 3;
SELECT count(*), sum(length(note)), count(DISTINCT substr(note, 7, 2)), group_concat(DISTINCT day % 5) FROM purchase;
