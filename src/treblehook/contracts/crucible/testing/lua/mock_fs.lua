-- `mock.fs`: files that are only there for the test. The first `mock.fs.file` or `mock.fs.folder` takes over all of cru.fs.

local files = {} -- path -> text
local folders = {} -- path -> true

local function parent(path)
  return path:match("^(.*)/[^/]*$")
end

local function make_parents(path)
  local above = parent(path)
  while above and above ~= "" do
    folders[above] = true
    above = parent(above)
  end
end

local function missing(name, path)
  error("cru.fs." .. name .. ": " .. tostring(path) .. ": No such file or directory", 3)
end

local function inside(folder)
  local names, seen = {}, {}
  for _, all in ipairs({ files, folders }) do
    for path in pairs(all) do
      local name = path:sub(1, #folder + 1) == folder .. "/" and path:sub(#folder + 2):match("^[^/]+")
      if name and not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  table.sort(names)
  return names
end

local cru_fs = {}

function cru_fs.read(path)
  if not files[path] then
    missing("read", path)
  end
  return files[path]
end

function cru_fs.write(path, text)
  files[path] = text
  make_parents(path)
end

function cru_fs.append(path, text)
  files[path] = (files[path] or "") .. text
  make_parents(path)
end

function cru_fs.exists(path)
  return files[path] ~= nil or folders[path] == true
end

function cru_fs.is_file(path)
  return files[path] ~= nil
end

function cru_fs.is_dir(path)
  return folders[path] == true
end

function cru_fs.list(path)
  if not folders[path] then
    missing("list", path)
  end
  return inside(path)
end

function cru_fs.mkdir(path)
  folders[path] = true
  make_parents(path)
end

function cru_fs.remove(path)
  if not files[path] and not folders[path] then
    missing("remove", path)
  end
  for _, all in ipairs({ files, folders }) do
    for other in pairs(all) do
      if other == path or other:sub(1, #path + 1) == path .. "/" then
        all[other] = nil
      end
    end
  end
end

function cru_fs.copy(from, to)
  if not files[from] then
    missing("copy", from)
  end
  cru_fs.write(to, files[from])
end

function cru_fs.rename(from, to)
  if not files[from] then
    missing("rename", from)
  end
  cru_fs.write(to, files[from])
  files[from] = nil
end

local function take_over()
  for name, fn in pairs(cru_fs) do
    mock.on("cru.fs." .. name, fn)
  end
end

mock.fs = {}

-- Without a text: what is in the file now, nil where there is none.
function mock.fs.file(path, text)
  take_over()
  if text ~= nil then
    cru_fs.write(path, text)
  end
  return files[path]
end

function mock.fs.folder(path)
  take_over()
  cru_fs.mkdir(path)
end

return mock.fs
