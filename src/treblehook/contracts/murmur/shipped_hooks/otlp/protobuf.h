/* OpenTelemetry's trace messages, as far as they are needed, in the binary form of protocol buffers. Numbers of fields are those of
   opentelemetry/proto/trace/v1/trace.proto and its neighbours. */

#ifndef PROTOBUF_H
#define PROTOBUF_H

#include "../common/text.h"

HELPER void add_varint(builder *to, uint64_t value) {
    while (value >= 0x80) add_byte(to, (char)(value | 0x80)), value >>= 7;
    add_byte(to, (char)value);
}

HELPER void field_number(builder *to, uint32_t field, uint64_t value) { add_varint(to, field << 3), add_varint(to, value); }

HELPER void field_fixed(builder *to, uint32_t field, uint64_t value) {
    add_varint(to, field << 3 | 1);
    add_bytes(to, &value, sizeof value);
}

HELPER void field_bytes(builder *to, uint32_t field, hook_text value) {
    add_varint(to, field << 3 | 2);
    add_varint(to, value.size);
    add(to, value);
}

HELPER void key_value(builder *to, uint32_t field, hook_text key, const builder *value) {
    builder pair = {0};
    field_bytes(&pair, 1, key);
    field_bytes(&pair, 2, built(value));
    field_bytes(to, field, built(&pair));
}

HELPER void text_attribute(builder *to, uint32_t field, hook_text key, hook_text text) {
    builder value = {0};
    field_bytes(&value, 1, text);
    key_value(to, field, key, &value);
}

HELPER void number_attribute(builder *to, uint32_t field, hook_text key, int64_t number) {
    builder value = {0};
    field_number(&value, 3, (uint64_t)number);
    key_value(to, field, key, &value);
}

#endif
