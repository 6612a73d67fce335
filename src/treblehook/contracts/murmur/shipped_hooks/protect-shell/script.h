/* A shell script as a sequence of simple commands, each with its words and what it is redirected to. */

#ifndef SCRIPT_H
#define SCRIPT_H

#include "words.h"

enum { MOST_WORDS = 512 };
typedef struct {
    uint32_t count;
    word items[MOST_WORDS];
} words;

static void run_command(words *command, int depth, bool fed);

HELPER bool dangerous_variable(hook_text name) {
    return one_of(name,
                  "PATH HOME PWD OLDPWD CDPATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS GLOBIGNORE PROMPT_COMMAND PS4 EDITOR VISUAL PAGER") ||
           begins(name, TEXT("LD_")) || begins(name, TEXT("DYLD_")) || begins(name, TEXT("GIT_")) || begins(name, TEXT("BASH_FUNC"));
}

/* The command without its first `count` words. */
HELPER void without(words *command, uint32_t count) {
    if (count > command->count) count = command->count;
    command->count -= count;
    for (uint32_t i = 0; i < command->count; i++) command->items[i] = command->items[i + count];
}

HELPER void skip_blanks(script *from) {
    while (more(from)) {
        if (*from->at == ' ' || *from->at == '\t')
            from->at++;
        else if (*from->at == '\\' && peek(from, 1) == '\n')
            from->at += 2;
        else
            return;
    }
}

HELPER void skip_comment(script *from) {
    while (more(from) && *from->at != '\n') from->at++;
}

/* What a here-document would run is read; the rest of it is data. */
HELPER void read_heredoc_body(script *from, const heredoc *doc) {
    builder body = {0};
    while (true) {
        if (!more(from)) return cannot_tell("a here-document is not closed", (hook_text){0});
        const char *start = from->at;
        while (from->at < from->end && *from->at != '\n') from->at++;
        hook_text line = {start, (uint32_t)(from->at - start)};
        if (from->at < from->end) from->at++;
        hook_text bare = line;
        while (doc->tabs && bare.size > 0 && bare.data[0] == '\t') bare = part(bare, 1, bare.size);
        if (same(bare, doc->end)) break;
        if (from->at >= from->end) return cannot_tell("a here-document is not closed", (hook_text){0});
        add(&body, line);
        add_byte(&body, '\n');
    }
    if (doc->literal) return;
    script inner = {.at = body.data, .end = body.data + body.size, .depth = from->depth + 1};
    while (more(&inner)) {
        if (*inner.at == '\\')
            inner.at += inner.end - inner.at > 1 ? 2 : 1;
        else if (*inner.at == '$')
            read_dollar(&inner);
        else if (*inner.at == '`')
            read_backticks(&inner);
        else
            inner.at++;
    }
}

HELPER void end_of_line(script *from) {
    for (int i = 0; i < from->heredocs; i++) read_heredoc_body(from, &from->waiting[i]);
    from->heredocs = 0;
}

HELPER void begin_heredoc(script *from, bool tabs) {
    skip_blanks(from);
    word end = read_word(from);
    if (from->heredocs == MOST_HEREDOCS || !end.known || end.text.size == 0 || has_control_bytes(end.text))
        return cannot_tell("a here-document is too odd", (hook_text){0});
    from->waiting[from->heredocs++] = (heredoc){end.text, end.quoted, tabs};
}

