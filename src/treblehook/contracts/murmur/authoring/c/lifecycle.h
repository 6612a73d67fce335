/* A murmur hook in C: the types of murmur:hook@0.9.0 as they lie in memory, and what a hook may ask its host.

   Define the functions that you need, as `hook_answer on_shell(const shell_event *event)`; lifecycle.c, which is compiled with your file,
   answers for the others. Texts are UTF-8 and do not end with a zero. Everything that you are handed, and everything from
   hook_allocate, is gone when your function has returned; hook_keep gives memory that stays. */

#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *data;
    uint32_t size;
} hook_text;
typedef struct {
    bool is_some;
    hook_text value;
} maybe_text;
typedef struct {
    const hook_text *items;
    uint32_t count;
} text_list;

#define TEXT(literal) ((hook_text){(literal), sizeof(literal) - 1})

/* Messages */

enum { BY_REPLACE_CONTEXT = 0, BY_SEED_CONTEXT = 1 };
typedef struct {
    bool is_some;
    uint8_t value;
} maybe_insertion;
typedef struct {
    hook_text role, content;
    maybe_text id, source_id;
    maybe_insertion inserted_by;
} message;
typedef struct {
    const message *items;
    uint32_t count;
} message_list;
typedef struct {
    hook_text binary_name, content;
} tool_manifest;

/* Events */

typedef struct {
    text_list shell_allow;
} stage_event;
typedef struct {
    hook_text capsule_name, capsule_version, session_id, model;
    text_list capabilities;
} session_context;
typedef struct {
    hook_text task_id, context_id, source;
    uint64_t input_bytes, budget_tokens, context_window, prior_tokens;
} task_start_event;
typedef struct {
    hook_text task_id, exit_status;
} task_end_event;
typedef struct {
    uint32_t turn;
    uint64_t input_tokens, output_tokens;
    hook_text decision;
    maybe_text tool_name, prompt, output, tools;
} inference_event;
typedef struct {
    uint64_t output_bytes, duration_ms;
    hook_text status;
} tool_outcome;
typedef struct {
    uint32_t turn;
    hook_text tool_name;
    uint64_t input_bytes;
    hook_text input;
    struct {
        bool is_some;
        tool_outcome value;
    } outcome;
} tool_event;
typedef struct {
    int32_t exit_code;
    hook_text standard_output, standard_error;
    uint64_t stdout_bytes, stderr_bytes, duration_ms;
} shell_outcome;
typedef struct {
    uint32_t turn;
    hook_text binary, command;
    text_list argv;
    maybe_text script, recipe;
    struct {
        bool is_some;
        shell_outcome value;
    } outcome;
} shell_event;
typedef struct {
    message_list messages;
    uint64_t session_tokens;
    double threshold;
    maybe_text model, system_prompt;
} compaction_event;
typedef struct {
    uint32_t total_turns;
    uint64_t total_input_tokens, total_output_tokens;
    uint32_t total_tool_calls, total_shell_calls;
    uint64_t duration_ms;
    hook_text exit_status;
} session_end_event;

/* Answers */

typedef struct {
    uint8_t failed, arm;
    const void *items;
    uint32_t count;
} hook_answer;

hook_answer hook_pass(void);
hook_answer hook_error(hook_text why);
hook_answer hook_deny(hook_text reason);
hook_answer hook_artifact(hook_text json);
hook_answer hook_reopen(hook_text feedback);
hook_answer hook_replace_context(const message *messages, uint32_t count);
hook_answer hook_seed_context(const message *messages, uint32_t count);
hook_answer hook_write_manifests(const tool_manifest *manifests, uint32_t count);

/* Your functions */

hook_answer on_stage(const stage_event *event);
hook_answer on_session_start(const session_context *context);
hook_answer on_task_start(const task_start_event *event);
hook_answer on_inference(const inference_event *event);
hook_answer on_tool_call(const tool_event *event);
hook_answer on_shell(const shell_event *event);
hook_answer on_compaction(const compaction_event *event);
hook_answer on_task_end(const task_end_event *event);
hook_answer on_session_end(const session_end_event *event);

/* Memory, zeroed: until your function returns, and as long as the hook lives. */

void *hook_allocate(uint32_t size);
void *hook_keep(uint32_t size);

/* What a hook may ask its host. Only what you call is imported. Layouts are those of the canonical ABI. */

#define IMPORT(interface, function) __attribute__((import_module(interface), import_name(function)))

IMPORT("murmur:runtime/tokens@0.4.0", "count") uint64_t count_tokens(const char *data, uint32_t size);

