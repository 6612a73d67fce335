---@meta
-- The types of everything that Treblehook gives to Lua, for the Lua language server. Nothing here is run. Put the folder of this file
-- into `workspace.library` of `.luarc.json`, and an editor completes `cru.` and `event.`.

---@class cru
cru = {}

-- Events ------------------------------------------------------------------------------------------------------------------------------

---@class cru.Context
---@field session_id? string the session that the event belongs to; nil for files, notes and webhooks

---@class cru.FileChangedEvent
---@field type "FileChanged"
---@field path string absolute
---@field kind "created"|"modified"

---@class cru.FileDeletedEvent
---@field type "FileDeleted"
---@field path string absolute

---@class cru.FileMovedEvent
---@field type "FileMoved"
---@field from string absolute
---@field to string absolute

---@class cru.NoteCreatedEvent
---@field type "note:created"
---@field path string in the kiln
---@field title string
---@field kiln? string

---@class cru.NoteModifiedEvent
---@field type "note:modified"
---@field path string in the kiln
---@field change_type "content"|"frontmatter"|"links"|"tags"
---@field kiln? string

---@class cru.NoteDeletedEvent
---@field type "note:deleted"
---@field path string in the kiln
---@field existed boolean false where there was nothing to delete
---@field kiln? string

---@class cru.NoteRenamedEvent
---@field type "note:renamed"
---@field from string in the kiln
---@field to string in the kiln; a pattern is matched with this one
---@field kiln? string

---@class cru.WebhookReceivedEvent
---@field type "webhook:received"
---@field name string the name in the URL
---@field headers table<string, string> names in lower case, without credentials and signature
---@field body string exactly as it was signed

---@class cru.PreToolCallEvent
---@field type "pre_tool_call"
---@field tool string
---@field args table<string, any>

---@class cru.ToolResultEvent
---@field type "tool_result"
---@field tool string
---@field args table<string, any> as they were run
---@field result string empty where the tool failed
---@field error? string

---@class cru.PreLlmCallEvent
---@field type "pre_llm_call"
---@field prompt string
---@field model string

---@class cru.PostLlmCallEvent
---@field type "post_llm_call"
---@field response_summary string the first 200 characters
---@field model string
---@field duration_ms integer

---@class cru.Message
---@field role "system"|"user"|"assistant"|"tool"
---@field content string
---@field metadata? cru.MessageMetadata

---@class cru.MessageMetadata
---@field id? string
---@field tags? string[]
---@field tool_calls? { id: string, name: string, args: table<string, any> }[]
---@field tool_call_id? string
---@field success? boolean
---@field token_estimate? integer
---@field timestamp? number|string

---@class cru.TransformContextEvent
---@field type "transform_context"
---@field messages cru.Message[]
---@field model string

---@class cru.RetrievedNote
---@field index integer the handle to return
---@field title string
---@field score number
---@field snippet string
---@field kiln? string the name in `[kilns]`

---@class cru.PrecognitionSelectEvent
---@field type "precognition_select"
---@field user_message string
---@field note_count integer
---@field char_budget integer characters, not bytes
---@field results cru.RetrievedNote[]

---@class cru.ChosenNote
---@field title string
---@field score number
---@field snippet string
---@field kiln? string

---@class cru.PrecognitionFormatEvent
---@field type "precognition_format"
---@field user_message string
---@field note_count integer
---@field results cru.ChosenNote[]

---@class cru.TurnCompleteEvent
---@field type "turn:complete"
---@field session_id string
---@field message_id string
---@field response_length integer bytes
---@field is_continuation boolean

---@class cru.BeforeExecuteEvent
---@field type "tool:before_execute"
---@field tool string
---@field name string the same as `tool`
---@field args table<string, any>
---@field env table<string, string>

---@class cru.DisplayStartEvent
---@field type "tool:display_start"
---@field tool string
---@field name string the same as `tool`
---@field args string JSON

