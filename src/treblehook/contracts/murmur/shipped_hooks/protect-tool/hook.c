/* Refuses a tool call whose input names a protected path, but for the tools that only read. It decides on the input alone. */

#include "../common/paths.h"

enum { LONGEST_PATH = 1024 };
static hook_text refusal;

static bool only_reads(hook_text tool) { return one_of(tool, "read glob grep note_search note_read"); }

/* Where the content of a file is handed over, it is no path. */
static bool is_content(hook_text tool, hook_text name) { return one_of(tool, "write edit note_write") && one_of(name, "content old new"); }

static void check_path(hook_text text) {
    static const path here = {.root = IN_WORKDIR};
    path found;
    if (begins(text, TEXT("file://"))) text = part(text, 7, text.size);
    builder home = {0};
    if (text.size > 0 && text.data[0] == '~' && (text.size == 1 || text.data[1] == '/')) {
        add_byte(&home, HOME_MARK);
        add(&home, part(text, 1, text.size));
    }
    if (!read_path(text, &here, &found) || judge(&found, false) == PROTECTED)
        refusal = joined(shown(text), TEXT(" is protected"), (hook_text){0});
    else if (judge(&found, false) == CANNOT_TELL)
        refusal = joined(TEXT("it cannot be told whether this is protected: "), shown(text), (hook_text){0});
    else if (home.size > 0 && (!read_path(built(&home), &here, &found) || judge(&found, false) != SAFE))
        refusal = joined(shown(text), TEXT(" is protected"), (hook_text){0});
}

static void check(hook_text tool, const json *value) {
    if (refusal.size > 0 || is_content(tool, value->name)) return;
    /* A text of several lines, or a very long one, is no path. */
    if (value->kind == JSON_TEXT && value->text.size <= LONGEST_PATH && !has(value->text, '\n')) check_path(value->text);
    if (value->kind == JSON_OBJECT) {
        for (const json *member = value->first; member != NULL; member = member->next) {
            if (!is_content(tool, member->name) && member->name.size <= LONGEST_PATH) check_path(member->name);
        }
    }
    for (const json *inner = value->first; inner != NULL; inner = inner->next) check(tool, inner);
}

hook_answer on_tool_call(const tool_event *event) {
    if (event->outcome.is_some) return hook_pass();
    if (!protection_is_usable())
        return hook_deny(joined(TEXT("protect-tool: its configuration cannot be used: "), guarded.problem, (hook_text){0}));
    if (only_reads(event->tool_name)) return hook_pass();
    refusal = (hook_text){0};
    json *input = json_read(event->input);
    if (input == NULL) return hook_deny(TEXT("protect-tool: the input is no JSON that can be read"));
    check(event->tool_name, input);
    return refusal.size > 0 ? hook_deny(joined(TEXT("protect-tool: "), refusal, (hook_text){0})) : hook_pass();
}
