/* The arguments of a command: its options, and what is left. */

#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "script.h"

typedef struct {
    const words *of;
    uint32_t at;
    bool plain;
} arguments;

/* The next argument that is no option; options with a value of their own, whose letters or names are in `valued`, take it along. */
HELPER bool next_operand(arguments *from, const char *valued, word *found) {
    while (from->at < from->of->count) {
        word each = from->of->items[from->at++];
        if (from->plain || !each.known || each.text.size < 2 || each.text.data[0] != '-') return *found = each, true;
        if (same(each.text, TEXT("--")))
            from->plain = true;
        else if (one_of(each.text, valued))
            from->at++;
    }
    return false;
}

/* Whether an option is there: as a letter of a short one, or as the beginning of a long one. */
HELPER bool has_option(const words *command, char letter, const char *name) {
    hook_text whole = unusable(name);
    for (uint32_t i = 1; i < command->count; i++) {
        hook_text text = command->items[i].text;
        if (same(text, TEXT("--"))) return false;
        if (text.size < 2 || text.data[0] != '-') continue;
        if (text.data[1] != '-' && letter != 0 && has(text, letter)) return true;
        if (text.data[1] == '-' && whole.size > 0 && text.size > 2 && begins(whole, part(text, 2, text.size))) return true;
    }
    return false;
}

/* Whether one of these words is there as it stands: for options that make a command harmless. */
HELPER bool has_word(const words *command, const char *wanted) {
    for (uint32_t i = 1; i < command->count; i++)
        if (command->items[i].known && one_of(command->items[i].text, wanted)) return true;
    return false;
}

/* The value of an option: `-oVALUE`, `-xoVALUE`, `-o VALUE`, `--name=VALUE` or `--name VALUE`. Call it again with the place it left for further ones. */
HELPER bool option_value(const words *command, uint32_t *at, char letter, const char *name, word *value) {
    hook_text whole = unusable(name);
    for (; *at < command->count; (*at)++) {
        word each = command->items[*at];
        hook_text text = each.text;
        if (text.size < 2 || text.data[0] != '-') continue;
        bool is_long = text.data[1] == '-';
        uint32_t named = 2 + whole.size;
        if (is_long && whole.size > 0 && text.size > named && begins(part(text, 2, text.size), whole) && text.data[named] == '=') {
            *value = (word){part(text, named + 1, text.size), each.known, each.quoted};
            return (*at)++, true;
        }
        uint32_t place = 1;
        while (!is_long && letter != 0 && place < text.size && text.data[place] != letter) place++;
        bool exact = is_long ? whole.size > 0 && same(part(text, 2, text.size), whole) : letter != 0 && place + 1 == text.size;
        if (exact && *at + 1 < command->count) {
            *value = command->items[*at + 1];
            return *at += 2, true;
        }
        if (!is_long && letter != 0 && place + 1 < text.size) {
            *value = (word){part(text, place + 1, text.size), each.known, each.quoted};
            return (*at)++, true;
        }
    }
    return false;
}

HELPER void all_operands(const words *command, const char *valued, bool below_too) {
    arguments from = {command, 1, false};
    word each;
    while (next_operand(&from, valued, &each)) target(each, below_too);
}

HELPER word inside(word folder, word of) {
    if (!folder.known || !of.known) return (word){.known = false};
    return word_of(joined(folder.text, TEXT("/"), last_segment(of.text)));
}

#endif
