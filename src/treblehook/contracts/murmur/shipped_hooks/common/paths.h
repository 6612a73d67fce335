/* Protected paths: reading them from the configuration, and asking whether a path is one of them, leads to one, or lies above one.

   A path is text in which three bytes mean what a shell's pattern means. Nothing is looked up on disk. */

#ifndef PATHS_H
#define PATHS_H

#include "host.h"
#include "json.h"

enum { ANY_BYTES = 1, ANY_BYTE = 2, HOME_MARK = 3 };
enum { MOST_SEGMENTS = 48, MOST_PATTERNS = 64, MOST_BYTES = 1024 };

typedef enum { IN_WORKDIR, ABSOLUTE, IN_HOME } path_root;
typedef struct {
    path_root root;
    uint32_t ups; /* how far above its root it begins */
    uint32_t count;
    hook_text segments[MOST_SEGMENTS];
} path;

typedef struct {
    hook_text problem; /* why the configuration cannot be used; then everything is refused */
    uint32_t count;
    path patterns[MOST_PATTERNS];
    hook_text written[MOST_PATTERNS];
    bool has_workdir, has_home;
    path workdir, home;
} protection;

static protection guarded;

HELPER bool is_stars(hook_text segment) { return segment.size == 2 && segment.data[0] == ANY_BYTES && segment.data[1] == ANY_BYTES; }

/* One more segment; `..` takes one away. False where it cannot be told. */
HELPER bool push_segment(path *to, hook_text segment) {
    if (segment.size == 0 || same(segment, TEXT("."))) return true;
    if (same(segment, TEXT(".."))) {
        if (to->count > 0 && is_stars(to->segments[to->count - 1])) return false;
        if (to->count > 0)
            to->count--;
        else if (to->root != ABSOLUTE)
            to->ups++;
        return true;
    }
    if (to->count == MOST_SEGMENTS) return false;
    to->segments[to->count++] = segment;
    return true;
}

HELPER bool push_text(path *to, hook_text text) {
    uint32_t start = 0;
    for (uint32_t at = 0; at <= text.size; at++)
        if (at == text.size || text.data[at] == '/') {
            if (!push_segment(to, part(text, start, at))) return false;
            start = at + 1;
        }
    return true;
}

/* Puts a path that is relative to a folder behind that folder. */
HELPER bool rebase(path *inner, const path *folder) {
    path whole = *folder;
    for (uint32_t i = 0; i < inner->ups; i++)
        if (!push_segment(&whole, TEXT(".."))) return false;
    for (uint32_t i = 0; i < inner->count; i++)
        if (!push_segment(&whole, inner->segments[i])) return false;
    *inner = whole;
    return true;
}

/* The path that `text` names in the folder `in`. False where it is too long to tell. */
HELPER bool read_path(hook_text text, const path *in, path *found) {
    if (text.size > MOST_BYTES) return false;
    path made = *in;
    if (text.size > 0 && text.data[0] == '/')
        made.root = ABSOLUTE, made.ups = made.count = 0;
    else if (text.size > 0 && text.data[0] == HOME_MARK) {
        made.root = IN_HOME, made.ups = made.count = 0;
        text = part(text, 1, text.size);
    }
    if (!push_text(&made, text)) return false;
    if (made.root == IN_HOME && guarded.has_home && !rebase(&made, &guarded.home)) return false;
    if (made.root == IN_WORKDIR && guarded.has_workdir && !rebase(&made, &guarded.workdir)) return false;
    *found = made;
    return true;
}

