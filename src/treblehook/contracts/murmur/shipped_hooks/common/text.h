/* Texts: comparing, searching, and building them piece by piece. */

#ifndef TEXT_H
#define TEXT_H

#include "lifecycle.h"

void *memcpy(void *to, const void *from, size_t size);
int memcmp(const void *one, const void *other, size_t size);

#define HELPER static inline __attribute__((unused))

HELPER bool same(hook_text one, hook_text other) { return one.size == other.size && memcmp(one.data, other.data, one.size) == 0; }

HELPER hook_text part(hook_text of, uint32_t from, uint32_t to) { return (hook_text){of.data + from, to - from}; }

HELPER bool begins(hook_text text, hook_text with) { return text.size >= with.size && memcmp(text.data, with.data, with.size) == 0; }

HELPER bool has(hook_text text, char byte) {
    for (uint32_t i = 0; i < text.size; i++)
        if (text.data[i] == byte) return true;
    return false;
}

HELPER bool contains(hook_text text, hook_text inner) {
    for (uint32_t i = 0; i + inner.size <= text.size; i++)
        if (memcmp(text.data + i, inner.data, inner.size) == 0) return true;
    return false;
}

/* Whether `text` is one of the words of `words`, which are separated by spaces. */
HELPER bool one_of(hook_text text, const char *words) {
    while (*words != 0) {
        uint32_t size = 0;
        while (words[size] != 0 && words[size] != ' ') size++;
        if (same(text, (hook_text){words, size})) return true;
        words += size;
        if (*words == ' ') words++;
    }
    return false;
}

HELPER hook_text last_segment(hook_text path) {
    uint32_t end = path.size;
    while (end > 1 && path.data[end - 1] == '/') end--;
    uint32_t start = end;
    while (start > 0 && path.data[start - 1] != '/') start--;
    return part(path, start, end);
}

/* A text that grows. With `keep` it stays between calls. */
typedef struct {
    char *data;
    uint32_t size, room;
    bool keep;
} builder;

HELPER void add_bytes(builder *to, const void *data, uint32_t size) {
    if (to->room - to->size < size) {
        uint32_t room = (to->size + size) * 2 + 256;
        char *grown = to->keep ? hook_keep(room) : hook_allocate(room);
        memcpy(grown, to->data, to->size);
        to->data = grown;
        to->room = room;
    }
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

HELPER void add(builder *to, hook_text text) { add_bytes(to, text.data, text.size); }
HELPER void add_byte(builder *to, char byte) { add_bytes(to, &byte, 1); }
HELPER hook_text built(const builder *from) { return (hook_text){from->data, from->size}; }

HELPER void add_number(builder *to, uint64_t number) {
    char digits[20];
    uint32_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    add_bytes(to, digits + at, sizeof digits - at);
}

HELPER void add_signed(builder *to, int64_t number) {
    if (number < 0) add_byte(to, '-');
    add_number(to, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

/* A number from 0 up, with six digits behind the point. */
HELPER void add_fraction(builder *to, double number) {
    if (!(number >= 0 && number < 1e15)) number = 0;
    uint64_t whole = (uint64_t)number, millionths = (uint64_t)((number - (double)whole) * 1e6 + 0.5);
    if (millionths == 1000000) whole++, millionths = 0;
    add_number(to, whole);
    add_byte(to, '.');
    for (uint32_t place = 100000; place > 0; place /= 10) add_byte(to, (char)('0' + millionths / place % 10));
}

HELPER hook_text joined(hook_text a, hook_text b, hook_text c) {
    builder all = {0};
    add(&all, a);
    add(&all, b);
    add(&all, c);
    return built(&all);
}

HELPER hook_text kept_copy(hook_text text) {
    char *copy = hook_keep(text.size);
    memcpy(copy, text.data, text.size);
    return (hook_text){copy, text.size};
}

#endif