---@class cru.DisplayCompleteEvent
---@field type "tool:display_complete"
---@field tool string
---@field name string the same as `tool`
---@field args string JSON
---@field result string
---@field error? string

-- What handlers return ----------------------------------------------------------------------------------------------------------------

---@class cru.Stop
---@field cancel boolean true spares the other handlers of this occurrence

---@class cru.PreToolCallAnswer
---@field args? table<string, any> replaces the arguments
---@field cancel? boolean true refuses the call
---@field reason? string told to the model
---@field handled? boolean true skips the tool
---@field result? any becomes the tool's result; what is no string becomes JSON
---@field terminate? boolean with `handled`: asks to stop after these calls

---@class cru.ToolResultAnswer
---@field result? string
---@field error? string

---@class cru.PreLlmCallAnswer
---@field prompt? string
---@field cancel? boolean true ends the turn before the provider is asked
---@field reason? string

---@class cru.TransformContextAnswer
---@field messages? cru.Message[] replaces the list
---@field cancel? boolean true ends the turn
---@field reason? string

---@class cru.NoteChoice
---@field index integer
---@field snippet? string replaces the text of the note

---@class cru.TurnCompleteAnswer
---@field inject? { content: string, position?: "user_prefix"|"user_suffix" } joined with the user's next prompt

---@class cru.BeforeExecuteAnswer
---@field env? table<string, string>

---@class cru.DisplayStartAnswer
---@field label? string
---@field detail? string
---@field primary_arg? string
---@field max_lines? integer

---@class cru.DisplayCompleteAnswer
---@field summary? string
---@field max_lines? integer

-- Registration ------------------------------------------------------------------------------------------------------------------------

---@class cru.OnOptions
---@field pattern? string a glob for the event's identifier
---@field priority? integer lower runs first; 100