/* Whether some text fits both segments; each may have wildcards. */
HELPER bool segments_meet(hook_text a, hook_text b) {
    static bool row[MOST_BYTES + 1];
    if (a.size > MOST_BYTES || b.size > MOST_BYTES) return true;
    row[0] = true;
    for (uint32_t j = 1; j <= b.size; j++) row[j] = row[j - 1] && b.data[j - 1] == ANY_BYTES;
    for (uint32_t i = 1; i <= a.size; i++) {
        bool diagonal = row[0];
        row[0] = row[0] && a.data[i - 1] == ANY_BYTES;
        for (uint32_t j = 1; j <= b.size; j++) {
            bool above = row[j];
            char one = a.data[i - 1], other = b.data[j - 1];
            bool step = diagonal && (one == other || one == ANY_BYTE || other == ANY_BYTE);
            row[j] = step || (one == ANY_BYTES && (above || row[j - 1] || diagonal)) ||
                     (other == ANY_BYTES && (row[j - 1] || above || diagonal));
            diagonal = above;
        }
    }
    return row[b.size];
}

typedef enum { APART = 0, ABOVE = 1, INSIDE = 2 } relation;

/* How `target` from its segment `from` on lies to `pattern` from its segment `behind` on: it is protected or inside of what is, or above. */
HELPER relation relate(const path *pattern, uint32_t behind, const path *target, uint32_t from) {
    static bool rows[2][MOST_SEGMENTS + 1];
    bool above = false, *row = rows[0], *before = rows[1];
    for (uint32_t i = behind; i <= pattern->count; i++) {
        bool *swap = before;
        before = row, row = swap;
        for (uint32_t j = from; j <= target->count; j++) {
            bool stars = i > behind && is_stars(pattern->segments[i - 1]), wide = j > from && is_stars(target->segments[j - 1]);
            bool meets = i == behind && j == from;
            if (i > behind && j > from)
                meets |= before[j - 1] && (stars || wide || segments_meet(pattern->segments[i - 1], target->segments[j - 1]));
            if (i > behind) meets |= before[j] && (stars || wide);
            if (j > from) meets |= row[j - 1] && (stars || wide);
            row[j] = meets;
        }
        if (i == pattern->count)
            for (uint32_t j = from; j <= target->count; j++)
                if (row[j]) return INSIDE;
        if (i < pattern->count && row[target->count]) above = true;
    }
    return above ? ABOVE : APART;
}

typedef enum { SAFE, PROTECTED, HOLDS, CANNOT_TELL } standing;

HELPER standing standing_of(relation found, bool below_too) {
    return found == INSIDE ? PROTECTED : found == ABOVE && below_too ? HOLDS : SAFE;
}

/* A target of which nobody knows how it lies to the pattern's root: the pattern may begin at any of its segments. */
HELPER standing anywhere(const path *pattern, const path *target, bool below_too) {
    if (below_too) return CANNOT_TELL;
    for (uint32_t from = 0; from < target->count; from++)
        if (relate(pattern, 0, target, from) == INSIDE) return PROTECTED;
    return SAFE;
}

HELPER standing stands(const path *pattern, const path *target, bool below_too) {
    if (pattern->root == target->root && target->ups == 0) return standing_of(relate(pattern, 0, target, 0), below_too);
    if (target->ups > 0)
        return pattern->root == IN_WORKDIR && target->root == IN_WORKDIR ? anywhere(pattern, target, below_too) : CANNOT_TELL;
    if (target->root == IN_WORKDIR) return SAFE;
    if (pattern->root == ABSOLUTE) {
        /* Of the home it is only known that it is some folder. */
        for (uint32_t behind = 1; behind < pattern->count; behind++)
            if (!is_stars(pattern->segments[behind]) && standing_of(relate(pattern, behind, target, 0), below_too) != SAFE)
                return CANNOT_TELL;
        return SAFE;
    }
    return anywhere(pattern, target, below_too);
}

HELPER bool harmless_device(const path *target) {
    return target->root == ABSOLUTE && target->count == 2 && same(target->segments[0], TEXT("dev")) &&
           one_of(target->segments[1], "null stdout stderr tty zero full");
}

/* How writing to `target` stands; with `below_too` everything below it is written too. */
HELPER standing judge(const path *target, bool below_too) {
    standing worst = SAFE;
    if (harmless_device(target)) return SAFE;
    for (uint32_t i = 0; i < guarded.count; i++) {
        standing found = stands(&guarded.patterns[i], target, below_too);
        if (found == PROTECTED) return PROTECTED;
        if (found != SAFE) worst = found;
    }
    return worst;
}

