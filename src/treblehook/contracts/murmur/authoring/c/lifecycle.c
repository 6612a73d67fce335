/* What every murmur hook in C has: its memory, the nine functions under the names and with the arguments that the canonical ABI gives
   them, and an answer for those that the author has not written. Up to 16 values come as arguments; more come as the address of a record. */

#include "lifecycle.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define OPTIONAL __attribute__((weak))

void *memcpy(void *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    if (to <= from) return memcpy(to, from, size);
    while (size-- > 0) ((char *)to)[size] = ((const char *)from)[size];
    return to;
}

void *memset(void *at, int byte, size_t size) {
    for (size_t i = 0; i < size; i++) ((char *)at)[i] = (char)byte;
    return at;
}

int memcmp(const void *one, const void *other, size_t size) {
    const unsigned char *a = one, *b = other;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Memory: blocks that are used again for the next call, and one that only grows. */

enum { PAGE = 65536, LARGEST = 1 << 30 };
typedef struct block {
    struct block *next;
    uint32_t size, used;
} block;
static block *first, *current, *kept;

static block *new_block(uint32_t size) {
    if (size > LARGEST) __builtin_trap();
    uint32_t pages = (size + sizeof(block) + 16 + PAGE - 1) / PAGE;
    size_t at = __builtin_wasm_memory_grow(0, pages);
    if (at == (size_t)-1) __builtin_trap();
    block *made = (block *)(at * PAGE);
    made->next = NULL;
    made->size = pages * PAGE;
    made->used = (sizeof(block) + 15) & -16u;
    return made;
}

static void *take(block *from, uint32_t size) {
    void *at = (char *)from + from->used;
    from->used += (size + 15) & -16u;
    return at;
}

static bool has_room(const block *in, uint32_t size) { return size <= LARGEST && in->size - in->used >= ((size + 15) & -16u); }

static void *allocate(uint32_t size) {
    if (first == NULL) first = current = new_block(size);
    while (!has_room(current, size)) {
        if (current->next == NULL) current->next = new_block(size);
        current = current->next;
    }
    return take(current, size);
}

static void release(void) {
    for (block *each = first; each != NULL; each = each->next) each->used = (sizeof(block) + 15) & -16u;
    current = first;
}

void *hook_allocate(uint32_t size) { return memset(allocate(size), 0, size); }

void *hook_keep(uint32_t size) {
    if (kept == NULL || !has_room(kept, size)) kept = new_block(size);
    return memset(take(kept, size), 0, size);
}

EXPORT("cabi_realloc") void *cabi_realloc(void *old, uint32_t had, uint32_t align, uint32_t size) {
    (void)align;
    void *made = allocate(size);
    if (had > 0) memcpy(made, old, had < size ? had : size);
    return made;
}

/* Answers */

enum { NONE, REPLACE_CONTEXT, WRITE_MANIFESTS, ARTIFACT, REOPEN_TASK, SEED_CONTEXT, DENY };

static hook_answer answered(uint8_t arm, const void *items, uint32_t count) { return (hook_answer){0, arm, items, count}; }

hook_answer hook_pass(void) { return answered(NONE, NULL, 0); }
hook_answer hook_error(hook_text why) { return (hook_answer){1, 0, why.data, why.size}; }
hook_answer hook_deny(hook_text reason) { return answered(DENY, reason.data, reason.size); }
hook_answer hook_artifact(hook_text json) { return answered(ARTIFACT, json.data, json.size); }
hook_answer hook_reopen(hook_text feedback) { return answered(REOPEN_TASK, feedback.data, feedback.size); }
hook_answer hook_replace_context(const message *messages, uint32_t count) { return answered(REPLACE_CONTEXT, messages, count); }
hook_answer hook_seed_context(const message *messages, uint32_t count) { return answered(SEED_CONTEXT, messages, count); }
hook_answer hook_write_manifests(const tool_manifest *manifests, uint32_t count) { return answered(WRITE_MANIFESTS, manifests, count); }

static struct {
    uint8_t failed;
    union {
        struct {
            uint8_t arm;
            const void *items;
            uint32_t count;
        } answer;
        struct {
            const void *data;
            uint32_t size;
        } error;
    };
} result;

static void *told(hook_answer answer) {
    result.failed = answer.failed;
    if (answer.failed) {
        result.error.data = answer.items;
        result.error.size = answer.count;
    } else {
        result.answer.arm = answer.arm;
        result.answer.items = answer.items;
        result.answer.count = answer.count;
    }
    return &result;
}

/* The nine functions */

OPTIONAL hook_answer on_stage(const stage_event *event) { return hook_pass(); }
OPTIONAL hook_answer on_session_start(const session_context *context) { return hook_pass(); }
OPTIONAL hook_answer on_task_start(const task_start_event *event) { return hook_pass(); }
OPTIONAL hook_answer on_inference(const inference_event *event) { return hook_pass(); }
OPTIONAL hook_answer on_tool_call(const tool_event *event) { return hook_pass(); }
OPTIONAL hook_answer on_shell(const shell_event *event) { return hook_pass(); }
OPTIONAL hook_answer on_compaction(const compaction_event *event) { return hook_pass(); }
OPTIONAL hook_answer on_task_end(const task_end_event *event) { return hook_pass(); }
OPTIONAL hook_answer on_session_end(const session_end_event *event) { return hook_pass(); }

EXPORT("on-stage") void *entered_stage(const hook_text *items, uint32_t count) {
    stage_event event = {{items, count}};
    return told(on_stage(&event));
}
EXPORT("on-session-start")
void *entered_session_start(const char *name, uint32_t name_size, const char *version, uint32_t version_size, const char *id,
                            uint32_t id_size, const char *model, uint32_t model_size, const hook_text *items, uint32_t count) {
    session_context context = {{name, name_size}, {version, version_size}, {id, id_size}, {model, model_size}, {items, count}};
    return told(on_session_start(&context));
}
EXPORT("on-task-start")
void *entered_task_start(const char *task, uint32_t task_size, const char *context, uint32_t context_size, const char *source,
                         uint32_t source_size, uint64_t input_bytes, uint64_t budget, uint64_t window, uint64_t prior) {
    task_start_event event = {{task, task_size}, {context, context_size}, {source, source_size}, input_bytes, budget, window, prior};
    return told(on_task_start(&event));
}
EXPORT("on-inference") void *entered_inference(const inference_event *event) { return told(on_inference(event)); }
EXPORT("on-tool-call")
void *entered_tool_call(uint32_t turn, const char *name, uint32_t name_size, uint64_t input_bytes, const char *input, uint32_t input_size,
                        uint32_t has_outcome, uint64_t output_bytes, uint64_t duration, const char *status, uint32_t status_size) {
    tool_event event = {
        turn, {name, name_size}, input_bytes, {input, input_size}, {has_outcome != 0, {output_bytes, duration, {status, status_size}}}};
    return told(on_tool_call(&event));
}
EXPORT("on-shell") void *entered_shell(const shell_event *event) { return told(on_shell(event)); }
EXPORT("on-compaction")
void *entered_compaction(const message *messages, uint32_t count, uint64_t tokens, double threshold, uint32_t has_model, const char *model,
                         uint32_t model_size, uint32_t has_prompt, const char *prompt, uint32_t prompt_size) {
    compaction_event event = {
        {messages, count}, tokens, threshold, {has_model != 0, {model, model_size}}, {has_prompt != 0, {prompt, prompt_size}}};
    return told(on_compaction(&event));
}
EXPORT("on-task-end") void *entered_task_end(const char *task, uint32_t task_size, const char *status, uint32_t status_size) {
    task_end_event event = {{task, task_size}, {status, status_size}};
    return told(on_task_end(&event));
}
EXPORT("on-session-end")
void *entered_session_end(uint32_t turns, uint64_t input_tokens, uint64_t output_tokens, uint32_t tool_calls, uint32_t shell_calls,
                          uint64_t duration, const char *status, uint32_t status_size) {
    session_end_event event = {turns, input_tokens, output_tokens, tool_calls, shell_calls, duration, {status, status_size}};
    return told(on_session_end(&event));
}

EXPORT("cabi_post_on-stage") void left_stage(void *at) { release(); }
EXPORT("cabi_post_on-session-start") void left_session_start(void *at) { release(); }
EXPORT("cabi_post_on-task-start") void left_task_start(void *at) { release(); }
EXPORT("cabi_post_on-inference") void left_inference(void *at) { release(); }
EXPORT("cabi_post_on-tool-call") void left_tool_call(void *at) { release(); }
EXPORT("cabi_post_on-shell") void left_shell(void *at) { release(); }
EXPORT("cabi_post_on-compaction") void left_compaction(void *at) { release(); }
EXPORT("cabi_post_on-task-end") void left_task_end(void *at) { release(); }
EXPORT("cabi_post_on-session-end") void left_session_end(void *at) { release(); }