---Register a handler. Lower priorities run first; 0-9 security, 10-49 interception, 50-99 transformation, 100-149 observation, 150-199 logging.
---@overload fun(event: "FileChanged", handler: fun(ctx: cru.Context, event: cru.FileChangedEvent): cru.Stop?)
---@overload fun(event: "FileChanged", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.FileChangedEvent): cru.Stop?)
---@overload fun(event: "FileDeleted", handler: fun(ctx: cru.Context, event: cru.FileDeletedEvent): cru.Stop?)
---@overload fun(event: "FileDeleted", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.FileDeletedEvent): cru.Stop?)
---@overload fun(event: "FileMoved", handler: fun(ctx: cru.Context, event: cru.FileMovedEvent): cru.Stop?)
---@overload fun(event: "FileMoved", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.FileMovedEvent): cru.Stop?)
---@overload fun(event: "note:created", handler: fun(ctx: cru.Context, event: cru.NoteCreatedEvent): cru.Stop?)
---@overload fun(event: "note:created", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.NoteCreatedEvent): cru.Stop?)
---@overload fun(event: "note:modified", handler: fun(ctx: cru.Context, event: cru.NoteModifiedEvent): cru.Stop?)
---@overload fun(event: "note:modified", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.NoteModifiedEvent): cru.Stop?)
---@overload fun(event: "note:deleted", handler: fun(ctx: cru.Context, event: cru.NoteDeletedEvent): cru.Stop?)
---@overload fun(event: "note:deleted", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.NoteDeletedEvent): cru.Stop?)
---@overload fun(event: "note:renamed", handler: fun(ctx: cru.Context, event: cru.NoteRenamedEvent): cru.Stop?)
---@overload fun(event: "note:renamed", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.NoteRenamedEvent): cru.Stop?)
---@overload fun(event: "webhook:received", handler: fun(ctx: cru.Context, event: cru.WebhookReceivedEvent): cru.Stop?)
---@overload fun(event: "webhook:received", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.WebhookReceivedEvent): cru.Stop?)
---@overload fun(event: "pre_tool_call", handler: fun(ctx: cru.Context, event: cru.PreToolCallEvent): cru.PreToolCallAnswer?)
---@overload fun(event: "pre_tool_call", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.PreToolCallEvent): cru.PreToolCallAnswer?)
---@overload fun(event: "tool_result", handler: fun(ctx: cru.Context, event: cru.ToolResultEvent): cru.ToolResultAnswer?)
---@overload fun(event: "tool_result", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.ToolResultEvent): cru.ToolResultAnswer?)
---@overload fun(event: "pre_llm_call", handler: fun(ctx: cru.Context, event: cru.PreLlmCallEvent): cru.PreLlmCallAnswer?)
---@overload fun(event: "pre_llm_call", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.PreLlmCallEvent): cru.PreLlmCallAnswer?)
---@overload fun(event: "post_llm_call", handler: fun(ctx: cru.Context, event: cru.PostLlmCallEvent))
---@overload fun(event: "post_llm_call", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.PostLlmCallEvent))
---@overload fun(event: "transform_context", handler: fun(ctx: cru.Context, event: cru.TransformContextEvent): cru.TransformContextAnswer?)
---@overload fun(event: "transform_context", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.TransformContextEvent): cru.TransformContextAnswer?)
---@overload fun(event: "precognition_select", handler: fun(ctx: cru.Context, event: cru.PrecognitionSelectEvent): cru.NoteChoice[]?)
---@overload fun(event: "precognition_select", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.PrecognitionSelectEvent): cru.NoteChoice[]?)
---@overload fun(event: "precognition_format", handler: fun(ctx: cru.Context, event: cru.PrecognitionFormatEvent): string?)
---@overload fun(event: "precognition_format", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.PrecognitionFormatEvent): string?)
---@overload fun(event: "turn:complete", handler: fun(ctx: cru.Context, event: cru.TurnCompleteEvent): cru.TurnCompleteAnswer?)
---@overload fun(event: "turn:complete", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.TurnCompleteEvent): cru.TurnCompleteAnswer?)
---@overload fun(event: "tool:before_execute", handler: fun(ctx: cru.Context, event: cru.BeforeExecuteEvent): cru.BeforeExecuteAnswer?)
---@overload fun(event: "tool:before_execute", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.BeforeExecuteEvent): cru.BeforeExecuteAnswer?)
---@overload fun(event: "tool:display_start", handler: fun(ctx: cru.Context, event: cru.DisplayStartEvent): cru.DisplayStartAnswer?)
---@overload fun(event: "tool:display_start", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.DisplayStartEvent): cru.DisplayStartAnswer?)
---@overload fun(event: "tool:display_complete", handler: fun(ctx: cru.Context, event: cru.DisplayCompleteEvent): cru.DisplayCompleteAnswer?)
---@overload fun(event: "tool:display_complete", options: cru.OnOptions, handler: fun(ctx: cru.Context, event: cru.DisplayCompleteEvent): cru.DisplayCompleteAnswer?)
function cru.on(event, options, handler) end

---@class cru.StartingSession
---@field id string
---@field workspace? string

---@class cru.EndingSession
---@field id string
---@field workspace? string
---@field end_reason string

---@class cru.OnSessionStartOptions
---@field required? boolean true: a hook that raises refuses the session (in plugins)

---Called when a session begins. In a session's own files it cannot wait.
---@param hook fun(session: cru.StartingSession)
---@param options? cru.OnSessionStartOptions
function cru.on_session_start(hook, options) end

---Called when a session ends.
---@param hook fun(session: cru.EndingSession)
function cru.on_session_end(hook) end

---@class cru.PermissionRequest
---@field tool_name string
---@field args table<string, any> after all rewrites
---@field file_path? string
---@field mode string
---@field is_safe boolean

---@class cru.PermissionAnswer
---@field allow? boolean
---@field deny? boolean|string
---@field reason? string

---Only in a session's own files (`init.lua`, the workspace's `.crucible/lua/init.lua`); nil in plugins.
cru.permissions = {}

