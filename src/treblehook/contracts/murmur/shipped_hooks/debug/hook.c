/* Appends one JSON line per event to hook-debug.jsonl in its scope; nothing before a call. */

#include "../common/host.h"
#include "../common/json.h"

static hook_answer write_line(builder *line) {
    end_line(line);
    hook_text problem = append(TEXT("hook-debug.jsonl"), built(line));
    return problem.size > 0 ? hook_error(problem) : hook_pass();
}

static builder line_of(hook_text event) {
    builder line = {0};
    member_text(&line, "event", event);
    return line;
}

hook_answer on_stage(const stage_event *event) {
    builder line = line_of(TEXT("stage"));
    member_texts(&line, "shell_allow", event->shell_allow);
    return write_line(&line);
}

hook_answer on_session_start(const session_context *context) {
    builder line = line_of(TEXT("session-start"));
    member_text(&line, "capsule_name", context->capsule_name);
    member_text(&line, "capsule_version", context->capsule_version);
    member_text(&line, "session_id", context->session_id);
    member_text(&line, "model", context->model);
    member_texts(&line, "capabilities", context->capabilities);
    return write_line(&line);
}

hook_answer on_inference(const inference_event *event) {
    builder line = line_of(TEXT("inference"));
    member_number(&line, "turn", event->turn);
    member_number(&line, "input_tokens", event->input_tokens);
    member_number(&line, "output_tokens", event->output_tokens);
    member_text(&line, "decision", event->decision);
    member_maybe(&line, "tool_name", event->tool_name);
    return write_line(&line);
}

hook_answer on_tool_call(const tool_event *event) {
    if (!event->outcome.is_some) return hook_pass();
    builder line = line_of(TEXT("tool-call"));
    member_number(&line, "turn", event->turn);
    member_text(&line, "tool_name", event->tool_name);
    member_number(&line, "input_bytes", event->input_bytes);
    member_number(&line, "output_bytes", event->outcome.value.output_bytes);
    member_number(&line, "duration_ms", event->outcome.value.duration_ms);
    member_text(&line, "status", event->outcome.value.status);
    return write_line(&line);
}

hook_answer on_shell(const shell_event *event) {
    if (!event->outcome.is_some) return hook_pass();
    const shell_outcome *outcome = &event->outcome.value;
    builder line = line_of(TEXT("shell"));
    member_number(&line, "turn", event->turn);
    member_text(&line, "command", event->command);
    add_name(&line, "exit_code");
    add_signed(&line, outcome->exit_code);
    member_number(&line, "stdout_bytes", outcome->stdout_bytes);
    member_number(&line, "stderr_bytes", outcome->stderr_bytes);
    member_number(&line, "duration_ms", outcome->duration_ms);
    return write_line(&line);
}

hook_answer on_compaction(const compaction_event *event) {
    builder line = line_of(TEXT("compaction"));
    member_number(&line, "message_count", event->messages.count);
    member_number(&line, "session_tokens", event->session_tokens);
    add_name(&line, "threshold");
    add_fraction(&line, event->threshold);
    return write_line(&line);
}

hook_answer on_session_end(const session_end_event *event) {
    builder line = line_of(TEXT("session-end"));
    member_number(&line, "total_turns", event->total_turns);
    member_number(&line, "total_input_tokens", event->total_input_tokens);
    member_number(&line, "total_output_tokens", event->total_output_tokens);
    member_number(&line, "total_tool_calls", event->total_tool_calls);
    member_number(&line, "total_shell_calls", event->total_shell_calls);
    member_number(&line, "duration_ms", event->duration_ms);
    member_text(&line, "exit_status", event->exit_status);
    return write_line(&line);
}
