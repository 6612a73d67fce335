/* Asks a model for a summary of the conversation. Where another model was set and failed, the session's own is asked once; then it is an error. */

#include "../common/json.h"

static const char asks[] = "You summarise the conversation of an agent, so that it can go on with the summary alone. Keep what was asked "
                           "for, what was decided and "
                           "why, what was done (files, commands, results), what is open, and every name, path, number and identifier that "
                           "is needed. Leave out what "
                           "no longer matters. Write the summary and nothing else.";

/* The conversation as one text: calls and results of tools could not be sent without each other. */
static hook_text transcript(message_list messages) {
    builder all = {0};
    for (uint32_t i = 0; i < messages.count; i++) {
        add_byte(&all, '[');
        add(&all, messages.items[i].role);
        add(&all, TEXT("]\n"));
        add(&all, messages.items[i].content);
        add(&all, TEXT("\n\n"));
    }
    return built(&all);
}

static void ask(hook_text text, maybe_text prompt, maybe_text model, inference_result *result) {
    message sent = {.role = TEXT("user"), .content = text};
    hook_text system = prompt.is_some ? prompt.value : (hook_text){asks, sizeof asks - 1};
    run_inference(&sent, 1, 1, system.data, system.size, model.is_some, model.value.data, model.value.size, result);
}

hook_answer on_compaction(const compaction_event *event) {
    inference_result result;
    if (event->messages.count == 0) return hook_pass();
    hook_text text = transcript(event->messages);
    ask(text, event->system_prompt, event->model, &result);
    if (result.failed && event->model.is_some) ask(text, event->system_prompt, (maybe_text){0}, &result);
    if (result.failed) return hook_error(joined(TEXT("the conversation could not be summarised: "), result.text, (hook_text){0}));
    bool blank = true;
    for (uint32_t i = 0; i < result.text.size; i++) blank &= has(TEXT(" \t\r\n"), result.text.data[i]);
    if (blank) return hook_error(TEXT("the conversation could not be summarised: the model's summary is empty"));
    builder content = {0};
    add(&content, TEXT("[{\"type\":\"text\",\"text\":"));
    add_quoted(&content, joined(TEXT("Summary of the conversation so far:\n\n"), result.text, (hook_text){0}));
    add(&content, TEXT("}]"));
    message *summary = hook_allocate(sizeof *summary);
    summary->role = TEXT("user");
    summary->content = built(&content);
    return hook_replace_context(summary, 1);
}
