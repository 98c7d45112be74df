local squares = {} for n = 1, 10 do squares[#squares + 1] = n * n end print(table.concat(squares, ","))
print(string.format("%5.2f %q %x %s", math.pi, "a\nb", 255, 2^53), 7 // 2, 7 / 2, 7 % -3, 2^0.5, 1e15, 10 // 0.0)
local ok, message = pcall(function() error({code = 2}) end) print(ok, message.code) print(pcall(error, "plain", 0))
local Class = {} Class.__index = Class Class.__add = function(a, b) return setmetatable({n = a.n + b.n}, Class) end
print((setmetatable({n = 1}, Class) + setmetatable({n = 41}, Class)).n)
local generate = coroutine.wrap(function() for n = 1, 3 do coroutine.yield(n) end end) print(generate(), generate(), generate())
for word in ("one two three"):gmatch("%a+") do io.write(word:upper(), ";") end print()
local counts = {} for line in io.lines("short.txt") do for word in line:gmatch("%w+") do counts[word] = (counts[word] or 0) + 1 end end
local names = {} for name in pairs(counts) do names[#names + 1] = name end table.sort(names) print(#names, names[1], counts[names[1]])
print(pcall(function() local t = nil; return t.x end)) print(select("#", 1, nil, 3), ("x"):rep(3, "-"), math.type(3), math.type(3.0), 3 | 8)
