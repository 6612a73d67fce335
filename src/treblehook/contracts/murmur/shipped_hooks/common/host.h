/* What the operator gave a hook: its variables, and the folder of its scope. */

#ifndef HOST_H
#define HOST_H

#include "text.h"

#define CONFIG TEXT("MURMUR_ARTIFACT_CONFIG")

/* A variable; false where it is not set. */
HELPER bool variable_named(hook_text name, hook_text *value) {
    variable_list all;
    get_environment(&all);
    for (uint32_t i = 0; i < all.count; i++)
        if (same(all.items[i].name, name)) return *value = all.items[i].value, true;
    return false;
}

/* The granted folder; -1 without one. It is asked for once. */
HELPER int32_t scope_folder(void) {
    static bool asked;
    static int32_t found = -1;
    if (!asked) {
        folder_list folders;
        get_directories(&folders);
        for (uint32_t i = 0; i < folders.count; i++)
            if (same(folders.items[i].name, TEXT("."))) found = folders.items[i].descriptor;
        asked = true;
    }
    return found;
}

HELPER bool write_all(int32_t file, hook_text text, uint64_t offset) {
    while (text.size > 0) {
        write_result written;
        write_at(file, text.data, text.size, offset, &written);
        if (written.failed || written.count == 0) return false;
        offset += written.count;
        text = part(text, (uint32_t)written.count, text.size);
    }
    return true;
}

/* Append to a file of the scope, which is made; an empty text where that went well, else what is wrong. */
HELPER hook_text append(hook_text name, hook_text text) {
    int32_t folder = scope_folder();
    if (folder < 0) return TEXT("no folder is granted; grant it capabilities: filesystem: scope");
    open_result opened;
    open_at(folder, 0, name.data, name.size, OPEN_CREATE, MAY_WRITE, &opened);
    if (opened.failed) return joined(TEXT("the file "), name, TEXT(" of its scope cannot be opened"));
    stat_result status;
    stat_of(opened.descriptor, &status);
    bool fine = !status.failed && write_all(opened.descriptor, text, status.size);
    drop_descriptor(opened.descriptor);
    return fine ? (hook_text){0} : joined(TEXT("the file "), name, TEXT(" of its scope cannot be written"));
}

#endif
