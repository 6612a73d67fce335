---@meta

-- What a test file of a plugin is given by `treblehook hooks test`. For the editor only; it is never run.

---A group of tests.
---@param name string
---@param fn fun()
function describe(name, fn) end

---A test. It may wait: `fire`, `clock.advance` and everything of `cru` does.
---@param name string
---@param fn fun()
function it(name, fn) end

---Runs before each test of the group, and of the groups inside it.
---@param fn fun()
function before_each(fn) end

---Runs after each test of the group, also where the test failed.
---@param fn fun()
function after_each(fn) end

---@class FiredHandler
---@field hook string The plugin's name.
---@field event string
---@field file string
---@field line integer Where it was registered.
---@field class "pass"|"ignored"|"transform"|"cancel"|"handled"|"inject"|"error"|"timed_out"
---@field returned any The first value that it returned.
---@field error? string

---@class FiredOutcome
---@field event string
---@field status "passed"|"rewritten"|"cancelled"|"denied"|"handled"|"injected"|"environment"|"chosen"|"rendered"|"displayed"|"stopped"
---@field handlers FiredHandler[] Those that were asked, in order.
---@field tool? string
---@field args? table The arguments as they are now.
---@field result? string
---@field error? string Of `tool_result`, or of the handler that failed.
---@field reason? string
---@field prompt? string
---@field messages? table[]
---@field content? string
---@field position? string
---@field env? table<string, string>
---@field notes? table[]
---@field text? string

---Fires an event of `cru.on`; what the table leaves out is filled in with an example.
---@param name string
---@param event? table
---@param session? { session_id?: string, workspace?: string }
---@return FiredOutcome
function fire(name, event, session) end

---Asks the start hooks; a refusal is the status `denied`.
---@param session? { id?: string, workspace?: string }
---@return FiredOutcome
function session_start(session) end

---Asks the end hooks.
---@param session? { id?: string, workspace?: string }
---@return FiredOutcome
function session_end(session) end

---Calls a tool of the plugin.
---@param name string
---@param arguments? table
---@param session? { session_id?: string, workspace?: string }
---@return { content: string, is_error: boolean }
function call_tool(name, arguments, session) end

---The plugin itself. It loads with the first thing that is done to it, with empty settings, unless `plugin.load` comes first.
plugin = {}

---Loads it with settings; again, where it is loaded already. Raises where it does not load.
---@param settings? table
---@return table state
function plugin.load(settings) end

---@return table state
function plugin.reload() end

---@return { name: string, state: string, version: string, cause?: string, handlers: table<string, integer>, tools: string[], services: string[] }
function plugin.state() end

---Time that passes only when a test says so.
clock = {}

---Lets everything happen that is due within these seconds, in order.
---@param seconds number
function clock.advance(seconds) end

---@return number seconds
function clock.now() end

---Stand-ins for what the plugin calls, and a record of its calls. Nothing outside is reached without one.
mock = { http = {}, shell = {}, fs = {}, kiln = {} }

---From now on `path` (such as "cru.sessions.list") answers this value, or what this function returns.
---@param path string
---@param answer any
function mock.on(path, answer) end

---Every call so far, each as the list of its arguments.
---@param path string
---@return any[][]
function mock.calls(path) end

---`url` may end in `*`, a method of `*` is any; the answer is a body, a response, or a function of the request.
---@param method string
---@param url string
---@param answer string|table|fun(request: table): string|table
function mock.http.on(method, url, answer) end

---`command` is a program, or a program and its first argument; the answer is its output, a result, or a function.
---@param command string
---@param answer string|table|fun(program: string, args: string[], options?: table): string|table
function mock.shell.on(command, answer) end

---A file that is there for the test only; without a text, what is in it now.
---@param path string
---@param text? string
---@return string?
function mock.fs.file(path, text) end

---@param path string
function mock.fs.folder(path) end

---A note that is there for the test only; without a text, what is in it now.
---@param path string
---@param text? string
---@param info? { kiln?: string, title?: string, tags?: string[] }
---@return string?
function mock.kiln.note(path, text, info) end

---What is expected comes first. Called itself it is the function of standard Lua.
assert = {}

function assert.equal(expected, actual, note) end
function assert.not_equal(unexpected, actual, note) end
---Compares tables by what is in them.
function assert.same(expected, actual, note) end
function assert.not_same(unexpected, actual, note) end
function assert.truthy(actual, note) end
function assert.falsy(actual, note) end
function assert.is_true(actual, note) end
function assert.is_false(actual, note) end
function assert.is_nil(actual, note) end
function assert.not_nil(actual, note) end
---@param expected string A name that `type` answers.
function assert.is_type(expected, actual, note) end
---@param pattern string A Lua pattern.
function assert.matches(pattern, actual, note) end
---A text contains a text, a table an entry.
function assert.contains(expected, actual, note) end
function assert.not_contains(unexpected, actual, note) end
---@param fn fun()
---@param pattern? string
---@return any raised
function assert.error(fn, pattern, note) end
---@param fn fun(): any
function assert.no_error(fn, note) end
function assert.fail(note) end