---Called for a call that would ask the user. It cannot wait.
---@param hook fun(request: cru.PermissionRequest): cru.PermissionAnswer?
---@param options? cru.OnOptions
function cru.permissions.on_request(hook, options) end

-- Log, JSON, time ---------------------------------------------------------------------------------------------------------------------

---Write a line into the log. Takes anything, never raises.
---@param level "debug"|"info"|"warn"|"error"
---@param message any
---@overload fun(message: any)
function cru.log(level, message) end

cru.json = {}

---Compact JSON. An empty table is an object unless `cru.json.array` marked it.
---@param value any
---@return string
function cru.json.encode(value) end

---A null member of an object is left out; a null in a list is `cru.json.null`.
---@param text string
---@return any
function cru.json.decode(text) end

---Mark a table, which may be empty, as a list.
---@generic T: table
---@param list T
---@return T
function cru.json.array(list) end

---The null of JSON.
---@type userdata
cru.json.null = nil

cru.timer = {}

---Wait; others go on.
---@async
---@param seconds number
function cru.timer.sleep(seconds) end

---Call a function with a deadline: `true` and its results, or `false` and "timeout" or the error's text.
---@async
---@param seconds number
---@param fn fun(): ...
---@return boolean ok
---@return any ...
function cru.timer.timeout(seconds, fn) end

---Run a function in the background. Its errors are logged; a reload of the plugin ends it.
---@param fn fun()
function cru.timer.spawn(fn) end

---Seconds on a clock that never goes back.
---@return number
function cru.timer.clock() end

---@class cru.ScheduleOptions
---@field every number seconds

---Call a function again and again, never beside itself. A reload of the plugin ends it.
---@class cru.Schedule
---@overload fun(options: cru.ScheduleOptions, fn: fun()): integer
cru.schedule = {}

---@param handle integer
---@return boolean cancelled false where it had ended
function cru.schedule.cancel(handle) end

-- Programs, HTTP ----------------------------------------------------------------------------------------------------------------------

cru.shell = {}

---@class cru.ExecOptions
---@field cwd? string the session's workspace
---@field env? table<string, string|number> beside the host's environment
---@field stdin? string
---@field timeout? number seconds; overrunning it raises

---@class cru.ExecResult
---@field success boolean
---@field exit_code integer -1 where a signal ended it
---@field stdout string
---@field stderr string
---@field truncated boolean there was more than 4 MiB

---Run a program to its end, without a shell. Raises where it cannot be started; rm, sudo, chmod and chown are refused.
---@async
---@param program string
---@param args (string|number)[]
---@param options? cru.ExecOptions
---@return cru.ExecResult
function cru.shell.exec(program, args, options) end

---@class cru.SpawnOptions
---@field cwd? string
---@field env? table<string, string|number>
---@field timeout? number seconds
---@field on_line? fun(stream: "stdout"|"stderr", line: string) gets the output, which then is not in the result

---@class cru.Process
---@field id integer
---@field pid integer
local Process = {}

---Wait for the end. Giving up the wait ends the program.
---@async
---@return cru.ExecResult
function Process:wait() end

---@async
---@param text string
function Process:write(text) end

function Process:close_input() end

---End the program and what it started.
function Process:kill() end

---Start a program that runs beside this code.
---@param program string
---@param args (string|number)[]
---@param options? cru.SpawnOptions
---@return cru.Process
function cru.shell.spawn(program, args, options) end

---The path of a program.
---@param program string
---@return string?
function cru.shell.which(program) end

cru.http = {}

---@class cru.HttpOptions
---@field headers? table<string, string|number>
---@field body? string
---@field json? any sent as JSON
---@field query? table<string, string|number> added to the URL's own
---@field timeout? number seconds for everything; 30
---@field follow_redirects? boolean true

---@class cru.HttpRequest: cru.HttpOptions
---@field url string
---@field method? string GET

