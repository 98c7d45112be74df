create table fault(id integer primary key, kind text not null, cost real, file integer references file(id));
create table file(id integer primary key, name text unique);
insert into file values (1, 'list.c'), (2, 'tree.c'), (3, 'main.c');
insert into fault(kind, cost, file) values ('overflow', 1.5, 1), ('null', 2.25, 1), ('leak', -7e10, 2), ('race', 0.1, null);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
    insert into fault(kind, cost, file) select case i % 3 when 0 then 'null' when 1 then 'leak' else 'loop' end, i / 7.0, i % 3 + 1 from n;
create index by_kind on fault(kind);
select kind, count(*), round(sum(cost), 4), avg(cost), min(cost), max(cost) from fault group by kind order by kind;
select name, count(fault.id), total(cost) from file left join fault on fault.file = file.id group by name having count(*) > 1 order by 3 desc;
select f.id, f.kind, g.name, printf('%.3f', f.cost * 2) from fault f join file g on g.id = f.file where f.cost between 3 and 4 order by f.cost desc, f.id limit 5;
select kind, cost, row_number() over (partition by kind order by cost desc) from fault where cost > 70 order by kind, cost desc;
begin; update fault set cost = cost + 1 where kind = 'loop'; delete from fault where id % 5 = 0; rollback;
select sum(cost), length(group_concat(id)), upper(substr('whydunit', 4)), strftime('%Y-%m-%d', '2020-02-28', '+2 days') from fault;
insert into file values (1, 'again');
select 1.0 / 3, 1e300 * 1e10, 9223372036854775807, -5 / 2, -5 % 3, 7.0 like '7%', hex(zeroblob(3)), json_extract('{"a": [1, {"b": 2.5}]}', '$.a[1].b');
