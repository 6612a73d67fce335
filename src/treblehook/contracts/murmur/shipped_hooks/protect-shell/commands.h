/* One command: what it really runs, and whether what that writes can be told. */

#ifndef COMMANDS_H
#define COMMANDS_H

#include "writers.h"

#define READERS                                                                                                                            \
    "echo printf cat ls grep egrep fgrep rg head tail wc pwd true false test [ [[ which whereis type date sleep diff cmp cut tr basename " \
    "dirname realpath readlink stat file du df id whoami uname hostname seq jq tree md5sum sha1sum sha256sum sha512sum cksum comm paste "  \
    "column nl od hexdump strings tac rev fold expr : exit return break continue wait jobs shift ulimit umask ps printenv getent "         \
    "locale nproc free uptime tput clear cal factor numfmt join fmt pr expand unexpand base64 base32 times kill pgrep ss netstat ping"

/* What is read where another program seems to run it. */
#define RUN_BY_OTHERS                                                                                                                   \
    "rm rmdir mv cp ln tee dd truncate shred unlink sed find git xargs env sudo sh bash dash zsh ksh fish busybox python python3 perl " \
    "ruby "                                                                                                                             \
    "node awk gawk chmod chown touch install rsync"

/* Programs that change what the names in the text mean. */
#define CHANGES_MEANING "alias unalias trap enable hash shopt complete bind mount umount chroot unshare nsenter ld.so"

/* NAME=... as an assignment has it; how long the name is, or 0. */
HELPER uint32_t assigned(hook_text text) {
    uint32_t size = 0;
    while (size < text.size && is_name(text.data[size])) size++;
    if (size == 0 || size == text.size || (text.data[0] >= '0' && text.data[0] <= '9')) return 0;
    if (text.data[size] == '=') return size;
    return text.data[size] == '+' && size + 1 < text.size && text.data[size + 1] == '=' ? size : 0;
}

HELPER void check_assignment(hook_text text) {
    uint32_t size = assigned(text);
    if (size > 0 && dangerous_variable(part(text, 0, size))) cannot_tell("a variable changes what the text means", part(text, 0, size));
}

HELPER void drop_assignments(words *command) {
    uint32_t count = 0;
    while (count < command->count && assigned(command->items[count].text) > 0) check_assignment(command->items[count++].text);
    without(command, count);
}

/* The words of a command as one script, as `eval` reads it. */
HELPER void run_words(const words *command, uint32_t from, int depth) {
    builder all = {0};
    for (uint32_t i = from; i < command->count; i++) {
        if (!command->items[i].known || has_control_bytes(command->items[i].text))
            return cannot_tell("what is run is not in the text", command->items[i].text);
        if (i > from) add_byte(&all, ' ');
        add(&all, command->items[i].text);
    }
    /* It moves the shell itself. */
    if (depth > MOST_DEPTH) return cannot_tell("it is nested too deep", (hook_text){0});
    script inner = {.at = all.data, .end = all.data + all.size, .depth = depth + 1};
    run_script(&inner, 0);
}

/* A file that is run is not read; but what a command is fed has names too. */
HELPER void script_file(hook_text name) {
    if (begins(name, TEXT("/dev")) || begins(name, TEXT("/proc")) || same(name, TEXT("-"))) cannot_tell("it runs what it is fed", name);
}

/* A shell as a command: `-c SCRIPT`, or a file, or what it is fed. */
HELPER void shell(const words *command, int depth, bool fed) {
    for (uint32_t i = 1; i < command->count; i++) {
        word each = command->items[i];
        if (!each.known) return cannot_tell("an argument of a shell is not known", each.text);
        if (each.text.size < 2 || (each.text.data[0] != '-' && each.text.data[0] != '+'))
            return script_file(each.text); /* which is not read */
        if (each.text.data[1] == '-' && !one_of(each.text, "--login --norc --noprofile --posix --"))
            return cannot_tell("an option of a shell changes what it does", each.text);
        if (each.text.data[1] != '-' && has(each.text, 'c')) {
            if (i + 1 >= command->count) return;
            word source = command->items[i + 1];
            if (one_of(source.text, "-")) return cannot_tell("what is run is not in the text", source.text);
            if (!source.known || (has_control_bytes(source.text) && !has(source.text, '\n')))
                return cannot_tell("what is run is not in the text", source.text);
            return run_text(source.text, depth + 1);
        }
        if (one_of(each.text, "-o +o -O +O")) i++;
        if (one_of(each.text, "-s")) break;
    }
    if (fed || command->count > 1) cannot_tell("a shell runs what it is fed", command->items[0].text);
}

