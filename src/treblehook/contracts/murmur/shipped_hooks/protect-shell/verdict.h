/* What is found out about a command: the first thing that speaks against it, and the folders in which it may be. */

#ifndef VERDICT_H
#define VERDICT_H

#include "../common/paths.h"

static hook_text refusal;

HELPER bool refused(void) { return refusal.size > 0; }

HELPER void refuse(hook_text reason) {
    if (!refused()) refusal = reason;
}

HELPER void cannot_tell(const char *what, hook_text of) {
    refuse(
        joined(TEXT("it cannot be told what is written: "), unusable(what), of.size > 0 ? joined(TEXT(" ("), shown(of), TEXT(")")) : of));
}

/* The folders in which the next command may run. After `cd` both the new and, unless the command is behind `&&`, the old one. */
enum { MOST_FOLDERS = 8 };
typedef struct {
    uint32_t count;
    bool unknown;
    path items[MOST_FOLDERS];
} folders;
static folders here, otherwise;

HELPER void add_folders(folders *to, const folders *from) {
    to->unknown |= from->unknown;
    for (uint32_t i = 0; i < from->count; i++) {
        if (to->count == MOST_FOLDERS)
            to->unknown = true;
        else
            to->items[to->count++] = from->items[i];
    }
}

/* The list of commands that `&&` held together is over. */
HELPER void any_folder(void) {
    add_folders(&here, &otherwise);
    otherwise = (folders){0};
}

HELPER void change_folder(hook_text to, bool known) {
    folders next = {0};
    next.unknown = !known || here.unknown;
    for (uint32_t i = 0; i < here.count; i++)
        if (!read_path(to, &here.items[i], &next.items[next.count++])) next.unknown = true;
    add_folders(&otherwise, &here);
    here = next;
}

/* One word of a command. `known` is false where the shell puts in something that the text does not tell. */
typedef struct {
    hook_text text;
    bool known, quoted;
} word;

/* A path that is written to; with `below_too` everything below it is. */
HELPER void target(word at, bool below_too) {
    if (refused()) return;
    if (!at.known) return cannot_tell("the target comes from something else than the text", at.text);
    bool absolute = at.text.size > 0 && (at.text.data[0] == '/' || at.text.data[0] == HOME_MARK);
    if (here.unknown && !absolute) return cannot_tell("the folder is not known", at.text);
    for (uint32_t i = 0; i < here.count || (absolute && i == 0); i++) {
        static const path root = {.root = ABSOLUTE};
        path found;
        if (!read_path(at.text, here.count > 0 ? &here.items[i] : &root, &found))
            return cannot_tell("the path is too long or too odd", at.text);
        standing how = judge(&found, below_too);
        if (how == PROTECTED) return refuse(joined(shown(at.text), TEXT(" is protected"), (hook_text){0}));
        if (how == HOLDS) return refuse(joined(shown(at.text), TEXT(" holds, or may hold, what is protected"), (hook_text){0}));
        if (how == CANNOT_TELL) return cannot_tell("the path may hold what is protected", at.text);
    }
}

HELPER word word_of(hook_text text) { return (word){text, true, true}; }

#endif
