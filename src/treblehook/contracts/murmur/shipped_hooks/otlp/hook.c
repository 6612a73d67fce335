/* Makes spans of what it hears, and leaves them at the end of a session as one request of OTLP/HTTP in otlp/TRACE.pb of its scope. The host
   sends that file to MURMUR_OTEL_ENDPOINT if the operator granted the hook that host; a component here has no network of its own. */

#include "../common/host.h"
#include "protobuf.h"

enum { ATTRIBUTE = 9, MOST_BYTES_KEPT = 4 << 20 };
enum { KIND_INTERNAL = 1, KIND_CLIENT = 3 };

/* Where a session makes more spans than fit, later ones are counted and left out; the session's own, which has no parent, is always there. */
static uint64_t trace[2], session_span, task_span, session_began, task_began, last_heard, left_out;
static hook_text model, capsule, session;
static builder spans = {.keep = true};

static uint64_t now(void) {
    wall_time time;
    wall_clock_now(&time);
    return time.seconds * 1000000000 + time.nanoseconds;
}

static uint64_t identifier(void) {
    uint64_t made;
    do made = random_u64();
    while (made == 0);
    return made;
}

static hook_text bytes_of(const void *data, uint32_t size) { return (hook_text){data, size}; }

static void put(hook_text name, uint64_t id, uint64_t parent, uint32_t kind, uint64_t began, uint64_t ended, bool failed,
                const builder *attributes) {
    builder span = {0};
    field_bytes(&span, 1, bytes_of(trace, sizeof trace));
    field_bytes(&span, 2, bytes_of(&id, sizeof id));
    if (parent != 0) field_bytes(&span, 4, bytes_of(&parent, sizeof parent));
    field_bytes(&span, 5, name);
    field_number(&span, 6, kind);
    field_fixed(&span, 7, began);
    field_fixed(&span, 8, ended);
    add(&span, built(attributes));
    builder status = {0};
    if (failed) field_number(&status, 3, 2);
    field_bytes(&span, 15, built(&status));
    if (parent != 0 && spans.size + span.size > MOST_BYTES_KEPT)
        left_out++;
    else
        field_bytes(&spans, 2, built(&span));
}

static uint64_t parent_now(void) { return task_span != 0 ? task_span : session_span; }

hook_answer on_session_start(const session_context *context) {
    trace[0] = identifier(), trace[1] = identifier();
    session_span = identifier();
    session_began = last_heard = now();
    model = kept_copy(context->model);
    capsule = kept_copy(context->capsule_name);
    session = kept_copy(context->session_id);
    return hook_pass();
}

hook_answer on_task_start(const task_start_event *event) {
    task_span = identifier();
    task_began = last_heard = now();
    return hook_pass();
}

hook_answer on_inference(const inference_event *event) {
    builder attributes = {0};
    uint64_t ended = now();
    text_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.operation.name"), TEXT("chat"));
    text_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.request.model"), model);
    number_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.usage.input_tokens"), (int64_t)event->input_tokens);
    number_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.usage.output_tokens"), (int64_t)event->output_tokens);
    number_attribute(&attributes, ATTRIBUTE, TEXT("murmur.turn"), event->turn);
    text_attribute(&attributes, ATTRIBUTE, TEXT("murmur.decision"), event->decision);
    put(joined(TEXT("chat "), model, (hook_text){0}), identifier(), parent_now(), KIND_CLIENT, last_heard, ended, false, &attributes);
    last_heard = ended;
    return hook_pass();
}

hook_answer on_tool_call(const tool_event *event) {
    if (!event->outcome.is_some) return hook_pass();
    builder attributes = {0};
    uint64_t ended = now();
    bool failed = !same(event->outcome.value.status, TEXT("ok"));
    text_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.operation.name"), TEXT("execute_tool"));
    text_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.tool.name"), event->tool_name);
    number_attribute(&attributes, ATTRIBUTE, TEXT("murmur.turn"), event->turn);
    number_attribute(&attributes, ATTRIBUTE, TEXT("murmur.input_bytes"), (int64_t)event->input_bytes);
    number_attribute(&attributes, ATTRIBUTE, TEXT("murmur.output_bytes"), (int64_t)event->outcome.value.output_bytes);
    hook_text name = joined(TEXT("execute_tool "), event->tool_name, (hook_text){0});
    put(name, identifier(), parent_now(), KIND_INTERNAL, ended - event->outcome.value.duration_ms * 1000000, ended, failed, &attributes);
    last_heard = ended;
    return hook_pass();
}