HELPER bool all_digits(hook_text text) {
    for (uint32_t i = 0; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9') return false;
    return text.size > 0;
}

/* A redirection, at its < or > or &. True where the command is fed by it. */
HELPER bool read_redirection(script *from) {
    bool both = *from->at == '&', in = !both && *from->at == '<', fed = false;
    from->at += both ? 2 : 1;
    if (peek(from, 0) == '(') {
        from->at++;
        run_nested(from);
        return in;
    }
    if (in && peek(from, 0) == '<') {
        from->at++;
        if (peek(from, 0) == '<')
            from->at++, skip_blanks(from), read_word(from);
        else {
            bool tabs = peek(from, 0) == '-';
            if (tabs) from->at++;
            begin_heredoc(from, tabs);
        }
        return true;
    }
    bool duplicates = peek(from, 0) == '&', opens = in && peek(from, 0) == '>';
    if (duplicates || opens || (!in && (peek(from, 0) == '>' || peek(from, 0) == '|'))) from->at++;
    skip_blanks(from);
    if ((peek(from, 0) == '>' || peek(from, 0) == '<') && peek(from, 1) == '(') {
        from->at += 2;
        run_nested(from);
        return in;
    }
    word to = read_word(from);
    if (to.text.size == 0 && to.known) cannot_tell("a redirection has no target", (hook_text){0});
    fed = in && !duplicates;
    if (in && !opens) return fed;
    if (duplicates && to.known &&
        (all_digits(to.text) || same(to.text, TEXT("-")) ||
         (to.text.size > 1 && to.text.data[to.text.size - 1] == '-' && all_digits(part(to.text, 0, to.text.size - 1)))))
        return false;
    target(to, false);
    return fed;
}

HELPER bool at_redirection(const script *from) {
    return *from->at == '<' || *from->at == '>' || (*from->at == '&' && peek(from, 1) == '>');
}

/* One simple command. `piped_into` tells whether it reads what another one writes. */
HELPER void read_command(script *from, bool piped_into) {
    words *command = hook_allocate(sizeof *command);
    bool fed = piped_into;
    while (skip_blanks(from), more(from)) {
        char byte = *from->at;
        if (at_redirection(from))
            fed |= read_redirection(from);
        else if (has(TEXT("\n;&|)"), byte))
            break;
        else if (byte == '(')
            return cannot_tell("it defines a function, or has a ( at an odd place", (hook_text){0});
        else if (byte == '#')
            skip_comment(from);
        else {
            word next = read_word(from);
            /* A number right before a redirection is its own. */
            bool number = next.known && !next.quoted && all_digits(next.text) && more(from) && (*from->at == '<' || *from->at == '>');
            if (number) continue;
            if (command->count == MOST_WORDS) return cannot_tell("it has too many words", (hook_text){0});
            command->items[command->count++] = next;
        }
    }
    while (!refused() && command->count > 0 && command->items[0].known && !command->items[0].quoted) {
        hook_text first = command->items[0].text;
        if (one_of(first, "for while until")) from->loops++;
        if (same(first, TEXT("done")) && from->loops > 0) from->loops--;
        if (same(first, TEXT("for"))) {
            if (command->count > 1 && dangerous_variable(command->items[1].text))
                cannot_tell("a variable changes what the text means", command->items[1].text);
            return;
        }
        if (one_of(first, "case select function coproc")) return cannot_tell("it has a compound command that is not read", first);
        if (!one_of(first, "if then elif else fi while until do done { } ! time")) break;
        without(command, 1);
    }
    if (refused() || command->count == 0) return;
    /* A loop that moves may be anywhere the next time. */
    for (uint32_t i = 0; i < command->count && from->loops > 0; i++)
        if (one_of(command->items[i].text, "cd pushd popd eval . source")) change_folder((hook_text){0}, false);
    run_command(command, from->depth, fed);
}

/* All commands up to the end, or up to `closer`, which is read too. */
static void run_script(script *from, char closer) {
    bool piped_into = false;
    while (skip_blanks(from), more(from)) {
        char byte = *from->at;
        if (byte == closer) {
            from->at++;
            return any_folder();
        }
        if (byte == '(') {
            from->at++;
            run_nested(from);
            read_command(from, piped_into);
        } else if (byte == '#')
            skip_comment(from);
        else if (byte == '&' && peek(from, 1) == '&')
            from->at += 2, piped_into = false;
        else if (byte == '&' && peek(from, 1) == '>')
            read_command(from, piped_into);
        else if (byte == '|' && peek(from, 1) == '|')
            from->at += 2, piped_into = false, any_folder();
        else if (byte == '|') {
            from->at += peek(from, 1) == '&' ? 2 : 1;
            piped_into = true;
            any_folder();
        } else if (byte == '\n' || byte == ';' || byte == '&') {
            if (byte == ';' && peek(from, 1) == ';') return cannot_tell("it has ;; where none belongs", (hook_text){0});
            from->at++;
            piped_into = false;
            any_folder();
            if (byte == '\n') end_of_line(from);
        } else if (byte == ')')
            return cannot_tell("a ) is not opened", (hook_text){0});
        else
            read_command(from, piped_into);
    }
    if (!refused() && closer != 0) cannot_tell("a ( is not closed", (hook_text){0});
    if (!refused() && from->heredocs > 0) cannot_tell("a here-document is not closed", (hook_text){0});
    any_folder();
}

#endif