---@class cru.HttpResponse
---@field status integer 0 where no whole answer came
---@field ok boolean a status from 200 to 299
---@field headers table<string, string> names in lower case
---@field body string
---@field error? string

---@async
---@param url string
---@param options? cru.HttpOptions
---@return cru.HttpResponse
function cru.http.get(url, options) end

---@async
---@param url string
---@param options? cru.HttpOptions
---@return cru.HttpResponse
function cru.http.post(url, options) end

---@async
---@param url string
---@param options? cru.HttpOptions
---@return cru.HttpResponse
function cru.http.put(url, options) end

---@async
---@param url string
---@param options? cru.HttpOptions
---@return cru.HttpResponse
function cru.http.patch(url, options) end

---@async
---@param url string
---@param options? cru.HttpOptions
---@return cru.HttpResponse
function cru.http.delete(url, options) end

---@async
---@param request cru.HttpRequest
---@return cru.HttpResponse
function cru.http.request(request) end

-- Files, storage, paths, settings -----------------------------------------------------------------------------------------------------

---Relative paths begin at the session's workspace. What cannot be done raises.
cru.fs = {}

---@param path string
---@return string content
function cru.fs.read(path) end

---Replace a file at one stroke, or make it.
---@param path string
---@param content string
function cru.fs.write(path, content) end

---@param path string
---@param content string
function cru.fs.append(path, content) end

---@param path string
---@return boolean
function cru.fs.exists(path) end

---@param path string
---@return boolean
function cru.fs.is_file(path) end

---@param path string
---@return boolean
function cru.fs.is_dir(path) end

---The names in a folder, sorted.
---@param path string
---@return string[]
function cru.fs.list(path) end

---Make a folder and those above it; one that exists is fine.
---@param path string
function cru.fs.mkdir(path) end

---@class cru.RemoveOptions
---@field recursive? boolean a folder with all that is in it

---@param path string
---@param options? cru.RemoveOptions
function cru.fs.remove(path, options) end

---@param from string
---@param to string a name, not a folder
function cru.fs.copy(from, to) end

---@param from string
---@param to string
function cru.fs.rename(from, to) end

---What a plugin keeps, by key. Each plugin sees its own.
cru.storage = {}

---@param key string
---@param value any strings, numbers, booleans and tables of them
function cru.storage.set(key, value) end

---@param key string
---@return any value nil where there is none
function cru.storage.get(key) end

---@param prefix? string
---@return string[] keys sorted
function cru.storage.list(prefix) end

---@param pattern string a glob for keys
---@return table<string, any> values by key
function cru.storage.find(pattern) end

---@param key string
---@return boolean existed
function cru.storage.delete(key) end

---A folder that is not configured raises.
cru.paths = {}

---The folder of a plugin's own files, made where it is missing.
---@param plugin? string the plugin that calls
---@return string
function cru.paths.state(plugin) end

---@param kiln? string may be left out where there is one only
---@return string
function cru.paths.kiln(kiln) end

---@param session? string the session of the call
---@return string
function cru.paths.workspace(session) end

---@param session? string the session of the call
---@return string
function cru.paths.session(session) end

---What stands before an absolute part is dropped.
---@param ... string
---@return string
function cru.paths.join(...) end

cru.plugin = {}

---The settings of the plugin that looks: `[plugins.NAME]` in config.toml.
---@class cru.PluginConfig
---@field [string] any
cru.plugin.config = {}

---@param key string with dots into tables
---@return any
function cru.plugin.config.get(key) end

cru.config = {}

---@param key string "plugin.key"
---@return any
function cru.config.get(key) end

-- Notes -------------------------------------------------------------------------------------------------------------------------------

---@class cru.NoteId
---@field kiln string
---@field path string

---@class cru.FoundNote: cru.NoteId
---@field title string
---@field score number
---@field snippet string
---@field tags string[]

