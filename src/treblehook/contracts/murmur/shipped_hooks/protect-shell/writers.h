/* What each well-known program writes to. */

#ifndef WRITERS_H
#define WRITERS_H

#include "arguments.h"

/* mv, cp, install, ln, rsync: the last argument, or the folder of -t, and what ends up in it. */
HELPER void moved(const words *command, bool below_too, bool sources_too) {
    const char *valued = "-t --target-directory -m --mode -o --owner -g --group -S --suffix -e --rsh --exclude --include";
    word into = {0}, each, last = {0};
    uint32_t at = 1, count = 0;
    bool given = option_value(command, &at, 't', "target-directory", &into);
    arguments from = {command, 1, false};
    while (next_operand(&from, valued, &each)) last = each, count++;
    if (!given) into = last;
    if (count == 0 && !given) return;
    target(into, false);
    from = (arguments){command, 1, false};
    for (uint32_t i = 0; next_operand(&from, valued, &each); i++) {
        if (!given && i + 1 == count) break;
        if (sources_too) target(each, true);
        hook_text name = last_segment(each.text);
        bool spills = each.known && (same(name, TEXT(".")) || same(name, TEXT("..")) || same(name, TEXT("/")) || name.size == 0);
        if (below_too && (spills || (each.text.size > 0 && each.text.data[each.text.size - 1] == '/')))
            target(into, true);
        else
            target(inside(into, each), below_too);
        if (below_too && into.known) target(into, !same(into.text, TEXT(".")) && count <= 2 && !given);
    }
}

/* A program for sed: whether it only edits what passes through. */
HELPER bool sed_only_edits(hook_text program) {
    uint32_t at = 0;
    while (at < program.size) {
        char byte = program.data[at];
        if (has(TEXT(" \t\n;{}!,$0123456789+~"), byte))
            at++;
        else if (byte == '/') {
            for (at++; at < program.size && program.data[at] != '/'; at++)
                if (program.data[at] == '\\') at++;
            at++;
            while (at < program.size && (program.data[at] == 'I' || program.data[at] == 'M')) at++;
        } else if (byte == 's' || byte == 'y') {
            if (at + 1 >= program.size) return false;
            char mark = program.data[at + 1];
            int marks = 0;
            for (at += 1; at < program.size && marks < 3; at++) {
                if (program.data[at] == '\\')
                    at++;
                else if (program.data[at] == mark)
                    marks++;
            }
            if (marks < 3) return false;
            while (at < program.size && !has(TEXT(";\n} "), program.data[at]))
                if (!has(TEXT("gpiI0123456789"), program.data[at++])) return false;
        } else if (has(TEXT("pdqQnNDPhHgGxl="), byte))
            at++;
        else
            return false;
    }
    return true;
}

HELPER void sed(const words *command) {
    bool in_place = has_option(command, 'i', "in-place"),
         first = !has_option(command, 'e', "expression") && !has_option(command, 'f', "file");
    arguments from = {command, 1, false};
    word each, program;
    for (uint32_t at = 1; option_value(command, &at, 'e', "expression", &program);)
        if (!program.known || !sed_only_edits(program.text)) cannot_tell("a program for sed may write files", program.text);
    while (next_operand(&from, "-e --expression -f --file -l --line-length", &each)) {
        if (first && (!each.known || !sed_only_edits(each.text))) cannot_tell("a program for sed may write files", each.text);
        if (!first && in_place) target(each, false);
        first = false;
    }
}

HELPER void find(words *command, int depth) {
    word roots[16];
    uint32_t count = 0, at = 1;
    for (; at < command->count && count < 16; at++) {
        hook_text text = command->items[at].text;
        if (text.size > 0 && (text.data[0] == '-' || text.data[0] == '!')) break;
        roots[count++] = command->items[at];
    }
    if (count == 0) roots[count++] = word_of(TEXT("."));
    for (; at < command->count && !refused(); at++) {
        hook_text text = command->items[at].text;
        if (!command->items[at].known) return cannot_tell("an argument of find is not known", text);
        if (same(text, TEXT("-delete")))
            for (uint32_t i = 0; i < count; i++) target(roots[i], true);
        if (one_of(text, "-fprint -fprint0 -fls -fprintf") && at + 1 < command->count) target(command->items[at + 1], false);
        if (one_of(text, "-exec -execdir -ok -okdir")) {
            words *inner = hook_allocate(sizeof *inner);
            for (at++; at < command->count && !one_of(command->items[at].text, "; +"); at++) {
                word each = command->items[at];
                if (contains(each.text, TEXT("{}"))) each.known = false;
                inner->items[inner->count++] = each;
            }
            run_command(inner, depth + 1, false);
        }
    }
}

