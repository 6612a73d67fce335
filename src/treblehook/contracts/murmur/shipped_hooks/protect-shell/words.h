/* Reading the words of a shell script, as far as a text can be read: what the shell would put in is not known, but what it would run is read. */

#ifndef WORDS_H
#define WORDS_H

#include "verdict.h"

enum { MOST_DEPTH = 24, MOST_HEREDOCS = 8 };
typedef struct {
    hook_text end;
    bool literal, tabs;
} heredoc;
typedef struct {
    const char *at, *end;
    int depth, loops, heredocs;
    heredoc waiting[MOST_HEREDOCS];
} script;

static void run_script(script *from, char closer);

HELPER bool more(const script *from) { return from->at < from->end && !refused(); }
HELPER char peek(const script *from, uint32_t ahead) { return (uint32_t)(from->end - from->at) > ahead ? from->at[ahead] : 0; }

HELPER void run_text(hook_text text, int depth) {
    if (depth > MOST_DEPTH) return cannot_tell("it is nested too deep", (hook_text){0});
    script inner = {.at = text.data, .end = text.data + text.size, .depth = depth};
    folders before = here, before_otherwise = otherwise;
    run_script(&inner, 0);
    here = before, otherwise = before_otherwise;
}

/* A script in parentheses, of which the opening one has been read. */
HELPER void run_nested(script *from) {
    folders before = here, before_otherwise = otherwise;
    if (++from->depth > MOST_DEPTH) return cannot_tell("it is nested too deep", (hook_text){0});
    run_script(from, ')');
    from->depth--;
    here = before, otherwise = before_otherwise;
}

