/* Writes a manifest with a description for each allowed binary that is known here; the others keep the generic one. */

#include "../common/text.h"

static const struct {
    const char *name, *description;
} known[] = {
    {"awk", "Select and rework columns of text, line by line."},
    {"bash", "Run a shell script: pipes, loops, redirections and every other program that is installed."},
    {"cargo", "Build, test and run a Rust project."},
    {"cat", "Print files."},
    {"curl", "Make an HTTP request, and print or keep the answer."},
    {"diff", "Show how two files or folders differ; exit status 1 means that they do."},
    {"find", "Find files by name, kind, age or size below a folder."},
    {"git", "Look at and record the history of the project: status, diff, log, add, commit."},
    {"go", "Build, test and run a Go project."},
    {"grep", "Find lines that match a pattern; exit status 1 means that none does."},
    {"head", "Print the first lines of files."},
    {"jq", "Select and rework JSON with a filter, as `.items[].name`."},
    {"just", "Run one recipe of the justfile."},
    {"ls", "List a folder."},
    {"make", "Bring one target of the Makefile up to date."},
    {"node", "Run a JavaScript file."},
    {"npm", "Install packages of a JavaScript project and run its scripts: install, run NAME, test."},
    {"pytest", "Run the tests of a Python project; -x stops at the first failure, -k selects by name."},
    {"python", "Run a Python file, or a module with -m."},
    {"python3", "Run a Python file, or a module with -m."},
    {"rg", "Find lines that match a pattern below a folder, fast; files that git ignores are left out."},
    {"ruff", "Check and format Python code."},
    {"sed", "Print parts of a file (-n 10,20p) or edit text line by line."},
    {"sh", "Run a shell script: pipes, loops, redirections and every other program that is installed."},
    {"sort", "Sort lines."},
    {"sqlite3", "Ask an SQLite database with SQL."},
    {"tail", "Print the last lines of files."},
    {"tree", "Show a folder and what is below it."},
    {"uv", "Manage Python projects, environments and packages."},
    {"wc", "Count lines, words and bytes."},
};

static hook_text text_of(const char *words) {
    uint32_t size = 0;
    while (words[size] != 0) size++;
    return (hook_text){words, size};
}

static hook_text manifest(hook_text name, hook_text description) {
    builder made = {0};
    add(&made, TEXT("name: "));
    add(&made, name);
    add(&made, TEXT("\nruntime: tool\ndescription: \""));
    add(&made, description);
    add(&made, TEXT("\"\n"));
    return built(&made);
}

hook_answer on_stage(const stage_event *event) {
    enum { KNOWN = sizeof known / sizeof *known };
    tool_manifest *written = hook_allocate(event->shell_allow.count * sizeof *written);
    uint32_t count = 0;
    for (uint32_t i = 0; i < event->shell_allow.count; i++)
        for (uint32_t at = 0; at < KNOWN; at++) {
            hook_text name = text_of(known[at].name);
            if (same(event->shell_allow.items[i], name))
                written[count++] = (tool_manifest){name, manifest(name, text_of(known[at].description))};
        }
    return count > 0 ? hook_write_manifests(written, count) : hook_pass();
}