/* The wildcards of a pattern of the configuration as bytes that mean them. */
HELPER hook_text marked(hook_text pattern) {
    char *made = hook_keep(pattern.size + 1);
    for (uint32_t i = 0; i < pattern.size; i++) {
        char byte = pattern.data[i];
        made[i] = byte == '*'                                                              ? ANY_BYTES
                  : byte == '?'                                                            ? ANY_BYTE
                  : byte == '~' && i == 0 && (pattern.size == 1 || pattern.data[1] == '/') ? HOME_MARK
                                                                                           : byte;
    }
    return (hook_text){made, pattern.size};
}

HELPER hook_text unusable(const char *why) {
    uint32_t size = 0;
    while (why[size] != 0) size++;
    return (hook_text){why, size};
}

HELPER bool absolute_folder(const json *value, path *found) {
    if (value->kind != JSON_TEXT || value->text.size == 0 || value->text.data[0] != '/' || value->text.size > MOST_BYTES) return false;
    *found = (path){.root = ABSOLUTE};
    return push_text(found, kept_copy(value->text));
}

/* Bytes that no sensible path has; a few of them would mean something here. */
HELPER bool has_control_bytes(hook_text text) {
    for (uint32_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < 0x20) return true;
    return false;
}

/* config: {protect: [GLOB, ...], workdir: /DIR, home: /DIR}. Why it cannot be used, or an empty text. */
HELPER hook_text read_protection(void) {
    hook_text source;
    if (!variable_named(CONFIG, &source)) return unusable("it has none; name what is protected: config: {protect: [GLOB, ...]}");
    json *config = json_read(source);
    if (config == NULL || config->kind != JSON_OBJECT) return unusable("it is no table");
    for (json *key = config->first; key != NULL; key = key->next)
        if (!one_of(key->name, "protect workdir home")) return unusable("it has another key than protect, workdir and home");
    json *workdir = json_get(config, TEXT("workdir")), *home = json_get(config, TEXT("home")), *list = json_get(config, TEXT("protect"));
    path folder;
    if (workdir != NULL && !absolute_folder(workdir, &folder)) return unusable("workdir is no absolute path");
    if (workdir != NULL) guarded.workdir = folder, guarded.has_workdir = true;
    if (home != NULL && !absolute_folder(home, &folder)) return unusable("home is no absolute path");
    if (home != NULL) guarded.home = folder, guarded.has_home = true;
    if (list == NULL || list->kind != JSON_LIST || list->first == NULL) return unusable("protect is no list of globs");
    static const path here = {.root = IN_WORKDIR};
    for (json *each = list->first; each != NULL; each = each->next) {
        if (guarded.count == MOST_PATTERNS) return unusable("protect has more than 64 globs");
        path *made = &guarded.patterns[guarded.count];
        if (each->kind != JSON_TEXT || has_control_bytes(each->text) || has(each->text, '[') || has(each->text, '{'))
            return unusable("a glob of protect is no text of names, *, ? and **");
        if (!read_path(marked(each->text), &here, made) || made->count == 0 || made->ups > 0)
            return unusable("a glob of protect is empty, too long, or leads out of the workdir");
        guarded.written[guarded.count++] = kept_copy(each->text);
    }
    return (hook_text){0};
}

/* Reads the configuration once. False where it cannot be used; `guarded.problem` says why. */
HELPER bool protection_is_usable(void) {
    static bool known;
    if (!known) guarded.problem = read_protection(), known = true;
    return guarded.problem.size == 0;
}

/* A path of a command as a person reads it. */
HELPER hook_text shown(hook_text text) {
    builder made = {0};
    for (uint32_t i = 0; i < text.size && i < 200; i++) {
        char byte = text.data[i];
        add_byte(&made, byte == ANY_BYTES ? '*' : byte == ANY_BYTE ? '?' : byte == HOME_MARK ? '~' : byte);
    }
    return built(&made);
}

#endif