HELPER void git(words *command) {
    folders before = here, before_otherwise = otherwise;
    uint32_t at = 1;
    for (; at < command->count; at++) {
        word each = command->items[at];
        if (same(each.text, TEXT("-C")) && at + 1 < command->count) {
            word to = command->items[++at];
            change_folder(to.text, to.known);
        } else if (each.known && !one_of(each.text, "--no-pager -P --paginate --no-optional-locks --literal-pathspecs"))
            break;
        else if (!each.known)
            return cannot_tell("an argument of git is not known", each.text);
    }
    if (at >= command->count) return;
    hook_text verb = command->items[at].text;
    if (verb.size > 0 && verb.data[0] == '-') {
        if (!one_of(verb, "--version --help -h -v")) cannot_tell("an option of git changes what it does", verb);
        return;
    }
    without(command, at);
    const char *reads =
        "status log diff show branch remote fetch blame grep rev-parse rev-list ls-files ls-tree ls-remote describe add commit tag push "
        "init shortlog cat-file diff-tree merge-base name-rev reflog symbolic-ref help version count-objects show-ref for-each-ref "
        "archive format-patch notes var whatchanged fsck";
    word each;
    uint32_t from = 1;
    while (option_value(command, &from, 'o', "output", &each)) target(each, one_of(verb, "format-patch"));
    bool lists = command->count > 1 && one_of(command->items[1].text, "list show");
    for (uint32_t i = 1; i < command->count; i++)
        if (begins(command->items[i].text, TEXT("--upload-pack")) || begins(command->items[i].text, TEXT("--receive-pack")) ||
            begins(command->items[i].text, TEXT("--exec")) ||
            (same(verb, TEXT("grep")) && (begins(command->items[i].text, TEXT("-O")) || begins(command->items[i].text, TEXT("--open")))))
            return cannot_tell("an option of git runs another program", command->items[i].text);
    if (same(verb, TEXT("clone")) && has_option(command, 'c', "config"))
        return cannot_tell("git config may change what git does", (hook_text){0});
    if (same(verb, TEXT("init"))) all_operands(command, "-b --initial-branch", true);
    if (one_of(verb, reads)) {
    } else if (same(verb, TEXT("config"))) {
        if (!has_option(command, 'l', "list") && !has_option(command, 0, "get"))
            cannot_tell("git config may change what git does", (hook_text){0});
    } else if (one_of(verb, "rm mv"))
        all_operands(command, "", true);
    else if (same(verb, TEXT("restore")) && has_word(command, "-S --staged") && !has_option(command, 'W', "worktree")) {
    } else if (same(verb, TEXT("restore")))
        all_operands(command, "-s --source", true);
    else if (same(verb, TEXT("clean"))) {
        arguments operands = {command, 1, false};
        bool any = false;
        bool dry = has_word(command, "-n -nd -dn -nf -fn -ndx -nfd -fdn --dry-run");
        while (!dry && next_operand(&operands, "-e --exclude", &each)) any = true, target(each, true);
        if (!any && !dry) target(word_of(TEXT(".")), true);
    } else if (same(verb, TEXT("reset"))) {
        if (has_option(command, 0, "hard") || has_option(command, 0, "merge") || has_option(command, 0, "keep"))
            refuse(TEXT("git reset rewrites files of the whole repository, what is protected among them"));
    } else if (one_of(verb, "checkout switch") && command->count == 3 && one_of(command->items[1].text, "-b -c --create")) {
    } else if (one_of(verb, "clone worktree")) {
        const word *last = &command->items[command->count - 1];
        if (!lists) target(*last, true);
    } else if (one_of(verb, "stash bisect submodule worktree") && lists) {
    } else if (one_of(verb,
                      "checkout switch stash pull merge rebase cherry-pick revert am apply submodule bisect sparse-checkout filter-branch "
                      "checkout-index read-tree update-index gc prune"))
        refuse(joined(TEXT("git "), verb, TEXT(" may rewrite any file of the repository, what is protected among them")));
    else
        cannot_tell("a command of git is not known", verb);
    here = before, otherwise = before_otherwise;
}