---@class cru.NoteInfo: cru.NoteId
---@field title string
---@field tags string[]
---@field links string[]
---@field modified number seconds since 1970

---@class cru.NoteOptions
---@field kiln? string may be left out where there is one only

---@class cru.SearchOptions
---@field kilns? string[]
---@field limit? integer 10

---@class cru.ListOptions
---@field kilns? string[]
---@field folder? string

cru.kiln = {}

---@async
---@param query string
---@param options? cru.SearchOptions
---@return cru.FoundNote[]
function cru.kiln.search(query, options) end

---@async
---@param options? cru.ListOptions
---@return cru.NoteInfo[]
function cru.kiln.list(options) end

---@async
---@param path string
---@param options? cru.NoteOptions
---@return string text
function cru.kiln.read(path, options) end

---@async
---@param path string
---@param options? cru.NoteOptions
---@return cru.NoteInfo?
function cru.kiln.info(path, options) end

---The wikilinks of a note, as they are written.
---@async
---@param path string
---@param options? cru.NoteOptions
---@return string[]
function cru.kiln.links(path, options) end

---The notes that link to a note.
---@async
---@param path string
---@param options? cru.NoteOptions
---@return cru.NoteId[]
function cru.kiln.backlinks(path, options) end

---@async
---@param path string
---@param text string
---@param options? cru.NoteOptions
---@return "created"|"modified"|"unchanged"
function cru.kiln.write(path, text, options) end

---@async
---@param path string
---@param options? cru.NoteOptions
---@return boolean existed
function cru.kiln.delete(path, options) end

---Move a note and repoint the links to it.
---@async
---@param path string
---@param destination string
---@param options? cru.NoteOptions
---@return cru.NoteId[] changed
function cru.kiln.rename(path, destination, options) end

cru.graph = {}

---@async
---@param path string
---@param options? cru.NoteOptions
---@return string[]
function cru.graph.links(path, options) end

---@async
---@param path string
---@param options? cru.NoteOptions
---@return cru.NoteId[]
function cru.graph.backlinks(path, options) end

-- Sessions and tools ------------------------------------------------------------------------------------------------------------------

---@class cru.Session
---@field id string
---@field workspace? string
---@field model string
---@field running boolean
---@field parent? string of a subagent

cru.sessions = {}

---@return cru.Session[]
function cru.sessions.list() end

---@param session? string the session of the call
---@return cru.Session?
function cru.sessions.get(session) end

---@class cru.SendOptions
---@field when? "idle"|"now" "idle" waits for the running turn, "now" joins it

---@async
---@param session string
---@param text string
---@param options? cru.SendOptions
function cru.sessions.send(session, text, options) end

---Have a function told each record of a session, one after the other.
---@param session string
---@param fn fun(record: table<string, any>)
---@return fun() ends it
function cru.sessions.subscribe(session, fn) end

---@class cru.SessionOptions
---@field session? string the session of the call

---@class cru.ToolResult
---@field ok boolean
---@field result string
---@field error? string

---@class cru.Tool
---@field name string
---@field description string
---@field parameters table<string, any> a JSON schema

cru.tools = {}

---@async
---@param name string
---@param args? table<string, any>
---@param options? cru.SessionOptions
---@return cru.ToolResult
function cru.tools.call(name, args, options) end

---@param options? cru.SessionOptions
---@return cru.Tool[]
function cru.tools.list(options) end

---@param names string[] what the next turns offer
---@param options? cru.SessionOptions
function cru.tools.set_active(names, options) end

---@param options? cru.SessionOptions
---@return string[]
function cru.tools.get_active(options) end

cru.context = {}

---@class cru.AttachOptions
---@field key? string a later text of the same key replaces it
---@field session? string the session of the call

---Put text into the session's next context, 2,000 characters in all.
---@param text string
---@param options? cru.AttachOptions
---@return boolean attached
---@return string? why_not
function cru.context.attach(text, options) end

