-- Counts and sorts words, builds strings, and keeps objects in tables: what scripts do. The argument says how many words.
local count = tonumber(arg[1]) or 20000
local state = 1
local function next_number(limit)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % limit
end

local syllables = { "ka", "to", "mi", "ren", "sol", "vu", "pe", "lin" }
local words = {}
for i = 1, count do
  local parts = {}
  for j = 1, 1 + next_number(4) do
    parts[j] = syllables[1 + next_number(#syllables)]
  end
  words[i] = table.concat(parts)
end

local counts = {}
for _, word in ipairs(words) do
  counts[word] = (counts[word] or 0) + 1
end
local distinct = {}
for word in pairs(counts) do
  distinct[#distinct + 1] = word
end
table.sort(distinct, function(a, b)
  if counts[a] ~= counts[b] then return counts[a] > counts[b] end
  return a < b
end)

local text = table.concat(words, " ")
local vowels = 0
for _ in text:gmatch("[aeiou]") do vowels = vowels + 1 end
local swapped = text:gsub("(%a)(%a)n", "%2%1m")

local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({ x = x, y = y }, Point) end
function Point:add(other) return Point.new(self.x + other.x, self.y + other.y) end
local sum = Point.new(0, 0.5)
for i = 1, count do
  sum = sum:add(Point.new(i % 7, 1 / i))
end

print(#distinct, distinct[1], counts[distinct[1]], vowels, #swapped)
print(string.format("%d %.6f", sum.x, sum.y))
