/* JSON: reading a text into values, and writing one. */

#ifndef JSON_H
#define JSON_H

#include "text.h"

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } json_kind;

/* `text` of a text is decoded, of a number as it stands. Members of an object have a `name`; a name may stand twice. */
typedef struct json {
    json_kind kind;
    hook_text text, name;
    struct json *first, *next;
} json;

enum { JSON_DEPTH = 64 };
typedef struct {
    const char *at, *end;
} json_reader;

HELPER void json_blanks(json_reader *from) {
    while (from->at < from->end && (*from->at == ' ' || *from->at == '\n' || *from->at == '\r' || *from->at == '\t')) from->at++;
}

HELPER bool json_next(json_reader *from, char byte) {
    json_blanks(from);
    if (from->at >= from->end || *from->at != byte) return false;
    from->at++;
    return true;
}

HELPER bool json_four_digits(json_reader *from, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++) {
        if (from->at >= from->end) return false;
        char digit = *from->at++;
        uint32_t value;
        if (digit >= '0' && digit <= '9')
            value = (uint32_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            value = (uint32_t)(digit - 'a' + 10);
        else if (digit >= 'A' && digit <= 'F')
            value = (uint32_t)(digit - 'A' + 10);
        else
            return false;
        *code = *code * 16 + value;
    }
    return true;
}

HELPER void json_add_code(builder *to, uint32_t code) {
    if (code < 0x80)
        add_byte(to, (char)code);
    else if (code < 0x800)
        add_byte(to, (char)(0xC0 | code >> 6)), add_byte(to, (char)(0x80 | (code & 0x3F)));
    else if (code < 0x10000) {
        add_byte(to, (char)(0xE0 | code >> 12));
        add_byte(to, (char)(0x80 | (code >> 6 & 0x3F)));
        add_byte(to, (char)(0x80 | (code & 0x3F)));
    } else {
        add_byte(to, (char)(0xF0 | code >> 18));
        add_byte(to, (char)(0x80 | (code >> 12 & 0x3F)));
        add_byte(to, (char)(0x80 | (code >> 6 & 0x3F)));
        add_byte(to, (char)(0x80 | (code & 0x3F)));
    }
}