typedef struct {
    uint8_t failed; /* then `text` is why, and nothing else is there */
    uint8_t padding[7];
    hook_text text, model_used;
    uint64_t input_tokens, output_tokens;
} inference_result;
IMPORT("murmur:runtime/inference@0.4.0", "run-inference")
void run_inference(const message *messages, uint32_t count, uint32_t has_system_prompt, const char *system_prompt,
                   uint32_t system_prompt_size, uint32_t has_model, const char *model, uint32_t model_size, inference_result *result);

enum { AS_GIVEN = 0, ORIGINAL = 1 };
enum { NOT_GRANTED = 0, NO_TASK = 1, NO_OUTPUT = 2, OUT_OF_RANGE = 3 };
typedef struct {
    uint8_t failed;
    union {
        uint64_t length;
        uint8_t error;
    };
} length_result;
typedef struct {
    uint8_t failed;
    union {
        hook_text text;
        uint8_t error;
    };
} read_result;
IMPORT("murmur:task-io/read@0.1.0", "input-len") void input_length(uint32_t form, length_result *result);
IMPORT("murmur:task-io/read@0.1.0", "read-input")
void read_input(uint32_t form, uint64_t offset, uint64_t max_bytes, read_result *result);
IMPORT("murmur:task-io/read@0.1.0", "output-len") void output_length(length_result *result);
IMPORT("murmur:task-io/read@0.1.0", "read-output") void read_output(uint64_t offset, uint64_t max_bytes, read_result *result);

typedef struct {
    uint8_t failed;
    union {
        struct {
            message_list messages;
            maybe_text next_cursor;
            uint32_t total;
        };
        hook_text error;
    };
} page_result;
IMPORT("murmur:conversation/read@0.2.0", "read-messages")
void read_messages(uint32_t has_cursor, const char *cursor, uint32_t cursor_size, uint32_t limit, page_result *result);

/* Of WASI 0.2: variables, the clock, chance, and the folders that the operator granted. */

typedef struct {
    hook_text name, value;
} variable;
typedef struct {
    const variable *items;
    uint32_t count;
} variable_list;
IMPORT("wasi:cli/environment@0.2.0", "get-environment") void get_environment(variable_list *result);

typedef struct {
    uint64_t seconds;
    uint32_t nanoseconds;
} wall_time;
IMPORT("wasi:clocks/wall-clock@0.2.0", "now") void wall_clock_now(wall_time *result);
IMPORT("wasi:random/random@0.2.0", "get-random-u64") uint64_t random_u64(void);

typedef struct {
    int32_t descriptor;
    hook_text name;
} folder;
typedef struct {
    const folder *items;
    uint32_t count;
} folder_list;
typedef struct {
    uint8_t failed;
    union {
        int32_t descriptor;
        uint8_t error;
    };
} open_result;
typedef struct {
    uint8_t failed;
    union {
        uint64_t count;
        uint8_t error;
    };
} write_result;
typedef struct {
    uint8_t failed, error;
} done_result;
typedef struct {
    uint8_t failed;
    union {
        uint8_t error;
        struct {
            uint8_t type;
            uint64_t link_count, size;
            uint64_t times[9];
        };
    };
} stat_result;
enum { FOLLOW_LINKS = 1 };
enum { OPEN_CREATE = 1, OPEN_DIRECTORY = 2, OPEN_EXCLUSIVE = 4, OPEN_TRUNCATE = 8 };
enum { MAY_READ = 1, MAY_WRITE = 2 };
IMPORT("wasi:filesystem/preopens@0.2.0", "get-directories") void get_directories(folder_list *result);
IMPORT("wasi:filesystem/types@0.2.0", "[method]descriptor.open-at")
void open_at(int32_t folder, uint32_t path_flags, const char *path, uint32_t size, uint32_t open_flags, uint32_t flags,
             open_result *result);
IMPORT("wasi:filesystem/types@0.2.0", "[method]descriptor.write")
void write_at(int32_t file, const char *data, uint32_t size, uint64_t offset, write_result *result);
IMPORT("wasi:filesystem/types@0.2.0", "[method]descriptor.stat") void stat_of(int32_t file, stat_result *result);
IMPORT("wasi:filesystem/types@0.2.0", "[method]descriptor.create-directory-at")
void create_directory_at(int32_t folder, const char *path, uint32_t size, done_result *result);
IMPORT("wasi:filesystem/types@0.2.0", "[resource-drop]descriptor") void drop_descriptor(int32_t descriptor);

#endif