hook_answer on_shell(const shell_event *event) {
    if (!event->outcome.is_some) return hook_pass();
    builder attributes = {0};
    uint64_t ended = now();
    const shell_outcome *outcome = &event->outcome.value;
    text_attribute(&attributes, ATTRIBUTE, TEXT("process.executable.path"), event->binary);
    number_attribute(&attributes, ATTRIBUTE, TEXT("process.exit.code"), outcome->exit_code);
    number_attribute(&attributes, ATTRIBUTE, TEXT("murmur.turn"), event->turn);
    hook_text name = joined(TEXT("shell "), last_segment(event->binary), (hook_text){0});
    put(name, identifier(), parent_now(), KIND_INTERNAL, ended - outcome->duration_ms * 1000000, ended, outcome->exit_code != 0,
        &attributes);
    last_heard = ended;
    return hook_pass();
}

hook_answer on_task_end(const task_end_event *event) {
    if (task_span == 0) return hook_pass();
    builder attributes = {0};
    text_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.operation.name"), TEXT("invoke_agent"));
    text_attribute(&attributes, ATTRIBUTE, TEXT("gen_ai.agent.name"), capsule);
    text_attribute(&attributes, ATTRIBUTE, TEXT("murmur.task_id"), event->task_id);
    text_attribute(&attributes, ATTRIBUTE, TEXT("murmur.exit_status"), event->exit_status);
    hook_text name = joined(TEXT("invoke_agent "), capsule, (hook_text){0});
    last_heard = now();
    put(name, task_span, session_span, KIND_INTERNAL, task_began, last_heard, !same(event->exit_status, TEXT("ok")), &attributes);
    /* A reopened task goes on as another attempt. */
    task_span = identifier(), task_began = last_heard;
    return hook_pass();
}

static builder request(void) {
    builder resource = {0}, scope = {0}, all_spans = {0}, of_resource = {0}, whole = {0};
    text_attribute(&resource, 1, TEXT("service.name"), capsule);
    field_bytes(&scope, 1, TEXT("treblehook.otlp"));
    field_bytes(&all_spans, 1, built(&scope));
    add(&all_spans, built(&spans));
    field_bytes(&of_resource, 1, built(&resource));
    field_bytes(&of_resource, 2, built(&all_spans));
    field_bytes(&whole, 1, built(&of_resource));
    return whole;
}

static hook_text file_name(void) {
    static const char digits[] = "0123456789abcdef";
    builder name = {0};
    add(&name, TEXT("otlp/"));
    for (uint32_t i = 0; i < sizeof trace; i++) {
        unsigned char byte = ((const unsigned char *)trace)[i];
        add_byte(&name, digits[byte >> 4]), add_byte(&name, digits[byte & 15]);
    }
    add(&name, TEXT(".pb"));
    return built(&name);
}

hook_answer on_session_end(const session_end_event *event) {
    hook_text endpoint;
    if (!variable_named(TEXT("MURMUR_OTEL_ENDPOINT"), &endpoint))
        return hook_error(TEXT("otlp: MURMUR_OTEL_ENDPOINT is not set; nothing is exported"));
    if (scope_folder() < 0) return hook_error(TEXT("otlp: no folder is granted; grant it capabilities: filesystem: scope"));
    builder attributes = {0};
    text_attribute(&attributes, ATTRIBUTE, TEXT("session.id"), session);
    text_attribute(&attributes, ATTRIBUTE, TEXT("murmur.exit_status"), event->exit_status);
    number_attribute(&attributes, ATTRIBUTE, TEXT("murmur.total_turns"), event->total_turns);
    if (left_out > 0) number_attribute(&attributes, ATTRIBUTE, TEXT("murmur.spans_left_out"), (int64_t)left_out);
    put(joined(TEXT("session "), capsule, (hook_text){0}), session_span, 0, KIND_INTERNAL, session_began, now(),
        !same(event->exit_status, TEXT("ok")), &attributes);
    done_result made;
    create_directory_at(scope_folder(), "otlp", 4, &made);
    builder sent = request();
    hook_text problem = append(file_name(), built(&sent));
    return problem.size > 0 ? hook_error(problem) : hook_pass();
}
