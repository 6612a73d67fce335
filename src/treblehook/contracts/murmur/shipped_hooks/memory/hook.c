/* Reads the conversation from its newest message on, and begins the task with as much of it as the budget holds. */

#include "../common/json.h"

enum { PAGE_SIZE = 100, MOST_MESSAGES = 1000 };

static bool is_blank(hook_text content) {
    if (one_of(content, "[] \"\" null {}")) return true;
    for (uint32_t i = 0; i < content.size; i++)
        if (!has(TEXT(" \t\r\n"), content.data[i])) return false;
    return true;
}

/* What the host counts: the message alone, as a list of one. */
static uint64_t cost(const message *of) {
    builder alone = {0};
    add(&alone, TEXT("[{\"role\":"));
    add_quoted(&alone, of->role);
    add(&alone, TEXT(",\"content\":"));
    add(&alone, of->content);
    add(&alone, TEXT("}]"));
    return count_tokens(alone.data, alone.size);
}

/* The result of a tool as a user would tell it: its call is not there to go with it. */
static hook_text told(hook_text content) {
    json *result = json_read(content);
    json *body = json_get(result, TEXT("body"));
    builder made = {0};
    add(&made, TEXT("[{\"type\":\"text\",\"text\":"));
    add_quoted(&made, joined(TEXT("Result of a tool: "), body != NULL && body->kind == JSON_TEXT ? body->text : content, (hook_text){0}));
    add(&made, TEXT("}]"));
    return built(&made);
}

/* The texts among an assistant's content blocks; its calls of tools would be left without results. */
static hook_text spoken(hook_text content) {
    json *blocks = json_read(content);
    if (blocks == NULL || blocks->kind != JSON_LIST) return content;
    builder made = {0};
    for (json *block = blocks->first; block != NULL; block = block->next) {
        json *text = json_get(block, TEXT("text"));
        if (text == NULL || text->kind != JSON_TEXT || text->text.size == 0) continue;
        add(&made, made.size == 0 ? TEXT("[") : TEXT(","));
        add(&made, TEXT("{\"type\":\"text\",\"text\":"));
        add_quoted(&made, text->text);
        add_byte(&made, '}');
    }
    if (made.size == 0) return (hook_text){0};
    add_byte(&made, ']');
    return built(&made);
}

/* The message as it is seeded; false where it is left out. */
static bool fitting(const message *from, message *made) {
    bool tool = same(from->role, TEXT("tool"));
    if (same(from->role, TEXT("system")) || is_blank(from->content)) return false;
    if (from->inserted_by.is_some && from->inserted_by.value == BY_SEED_CONTEXT) return false;
    *made = (message){.role = tool ? TEXT("user") : from->role, .content = tool ? told(from->content) : spoken(from->content)};
    made->source_id = from->id;
    return made->content.size > 0;
}

hook_answer on_task_start(const task_start_event *event) {
    /* In a conversation that goes on, the task finds its messages already. */
    if (event->budget_tokens == 0 || event->prior_tokens > 0) return hook_pass();
    message *seed = hook_allocate(MOST_MESSAGES * sizeof *seed);
    uint32_t free = MOST_MESSAGES;
    uint64_t left = event->budget_tokens;
    maybe_text cursor = {0};
    do {
        page_result page;
        read_messages(cursor.is_some, cursor.value.data, cursor.value.size, PAGE_SIZE, &page);
        if (page.failed) return hook_error(joined(TEXT("the conversation cannot be read: "), page.error, (hook_text){0}));
        for (uint32_t i = 0; i < page.messages.count; i++) {
            message next;
            if (!fitting(&page.messages.items[i], &next)) continue;
            uint64_t tokens = cost(&next);
            if (tokens > left || free == 0) goto full;
            left -= tokens;
            seed[--free] = next;
        }
        cursor = page.next_cursor;
    } while (cursor.is_some);
full:
    return free < MOST_MESSAGES ? hook_seed_context(seed + free, MOST_MESSAGES - free) : hook_pass();
}
