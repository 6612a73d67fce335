// A hook in C, freestanding: refuses a shell call that has the word `rm` among its arguments, and passes everything else.
// Up to 16 values come as arguments; more come as the address of a record, laid out by the canonical ABI.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef double f64;

#define EXPORT(name) __attribute__((export_name(name), visibility("default")))

typedef struct { const u8 *data; u32 size; } text;
typedef struct { u8 is_some; text value; } maybe_text;
typedef struct {
    u32 turn;
    text binary, command;
    const text *argv;
    u32 argc;
    maybe_text script, recipe;
} shell_event;

// The tag of the result at 0, the tag of hook-output at 4, what it carries at 8.
static struct { u32 failed; u32 arm; text value; } result;

enum { NONE = 0, DENY = 6 };

static u8 heap[1 << 20] __attribute__((aligned(16)));
static u32 next;

EXPORT("cabi_realloc") void *cabi_realloc(void *old, u32 had, u32 align, u32 size) {
    u32 at = (next + align - 1) & -align;
    if (at + size > sizeof heap) __builtin_trap();
    next = at + size;
    for (u32 i = 0; i < had; i++) heap[at + i] = ((u8 *)old)[i];
    return heap + at;
}

static void *pass(void) {
    next = 0;
    result.failed = 0;
    result.arm = NONE;
    return &result;
}

EXPORT("on-shell") void *on_shell(const shell_event *event) {
    static const u8 reason[] = "leave the treasure where it is";
    pass();
    for (u32 i = 0; i < event->argc; i++) {
        const text *word = &event->argv[i];
        if (word->size == 2 && word->data[0] == 'r' && word->data[1] == 'm') {
            result.arm = DENY;
            result.value.data = reason;
            result.value.size = sizeof reason - 1;
        }
    }
    return &result;
}

EXPORT("on-stage") void *on_stage(u32 a, u32 b) { return pass(); }
EXPORT("on-session-start") void *on_session_start(u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u32 g, u32 h, u32 i, u32 j) { return pass(); }
EXPORT("on-task-start") void *on_task_start(u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u64 g, u64 h, u64 i, u64 j) { return pass(); }
EXPORT("on-inference") void *on_inference(u32 event) { return pass(); }
EXPORT("on-tool-call") void *on_tool_call(u32 a, u32 b, u32 c, u64 d, u32 e, u32 f, u32 g, u64 h, u64 i, u32 j, u32 k) { return pass(); }
EXPORT("on-compaction") void *on_compaction(u32 a, u32 b, u64 c, f64 d, u32 e, u32 f, u32 g, u32 h, u32 i, u32 j) { return pass(); }
EXPORT("on-task-end") void *on_task_end(u32 a, u32 b, u32 c, u32 d) { return pass(); }
EXPORT("on-session-end") void *on_session_end(u32 a, u64 b, u64 c, u32 d, u32 e, u64 f, u32 g, u32 h) { return pass(); }