/* Interpreters whose programs are no files: nothing of a program is read. */
HELPER void interpreter(const words *command, const char *options, bool fed) {
    bool has_file = false;
    for (uint32_t i = 1; i < command->count; i++) {
        hook_text text = command->items[i].text;
        if (has_file) break;
        if (one_of(text, options) || same(text, TEXT("-")))
            return cannot_tell("a program on the command line is not read", command->items[0].text);
        if (text.size > 2 && text.data[0] == '-' && text.data[1] != '-')
            for (const char *each = options; *each != 0; each++)
                if (each[0] == '-' && each[1] != '-' && has(part(text, 1, text.size), each[1]))
                    return cannot_tell("a program on the command line is not read", command->items[0].text);
        has_file = text.size > 0 && text.data[0] != '-';
        if (has_file) script_file(text);
        if (one_of(text, "-m -W -X -I -r --require")) i++, has_file |= same(text, TEXT("-m"));
    }
    if (!has_file && fed) cannot_tell("an interpreter runs what it is fed", command->items[0].text);
}

/* Any other program: nobody knows what it writes, so it must not be handed what is protected. */
HELPER void other_program(const words *command) {
    static int nested;
    for (uint32_t i = 1; i < command->count && !refused(); i++) {
        word each = command->items[i];
        if (!each.known) continue;
        if (one_of(last_segment(each.text), RUN_BY_OTHERS) && nested < 4) {
            /* `uv run rm x`: what looks like a command is one. */
            words *inner = hook_allocate(sizeof *inner);
            *inner = *command;
            without(inner, i);
            nested++;
            run_command(inner, 1, false);
            nested--;
        }
        for (uint32_t at = 0; at < each.text.size && !refused(); at++) {
            bool begins_here =
                at == 0 || has(TEXT("=:,@"), each.text.data[at - 1]) || (at == 2 && each.text.data[0] == '-' && each.text.data[1] != '-');
            if (begins_here) target(word_of(part(each.text, at, each.text.size)), false);
            if (refused()) refusal = joined(refusal, TEXT(", and it cannot be told what is done with it by "), command->items[0].text);
        }
    }
}

/* Programs that run another one. True where one was unwrapped. */
HELPER bool unwrap(words *command, hook_text name) {
    const char *valued = same(name, TEXT("env"))     ? "-u --unset"
                         : one_of(name, "sudo doas") ? "-u -g -p -C -h"
                                                     : "-n -s -k --signal --kill-after -o -e -i -f";
    if (!one_of(name, "env sudo doas nice nohup time timeout command exec builtin stdbuf ionice setsid chrt unbuffer caffeinate"))
        return false;
    uint32_t at = 1;
    for (; at < command->count; at++) {
        word each = command->items[at];
        if (!each.known) return cannot_tell("what is run is not in the text", each.text), true;
        if (same(name, TEXT("env")) && (begins(each.text, TEXT("-S")) || begins(each.text, TEXT("--split")) ||
                                        begins(each.text, TEXT("-C")) || begins(each.text, TEXT("--chdir"))))
            return cannot_tell("an option of env changes what the text means", each.text), true;
        if (one_of(name, "sudo doas") && one_of(each.text, "-s -i --shell --login")) return cannot_tell("a shell is started", name), true;
        if (same(name, TEXT("command")) && one_of(each.text, "-v -V")) return command->count = 0, true;
        if (one_of(each.text, valued))
            at++;
        else if (each.text.size == 0 || each.text.data[0] != '-')
            break;
    }
    if (same(name, TEXT("timeout"))) at++;
    without(command, at);
    return true;
}

HELPER void builds(words *command, hook_text name) {
    bool npm = one_of(name, "npm pnpm yarn");
    bool runs = has_word(command, "run run-script test tst t start stop restart exec x rum urn explore init create");
    for (uint32_t i = 1; i < command->count; i++) runs |= !command->items[i].known;
    if (!npm || runs)
        cannot_tell("its recipe is not known here; call it as a tool of its own with one target", name);
    else
        other_program(command);
}

