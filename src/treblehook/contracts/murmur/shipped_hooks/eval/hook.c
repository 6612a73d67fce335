/* Scores a session at its end: one `event_score` line per scorer and one `dataset_run` line in eval.jsonl of its scope. */

#include "../common/host.h"
#include "../common/json.h"

static hook_text session;
static builder tools = {.keep = true}; /* the names of the tools that were called, each with a line break */
static uint64_t tool_count;

hook_answer on_session_start(const session_context *context) {
    session = kept_copy(context->session_id);
    return hook_pass();
}

hook_answer on_tool_call(const tool_event *event) {
    if (!event->outcome.is_some) return hook_pass();
    add(&tools, event->tool_name);
    add_byte(&tools, '\n');
    tool_count++;
    return hook_pass();
}

static void member_variable(builder *line, const char *name, hook_text variable) {
    hook_text value;
    bool set = variable_named(variable, &value);
    member_maybe(line, name, (maybe_text){set, value});
}

static void identify(builder *line) {
    member_text(line, "session_id", session);
    member_variable(line, "case_id", TEXT("MURMUR_CASE_ID"));
    member_variable(line, "dataset_id", TEXT("MURMUR_DATASET_ID"));
}

/* Whether the wanted tools were called in this order, whatever else was called between them. */
static bool in_order(const json *wanted) {
    const json *next = wanted->first;
    hook_text all = built(&tools);
    for (uint32_t start = 0, at = 0; at < all.size && next != NULL; at++)
        if (all.data[at] == '\n') {
            if (same(part(all, start, at), next->text)) next = next->next;
            start = at + 1;
        }
    return next == NULL;
}

static bool are_texts(const json *list) {
    if (list == NULL || list->kind != JSON_LIST || list->first == NULL) return false;
    for (const json *each = list->first; each != NULL; each = each->next)
        if (each->kind != JSON_TEXT) return false;
    return true;
}

/* What one scorer says; a text where its configuration cannot be used. */
static hook_text score(const json *scorer, const session_end_event *event, bool *passed) {
    json *type = json_get(scorer, TEXT("type"));
    if (type == NULL || type->kind != JSON_TEXT) return TEXT("a scorer has no type");
    uint64_t limit = 0;
    bool has_limit = json_count(json_get(scorer, TEXT("limit")), &limit);
    if (same(type->text, TEXT("exit_ok")))
        *passed = same(event->exit_status, TEXT("ok"));
    else if (one_of(type->text, "max_turns max_tokens") && !has_limit)
        return joined(type->text, TEXT(" needs a limit, a whole number"), (hook_text){0});
    else if (same(type->text, TEXT("max_turns")))
        *passed = event->total_turns <= limit;
    else if (same(type->text, TEXT("max_tokens")))
        *passed = event->total_input_tokens + event->total_output_tokens <= limit;
    else if (same(type->text, TEXT("tool_sequence"))) {
        json *wanted = json_get(scorer, TEXT("tools"));
        if (!are_texts(wanted)) return TEXT("tool_sequence needs tools, a list of names");
        *passed = in_order(wanted);
    } else if (same(type->text, TEXT("llm_judge")))
        return TEXT("llm_judge is not supported: this hook asks no model; use exit_ok, max_turns, max_tokens or tool_sequence");
    else
        return joined(TEXT("unknown scorer "), type->text, TEXT("; known: exit_ok, max_turns, max_tokens, tool_sequence"));
    return (hook_text){0};
}

static hook_text read_scorers(json **scorers) {
    hook_text source;
    *scorers = NULL;
    if (!variable_named(TEXT("MURMUR_EVAL_CONFIG"), &source) && !variable_named(CONFIG, &source)) return (hook_text){0};
    json *config = json_read(source), *list = json_get(config, TEXT("scorers"));
    if (list == NULL || list->kind != JSON_LIST) return TEXT("the configuration is no table with a list of scorers");
    *scorers = list->first;
    return (hook_text){0};
}

hook_answer on_session_end(const session_end_event *event) {
    json *scorers;
    hook_text problem = read_scorers(&scorers);
    builder lines = {0};
    bool all_passed = true;
    uint64_t count = 0;
    for (json *scorer = scorers; scorer != NULL && problem.size == 0; scorer = scorer->next) {
        bool passed = false;
        problem = score(scorer, event, &passed);
        if (problem.size > 0) break;
        builder line = {0};
        member_text(&line, "type", TEXT("event_score"));
        member_text(&line, "scorer", json_get(scorer, TEXT("type"))->text);
        add_name(&line, "passed");
        add(&line, passed ? TEXT("true") : TEXT("false"));
        identify(&line);
        end_line(&line);
        add(&lines, built(&line));
        all_passed &= passed;
        count++;
    }
    builder line = {0};
    if (problem.size > 0) lines = (builder){0}, count = 0;
    member_text(&line, "type", TEXT("dataset_run"));
    member_text(&line, "overall",
                problem.size > 0 ? TEXT("config_error")
                : count == 0     ? TEXT("no_scores")
                : all_passed     ? TEXT("pass")
                                 : TEXT("fail"));
    member_number(&line, "scores", count);
    member_maybe(&line, "error", (maybe_text){problem.size > 0, problem});
    identify(&line);
    end_line(&line);
    add(&lines, built(&line));
    hook_text unwritten = append(TEXT("eval.jsonl"), built(&lines));
    if (unwritten.size > 0) return hook_error(unwritten);
    return problem.size > 0 ? hook_error(joined(TEXT("eval: "), problem, (hook_text){0})) : hook_pass();
}
