/* Refuses a shell command that would write to a protected path, and one of which it cannot be told. It decides on argv, script and recipe
   alone; docs/wasm.md says what it cannot see. */

#include "commands.h"

static void run_argv(const shell_event *event) {
    words *command = hook_allocate(sizeof *command);
    hook_text name = last_segment(event->binary);
    if (one_of(name, "busybox toybox coreutils")) return cannot_tell("one program is many, and its name is not told", name);
    command->items[command->count++] = word_of(event->binary);
    for (uint32_t i = 0; i < event->argv.count; i++) {
        if (command->count == MOST_WORDS) return cannot_tell("it has too many words", (hook_text){0});
        hook_text argument = event->argv.items[i];
        for (uint32_t at = 0; at < argument.size; at++)
            if ((unsigned char)argument.data[at] <= HOME_MARK) return cannot_tell("it has control bytes", (hook_text){0});
        command->items[command->count++] = word_of(argument);
    }
    run_command(command, 0, false);
}

/* The lines of a recipe as a script. What make and just put in is not known. */
static void run_recipe(hook_text recipe) {
    builder lines = {0};
    bool starts = true;
    if (begins(recipe, TEXT("#!"))) return cannot_tell("a recipe is a program of its own", (hook_text){0});
    for (uint32_t i = 0; i < recipe.size; i++) {
        char byte = recipe.data[i];
        if (starts && (byte == '@' || byte == '-' || byte == '+' || byte == ' ' || byte == '\t')) continue;
        starts = byte == '\n';
        add_byte(&lines, byte);
    }
    run_text(built(&lines), 0);
}

hook_answer on_shell(const shell_event *event) {
    if (event->outcome.is_some) return hook_pass();
    if (!protection_is_usable())
        return hook_deny(joined(TEXT("protect-shell: its configuration cannot be used: "), guarded.problem, (hook_text){0}));
    refusal = (hook_text){0};
    here = (folders){.count = 1, .items = {{.root = IN_WORKDIR}}};
    otherwise = (folders){0};
    if (event->script.is_some)
        run_text(event->script.value, 0);
    else if (event->recipe.is_some)
        run_recipe(event->recipe.value);
    else
        run_argv(event);
    return refused() ? hook_deny(joined(TEXT("protect-shell: "), refusal, (hook_text){0})) : hook_pass();
}