HELPER bool is_name(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

HELPER void read_backticks(script *from) {
    builder inner = {0};
    from->at++;
    while (more(from) && *from->at != '`') {
        if (*from->at == '\\' && (peek(from, 1) == '`' || peek(from, 1) == '\\' || peek(from, 1) == '$')) from->at++;
        add_byte(&inner, *from->at++);
    }
    if (!more(from)) return cannot_tell("a ` is not closed", (hook_text){0});
    from->at++;
    run_text(built(&inner), from->depth + 1);
}

HELPER void read_dollar(script *from);

/* What is between `from` and the closing byte of ${...} or $((...)): only what it would run counts. */
HELPER void read_inside(script *from, hook_text closer) {
    while (more(from)) {
        char byte = *from->at;
        if ((uint32_t)(from->end - from->at) >= closer.size && memcmp(from->at, closer.data, closer.size) == 0) {
            from->at += closer.size;
            return;
        }
        if (byte == '$')
            read_dollar(from);
        else if (byte == '`')
            read_backticks(from);
        else if (byte == '\'' || byte == '(' || byte == '<' || byte == '>' || byte == '{')
            return cannot_tell("an expansion is too odd", (hook_text){0});
        else
            from->at += byte == '\\' && from->end - from->at > 1 ? 2 : 1;
    }
    cannot_tell("an expansion is not closed", (hook_text){0});
}

/* An expansion, from its $ on; a $ that is none is left out. */
HELPER void read_dollar(script *from) {
    from->at++;
    if (peek(from, 0) == '(' && peek(from, 1) == '(') {
        from->at += 2;
        read_inside(from, TEXT("))"));
    } else if (peek(from, 0) == '(') {
        from->at++;
        run_nested(from);
    } else if (peek(from, 0) == '{') {
        from->at++;
        read_inside(from, TEXT("}"));
    } else if (is_name(peek(from, 0))) {
        while (is_name(peek(from, 0))) from->at++;
    } else if (peek(from, 0) != 0)
        from->at++;
}

/* `$HOME` and `$PWD` at the beginning of a word, whose values the text tells; how long they are, or 0. */
HELPER uint32_t well_known(const script *from, hook_text *means) {
    static const struct {
        const char *name;
        uint32_t size;
        char means;
    } all[] = {{"$HOME", 5, HOME_MARK}, {"${HOME}", 7, HOME_MARK}, {"$PWD", 4, '.'}, {"${PWD}", 6, '.'}};
    for (int i = 0; i < 4; i++) {
        if ((uint32_t)(from->end - from->at) < all[i].size || memcmp(from->at, all[i].name, all[i].size) != 0) continue;
        char next = peek(from, all[i].size);
        if (next != 0 && !has(TEXT("/ \t\n;&|<>)\""), next)) continue;
        *means = (hook_text){&all[i].means, 1};
        return all[i].size;
    }
    return 0;
}

HELPER bool read_known(script *from, builder *to) {
    hook_text means;
    uint32_t size = to->size == 0 ? well_known(from, &means) : 0;
    if (size == 0) return false;
    add(to, means);
    from->at += size;
    return true;
}

HELPER void read_double_quotes(script *from, word *into, builder *to) {
    from->at++;
    while (more(from) && *from->at != '"') {
        char byte = *from->at;
        if (byte == '$' && read_known(from, to)) continue;
        if (byte == '$' || byte == '`') {
            into->known = false;
            if (byte == '$')
                read_dollar(from);
            else
                read_backticks(from);
        } else if (byte == '\\' && has(TEXT("$`\"\\\n"), peek(from, 1))) {
            if (peek(from, 1) != '\n') add_byte(to, peek(from, 1));
            from->at += 2;
        } else
            add_byte(to, byte), from->at++;
    }
    if (!more(from)) return cannot_tell("a \" is not closed", (hook_text){0});
    from->at++;
}

HELPER void read_single_quotes(script *from, word *into, builder *to, bool escapes) {
    from->at++;
    if (escapes) into->known = false;
    while (more(from) && *from->at != '\'') {
        if (escapes && *from->at == '\\' && from->end - from->at > 1) from->at++;
        add_byte(to, *from->at++);
    }
    if (!more(from)) return cannot_tell("a ' is not closed", (hook_text){0});
    from->at++;
}

/* {a,b} stands for any text; what is more than that is not known. */
HELPER void read_brace(script *from, word *into, builder *to) {
    uint32_t size = 1;
    bool list = false;
    while (is_name(peek(from, size)) || has(TEXT(",.-"), peek(from, size) != 0 ? peek(from, size) : ' ')) {
        list |= peek(from, size) == ',' || (peek(from, size) == '.' && peek(from, size + 1) == '.');
        size++;
    }
    if (peek(from, size) == '}' && list) {
        add_byte(to, ANY_BYTES);
        from->at += size + 1;
        return;
    }
    bool alone = peek(from, 1) == 0 || has(TEXT(" \t\n;&|<>()}"), peek(from, 1));
    if (!alone) into->known = false;
    add_byte(to, '{');
    from->at++;
}

HELPER void read_bracket(script *from, builder *to) {
    uint32_t size = 1;
    while (peek(from, size) != 0 && !has(TEXT(" \t\n;&|<>()\"'`$\\/]"), peek(from, size))) size++;
    bool wild = peek(from, size) == ']' && size > 1;
    for (uint32_t at = 1; at < size; at++)
        if (from->at[at] == '[' && has(TEXT(":.="), peek(from, at + 1))) return cannot_tell("a [ is too odd", (hook_text){0});
    if (wild && size == 2 && has(TEXT("!^"), peek(from, 1))) return cannot_tell("a [ is too odd", (hook_text){0});
    /* What is quoted or put in within brackets is any byte too; without a closing one it is no wildcard. */
    if (!wild && peek(from, size) != ']' && peek(from, size) != 0 && has(TEXT("\"'`$\\"), peek(from, size)))
        return cannot_tell("a [ has quotes in it", (hook_text){0});
    if (peek(from, size) == ']' && size == 1) return cannot_tell("a [] is too odd", (hook_text){0});
    add_byte(to, wild ? ANY_BYTE : '[');
    from->at += wild ? size + 1 : 1;
}

HELPER void read_tilde(script *from, word *into, builder *to) {
    char next = peek(from, 1);
    from->at++;
    if (next == '/' || next == 0 || has(TEXT(" \t\n;&|<>):"), next))
        add_byte(to, HOME_MARK);
    else
        add_byte(to, '~'), into->known = false;
}

/* The word at which `from` stands. */
HELPER word read_word(script *from) {
    word made = {.known = true};
    builder to = {0};
    while (more(from) && !has(TEXT(" \t\n;&|<>()"), *from->at)) {
        char byte = *from->at;
        if ((unsigned char)byte < 0x20)
            cannot_tell("it has control bytes", (hook_text){0});
        else if (byte == '\\') {
            if (peek(from, 1) != '\n' && peek(from, 1) != 0) add_byte(&to, peek(from, 1)), made.quoted = true;
            from->at += peek(from, 1) != 0 ? 2 : 1;
        } else if (byte == '\'')
            made.quoted = true, read_single_quotes(from, &made, &to, false);
        else if (byte == '"')
            made.quoted = true, read_double_quotes(from, &made, &to);
        else if (byte == '$' && peek(from, 1) == '\'')
            from->at++, made.quoted = true, read_single_quotes(from, &made, &to, true);
        else if (byte == '$' && peek(from, 1) == '"')
            from->at++;
        else if (byte == '$') {
            if (!read_known(from, &to)) made.known = false, read_dollar(from);
        } else if (byte == '`')
            made.known = false, read_backticks(from);
        else if (byte == '*')
            add_byte(&to, ANY_BYTES), from->at++;
        else if (byte == '?')
            add_byte(&to, ANY_BYTE), from->at++;
        else if (byte == '[')
            read_bracket(from, &to);
        else if (byte == '{')
            read_brace(from, &made, &to);
        else if (byte == '~' && (to.size == 0 ? !made.quoted : has(TEXT("=:"), to.data[to.size - 1])))
            read_tilde(from, &made, &to);
        else
            add_byte(&to, byte), from->at++;
    }
    made.text = built(&to);
    /* Doubled braces are what a recipe of just has replaced, within quotes too. */
    for (uint32_t i = 0; i + 1 < made.text.size; i++)
        if (made.text.data[i] == '{' && made.text.data[i + 1] == '{') made.known = false;
    return made;
}

#endif