static void run_command(words *command, int depth, bool fed) {
    if (depth > MOST_DEPTH) return cannot_tell("it is nested too deep", (hook_text){0});
    drop_assignments(command);
    if (refused() || command->count == 0) return;
    word first = command->items[0];
    hook_text name = last_segment(first.text);
    if (!first.known || has(first.text, ANY_BYTES) || has(first.text, ANY_BYTE) || has(first.text, ' ') || has_control_bytes(first.text))
        return cannot_tell("the command is not in the text", first.text);
    if (unwrap(command, name)) return run_command(command, depth + 1, fed);
    if (one_of(name, "busybox toybox coreutils")) {
        if (command->count < 2) return;
        without(command, 1);
        return run_command(command, depth + 1, fed);
    }
    if (one_of(name, CHANGES_MEANING)) return cannot_tell("it changes what the text means", name);
    if (one_of(name, "export declare local readonly typeset set unset let")) {
        for (uint32_t i = 1; i < command->count; i++) {
            check_assignment(command->items[i].text);
            if (!command->items[i].known && assigned(command->items[i].text) == 0 && !one_of(name, "set let"))
                cannot_tell("a variable changes what the text means", command->items[i].text);
            if (same(name, TEXT("unset")) && dangerous_variable(command->items[i].text))
                cannot_tell("a variable changes what the text means", command->items[i].text);
        }
    } else if (same(name, TEXT("cd"))) {
        word to = {0};
        arguments from = {command, 1, false};
        bool given = next_operand(&from, "", &to);
        static const char home = HOME_MARK;
        change_folder(given ? to.text : (hook_text){&home, 1},
                      !given || (to.known && !same(to.text, TEXT("-")) && !has(to.text, ANY_BYTES) && !has(to.text, ANY_BYTE)));
    } else if (one_of(name, "pushd popd . source")) {
        if (fed) return cannot_tell("it runs what it is fed", name);
        if (one_of(name, ". source") && command->count > 1) script_file(command->items[1].text);
        change_folder((hook_text){0}, false);
    } else if (one_of(name, "read mapfile readarray getopts")) {
        for (uint32_t i = 1; i < command->count; i++)
            if (!command->items[i].known || dangerous_variable(command->items[i].text))
                cannot_tell("a variable changes what the text means", command->items[i].text);
    } else if (same(name, TEXT("eval")))
        run_words(command, 1, depth);
    else if (one_of(name, "sh bash dash zsh ksh mksh ash fish rbash busybox-sh"))
        shell(command, depth, fed);
    else if (same(name, TEXT("xargs"))) {
        bool replaces = has_option(command, 'I', "replace") || has_option(command, 'i', "");
        words *inner = hook_allocate(sizeof *inner);
        arguments from = {command, 1, false};
        word each;
        if (next_operand(&from, "-I -n -P -L -d -s -E -a --max-args --max-procs --delimiter --arg-file", &each)) {
            inner->items[inner->count++] = each;
            while (from.at < command->count) {
                inner->items[inner->count++] = command->items[from.at++];
                if (replaces) inner->items[inner->count - 1].known = false;
            }
            if (inner->count < MOST_WORDS) inner->items[inner->count++] = (word){.text = TEXT("what it is fed"), .known = false};
            run_command(inner, depth + 1, false);
        }
    } else if (begins(name, TEXT("python")) || begins(name, TEXT("pypy")))
        interpreter(command, "-c", fed);
    else if (begins(name, TEXT("perl")) || begins(name, TEXT("ruby")))
        interpreter(command, "-e -E -i -n -p", fed);
    else if (one_of(name, "node nodejs deno bun php lua luajit Rscript tclsh osascript"))
        interpreter(command, "-e -p -r -c --eval --print eval", fed);
    else if (one_of(name, "awk gawk mawk nawk")) {
        for (uint32_t i = 1; i < command->count; i++)
            if (!command->items[i].known || has(command->items[i].text, '>') || has(command->items[i].text, '|') ||
                contains(command->items[i].text, TEXT("system")) || one_of(command->items[i].text, "-i inplace"))
                return cannot_tell("a program for awk may write files", name);
    } else if (one_of(name, "ed ex vi vim nvim emacs nano sqlite3 psql mysql gdb screen tmux at batch crontab ssh docker podman parallel "
                            "watch su script runuser flock sg pkexec setpriv firejail bwrap systemd-run expect gdb strace ltrace"))
        cannot_tell("what it does is not read", name);
    else if (one_of(name, "make gmake bmake just npm pnpm yarn"))
        builds(command, name);
    else if (same(name, TEXT("printf")) && has_option(command, 'v', ""))
        cannot_tell("a variable changes what the text means", name);
    else if (!one_of(name, READERS) && !known_writer(command, name, depth))
        other_program(command);
}

#endif
