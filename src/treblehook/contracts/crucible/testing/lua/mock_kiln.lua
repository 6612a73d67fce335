-- `mock.kiln.note(path, text, info)`: notes that are only there for the test. The first takes over reading, listing, searching and writing
-- in cru.kiln; the rest of it answers what mock.on tells it to. `info` is kiln, title, tags.

local notes = {} -- path -> { path, kiln, title, tags, text }

local function note_at(name, path)
  if not notes[path] then
    error("cru.kiln." .. name .. ": there is no note " .. tostring(path), 3)
  end
  return notes[path]
end

local function told(note)
  return { path = note.path, kiln = note.kiln, title = note.title, tags = note.tags }
end

local function in_order(fits)
  local paths = {}
  for path, note in pairs(notes) do
    if fits(note) then
      paths[#paths + 1] = path
    end
  end
  table.sort(paths)
  return paths
end

local cru_kiln = {}

function cru_kiln.read(path)
  return note_at("read", path).text
end

function cru_kiln.info(path)
  return notes[path] and told(notes[path])
end

function cru_kiln.list(options)
  local folder = options and options.folder or ""
  local answer = {}
  for place, path in ipairs(in_order(function(note)
    return folder == "" or note.path:sub(1, #folder + 1) == folder .. "/"
  end)) do
    answer[place] = told(notes[path])
  end
  return answer
end

-- Whatever has the words in its title or its text.
function cru_kiln.search(query, options)
  local words, answer = query:lower(), {}
  for _, path in ipairs(in_order(function(note)
    return (note.title .. "\n" .. note.text):lower():find(words, 1, true)
  end)) do
    if #answer < (options and options.limit or 10) then
      local found = told(notes[path])
      found.score, found.snippet = 1.0, notes[path].text
      answer[#answer + 1] = found
    end
  end
  return answer
end

function cru_kiln.write(path, text)
  local before = notes[path]
  mock.kiln.note(path, text, before)
  return before == nil and "created" or before.text == text and "unchanged" or "modified"
end

function cru_kiln.delete(path)
  local was = notes[path] ~= nil
  notes[path] = nil
  return was
end

mock.kiln = {}

-- Without a text: what is in the note now, nil where there is none.
function mock.kiln.note(path, text, info)
  for name, fn in pairs(cru_kiln) do
    mock.on("cru.kiln." .. name, fn)
  end
  if text ~= nil then
    info = info or {}
    local title = info.title or path:match("([^/]*)$"):gsub("%.md$", "")
    notes[path] = { path = path, kiln = info.kiln or "notes", title = title, tags = info.tags or {}, text = text }
  end
  return notes[path] and notes[path].text
end

return mock.kiln