---@class cru.NotifyOptions
---@field level? "info"|"warn"|"error"
---@field session? string the session of the call

---Tell the users.
---@param text string
---@param options? cru.NotifyOptions|"info"|"warn"|"error"
function cru.notify(text, options) end

---@class cru.IsolationOptions
---@field tools string[]
---@field reason? string
---@field session? string the session of the call; while a plugin is loaded, all

---From now on these tools run only where a hook has replaced the call.
---@param options cru.IsolationOptions
function cru.require_isolation(options) end

-- Helpers -----------------------------------------------------------------------------------------------------------------------------

---Fill in: `cru.fmt("Hello {name}", {name = "world"})`.
---@class cru.Fmt
---@overload fun(template: string, values?: table<string, any>): string
cru.fmt = {}

---@param text string
---@param characters integer at most so many, the ending counted
---@param ending? string …
---@return string
function cru.fmt.truncate(text, characters, ending) end

---@param text string
---@return string
function cru.fmt.trim(text) end

---@param text string
---@param by? integer|string spaces (2), or a text
---@return string
function cru.fmt.indent(text, by) end

---@param count number
---@param one string
---@param many? string `one` with an s
---@return string
function cru.fmt.plural(count, one, many) end

---@param bytes number
---@return string
function cru.fmt.size(bytes) end

---@param seconds number
---@return string
function cru.fmt.duration(seconds) end

---@param rows (string|number)[][]
---@param header? string[]
---@return string
function cru.fmt.table(rows, header) end

---@class cru.RetryOptions
---@field max_retries? integer 3
---@field base_delay? number seconds, doubled each time; 1
---@field max_delay? number seconds; 60
---@field jitter? boolean true
---@field retryable? fun(error: any): boolean

---Call a function until it does not raise. An error table with `after` says how many seconds to wait at least.
---@async
---@generic T
---@param fn fun(): T
---@param options? cru.RetryOptions
---@return T
function cru.retry(fn, options) end

cru.ratelimit = {}

---@class cru.LimiterOptions
---@field capacity? integer tokens; 5
---@field interval? number seconds until one comes back; 1

---@class cru.Limiter
local Limiter = {}

---Wait for a token.
---@async
function Limiter:acquire() end

---@return boolean
function Limiter:try_acquire() end

---@return integer
function Limiter:remaining() end

---@param options? cru.LimiterOptions
---@return cru.Limiter
function cru.ratelimit.new(options) end

cru.emitter = {}

---@class cru.Emitter
local Emitter = {}

---@param event string
---@param fn fun(...)
---@return integer id
function Emitter:on(event, fn) end

---@param event string
---@param fn fun(...)
---@return integer id
function Emitter:once(event, fn) end

---@param event string
---@param id integer
---@return boolean
function Emitter:off(event, id) end

---@param event string
---@param ... any
function Emitter:emit(event, ...) end

---@return cru.Emitter
function cru.emitter.new() end

---Each returns the value, or raises at the caller of the function that checks.
cru.check = {}

---@class cru.CheckOptions
---@field optional? boolean nil is fine

---@class cru.NumberOptions: cru.CheckOptions
---@field min? number
---@field max? number

---@param value any
---@param name? string
---@param options? cru.CheckOptions
---@return string
function cru.check.string(value, name, options) end

---@param value any
---@param name? string
---@param options? cru.NumberOptions
---@return number
function cru.check.number(value, name, options) end

---@param value any
---@param name? string
---@param options? cru.CheckOptions
---@return boolean
function cru.check.boolean(value, name, options) end

---@param value any
---@param name? string
---@param options? cru.CheckOptions
---@return table
function cru.check.table(value, name, options) end

---@param value any
---@param name? string
---@param options? cru.CheckOptions
---@return function
function cru.check.func(value, name, options) end

---@param value any
---@param allowed any[]
---@param name? string
---@param options? cru.CheckOptions
---@return any
function cru.check.one_of(value, allowed, name, options) end