HELPER bool json_escape(json_reader *from, builder *to) {
    static const char *const plain = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (from->at >= from->end) return false;
    char kind = *from->at++;
    if (kind != 'u') {
        for (const char *pair = plain; *pair != 0; pair += 2)
            if (pair[0] == kind) return add_byte(to, pair[1]), true;
        return false;
    }
    uint32_t code, low;
    if (!json_four_digits(from, &code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
        if (from->end - from->at < 6 || from->at[0] != '\\' || from->at[1] != 'u') return false;
        from->at += 2;
        if (!json_four_digits(from, &low) || low < 0xDC00 || low > 0xDFFF) return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000)
        return false;
    json_add_code(to, code);
    return true;
}

HELPER bool json_string(json_reader *from, hook_text *text) {
    if (!json_next(from, '"')) return false;
    builder made = {0};
    while (from->at < from->end) {
        char byte = *from->at++;
        if (byte == '"') return *text = built(&made), true;
        if ((unsigned char)byte < 0x20) return false;
        if (byte != '\\')
            add_byte(&made, byte);
        else if (!json_escape(from, &made))
            return false;
    }
    return false;
}

HELPER bool json_word(json_reader *from, hook_text word) {
    if ((uint32_t)(from->end - from->at) < word.size || memcmp(from->at, word.data, word.size) != 0) return false;
    from->at += word.size;
    return true;
}

static json *json_value(json_reader *from, int depth);

HELPER json *json_members(json_reader *from, json *in, char closer, int depth) {
    json **last = &in->first;
    if (json_next(from, closer)) return in;
    do {
        hook_text name = {0};
        if (in->kind == JSON_OBJECT && !(json_string(from, &name) && json_next(from, ':'))) return NULL;
        json *member = json_value(from, depth + 1);
        if (member == NULL) return NULL;
        member->name = name;
        *last = member;
        last = &member->next;
    } while (json_next(from, ','));
    return json_next(from, closer) ? in : NULL;
}

static __attribute__((unused)) json *json_value(json_reader *from, int depth) {
    json_blanks(from);
    if (from->at >= from->end || depth > JSON_DEPTH) return NULL;
    json *made = hook_allocate(sizeof *made);
    const char *start = from->at;
    switch (*from->at) {
    case '{':
        from->at++;
        made->kind = JSON_OBJECT;
        return json_members(from, made, '}', depth);
    case '[':
        from->at++;
        made->kind = JSON_LIST;
        return json_members(from, made, ']', depth);
    case '"': made->kind = JSON_TEXT; return json_string(from, &made->text) ? made : NULL;
    case 'n': made->kind = JSON_NULL; return json_word(from, TEXT("null")) ? made : NULL;
    case 't': made->kind = JSON_TRUE; return json_word(from, TEXT("true")) ? made : NULL;
    case 'f': made->kind = JSON_FALSE; return json_word(from, TEXT("false")) ? made : NULL;
    }
    while (from->at < from->end && (has(TEXT("+-.eE"), *from->at) || (*from->at >= '0' && *from->at <= '9'))) from->at++;
    made->kind = JSON_NUMBER;
    made->text = (hook_text){start, (uint32_t)(from->at - start)};
    return made->text.size > 0 ? made : NULL;
}

/* The value of a whole text, or NULL where it is no JSON. */
HELPER json *json_read(hook_text text) {
    json_reader from = {text.data, text.data + text.size};
    json *value = json_value(&from, 0);
    json_blanks(&from);
    return from.at == from.end ? value : NULL;
}

/* The last member of this name, as a table that was filled in order would have it; NULL where there is none. */
HELPER json *json_get(const json *object, hook_text name) {
    json *found = NULL;
    if (object == NULL || object->kind != JSON_OBJECT) return NULL;
    for (json *member = object->first; member != NULL; member = member->next)
        if (same(member->name, name)) found = member;
    return found;
}

/* A whole number from 0 up; false where it is none. */
HELPER bool json_count(const json *value, uint64_t *count) {
    if (value == NULL || value->kind != JSON_NUMBER || value->text.size > 18) return false;
    *count = 0;
    for (uint32_t i = 0; i < value->text.size; i++) {
        if (value->text.data[i] < '0' || value->text.data[i] > '9') return false;
        *count = *count * 10 + (uint64_t)(value->text.data[i] - '0');
    }
    return true;
}

HELPER void add_quoted(builder *to, hook_text text) {
    static const char digits[] = "0123456789abcdef";
    add_byte(to, '"');
    for (uint32_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte == '"' || byte == '\\') add_byte(to, '\\');
        if (byte >= 0x20)
            add_byte(to, (char)byte);
        else if (byte == '\n')
            add(to, TEXT("\\n"));
        else if (byte == '\t')
            add(to, TEXT("\\t"));
        else
            add(to, TEXT("\\u00")), add_byte(to, digits[byte >> 4]), add_byte(to, digits[byte & 15]);
    }
    add_byte(to, '"');
}

/* Members of an object, one after the other: the first begins it. */
HELPER void add_name(builder *to, const char *name) {
    add_byte(to, to->size == 0 || to->data[to->size - 1] == '\n' ? '{' : ',');
    uint32_t size = 0;
    while (name[size] != 0) size++;
    add_quoted(to, (hook_text){name, size});
    add_byte(to, ':');
}

HELPER void member_text(builder *to, const char *name, hook_text text) { add_name(to, name), add_quoted(to, text); }
HELPER void member_number(builder *to, const char *name, uint64_t number) { add_name(to, name), add_number(to, number); }

HELPER void member_maybe(builder *to, const char *name, maybe_text text) {
    add_name(to, name);
    if (text.is_some)
        add_quoted(to, text.value);
    else
        add(to, TEXT("null"));
}

HELPER void member_texts(builder *to, const char *name, text_list texts) {
    add_name(to, name);
    add_byte(to, '[');
    for (uint32_t i = 0; i < texts.count; i++) {
        if (i > 0) add_byte(to, ',');
        add_quoted(to, texts.items[i]);
    }
    add_byte(to, ']');
}

HELPER void end_line(builder *to) { add(to, TEXT("}\n")); }

#endif