/* The names of the pieces begin with the last argument. */
HELPER void split(const words *command) {
    static const char any = ANY_BYTES;
    arguments from = {command, 1, false};
    word each;
    while (next_operand(&from, "-a -b -C -l -n", &each))
        target(each.known ? word_of(joined(each.text, (hook_text){&any, 1}, (hook_text){0})) : each, false);
    for (uint32_t at = 1; option_value(command, &at, 'f', "prefix", &each);)
        target(each.known ? word_of(joined(each.text, (hook_text){&any, 1}, (hook_text){0})) : each, false);
}

/* A program that writes what it is named in the way that is told here. False for another. */
HELPER bool known_writer(words *command, hook_text name, int depth) {
    bool recursive = has_option(command, 'r', "recursive") || has_option(command, 'R', "");
    word each;
    uint32_t at = 1;
    if (one_of(name, "rm rmdir unlink shred srm trash"))
        all_operands(command, "-n --iterations -s --size", recursive);
    else if (same(name, TEXT("mv")))
        moved(command, true, true);
    else if (one_of(name, "cp install"))
        moved(command, recursive || has_option(command, 'a', "archive"), false);
    else if (one_of(name, "rsync scp"))
        moved(command, true, has_option(command, 0, "remove-source-files"));
    else if (one_of(name, "ln link"))
        all_operands(command, "-t --target-directory -S --suffix", true), moved(command, false, false);
    else if (one_of(name, "tee touch truncate mkdir mkfifo mknod sponge"))
        all_operands(command, "-s --size -r --reference -d --date -t -m --mode", false);
    else if (one_of(name, "chmod chown chgrp chattr setfacl"))
        all_operands(command, "", recursive);
    else if (one_of(name, "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress dos2unix unix2dos"))
        all_operands(command, "", recursive);
    else if (one_of(name, "split csplit"))
        split(command);
    else if (one_of(name, "tar bsdtar unzip 7z 7za cpio pax patch ar ditto")) {
        bool lists = has_word(command, one_of(name, "tar bsdtar")  ? "t tf tvf tzf tvzf -t -tf -tvf -tzf -tvzf -tjf --list"
                                       : same(name, TEXT("unzip")) ? "-l -Z"
                                                                   : "");
        for (uint32_t i = 2; i < command->count; i++)
            lists &= command->items[i].known && command->items[i].text.size > 0 && command->items[i].text.data[0] != '-';
        if (!lists) cannot_tell("what an archive or a patch writes is in it, not in the command", name);
    } else if (one_of(name, "dd")) {
        for (uint32_t i = 1; i < command->count; i++)
            if (!command->items[i].known)
                cannot_tell("an argument of dd is not known", command->items[i].text);
            else if (begins(command->items[i].text, TEXT("of=")))
                target(word_of(part(command->items[i].text, 3, command->items[i].text.size)), false);
    } else if (one_of(name, "sort shuf")) {
        while (option_value(command, &at, 'o', "output", &each)) target(each, false);
    } else if (one_of(name, "curl wget aria2c")) {
        bool plain = same(name, TEXT("curl")) && !has_option(command, 'O', "remote-name") && !has_option(command, 'J', "") &&
                     !has_option(command, 'K', "config");
        while (option_value(command, &at, same(name, TEXT("wget")) ? 'O' : 'o', same(name, TEXT("wget")) ? "output-document" : "output",
                            &each))
            target(each, false), plain = true;
        if (!plain) target(word_of(TEXT(".")), true);
        for (at = 1; option_value(command, &at, 'D', "dump-header", &each);) target(each, false);
        for (at = 1; option_value(command, &at, 'c', "cookie-jar", &each);) target(each, false);
    } else if (one_of(name, "uniq xxd"))
        all_operands(command, "-f -s -w", false);
    else if (same(name, TEXT("sed")))
        sed(command);
    else if (same(name, TEXT("find")))
        find(command, depth);
    else if (same(name, TEXT("git")))
        git(command);
    else
        return false;
    return true;
}

#endif
