-- Modules: `require` and what belongs to it. Loaded at the first need.
local T = ...
local public, compile, fail = T.public, T.compile, T.fail
local type, error, select, next, tostring = type, error, select, next, tostring
local gsub, gmatch, concat = string.gsub, string.gmatch, table.concat
local package = public.package
local own = {}
T.modules = own

-- A file's chunk, or nil and why not.
local function chunk_of(path, env)
  local text, name = T.read_source(path)
  if not text then return nil, name end
  return compile(text, name, env)
end

function own.loadfile(path, _, ...)
  if type(path) ~= "string" then fail("bad argument #1 to 'loadfile' (string expected, got " .. type(path) .. ")") end
  if select("#", ...) > 0 then return chunk_of(path, (...)) end
  return chunk_of(path, public)
end

function own.dofile(path)
  if type(path) ~= "string" then fail("bad argument #1 to 'dofile' (string expected, got " .. type(path) .. ")") end
  local chunk, message = chunk_of(path, public)
  if not chunk then error(message, 0) end
  return chunk()
end


function own.searchpath(name, path, separator, replacement)
  local file = name
  if separator ~= "" then file = gsub(file, gsub(separator or ".", "%p", "%%%0"), (gsub(replacement or "/", "%%", "%%%%"))) end
  local tried = {}
  for template in gmatch(path, "[^;]+") do
    local candidate = gsub(template, "%?", (gsub(file, "%%", "%%%%")))
    if T.is_file(candidate) then return candidate end
    tried[#tried + 1] = "no file '" .. candidate .. "'"
  end
  return nil, concat(tried, "\n\t")
end

own[1] = function(name)
  local loader = package.preload[name]
  if loader then return loader, ":preload:" end
  return "no field package.preload['" .. name .. "']"
end

own[2] = function(name)
  local file, tried = own.searchpath(name, tostring(package.path))
  if not file then return tried end
  local chunk, message = chunk_of(file, public)
  if not chunk then error("error loading module '" .. name .. "' from file '" .. file .. "':\n\t" .. message, 0) end
  return chunk, file
end

function own.require(name)
  if type(name) ~= "string" then fail("bad argument #1 to 'require' (string expected, got " .. type(name) .. ")") end
  local loaded = package.loaded
  if loaded[name] then return loaded[name] end
  local tried = {}
  for _, search in next, package.searchers do
    local loader, extra = search(name)
    if type(loader) == "function" then
      local result = loader(name, extra)
      if result ~= nil then loaded[name] = result elseif loaded[name] == nil then loaded[name] = true end
      return loaded[name], extra
    end
    if type(loader) == "string" then tried[#tried + 1] = loader end
  end
  fail("module '" .. name .. "' not found:\n\t" .. concat(tried, "\n\t"))
end

