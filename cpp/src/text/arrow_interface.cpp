#include "ietest/text/arrow_interface.hpp"

#include <array>
#include <string>
#include <utility>

namespace ietest::text {
namespace {

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

struct SchemaContent {
    std::string format;
    std::string name;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> child_pointers;
};

// Keeps alive whatever owns the buffers, together with the table of pointers to them.
struct ArrayContent {
    OwnedStrings strings;
    std::vector<std::int64_t> integers;
    std::vector<std::int8_t> bytes;
    std::vector<std::int64_t> offsets;
    std::vector<char> text;
    std::array<const void*, 3> buffers{};
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> child_pointers;
};

void release_schema(ArrowSchema* schema) {
    auto* content = static_cast<SchemaContent*>(schema->private_data);
    for (ArrowSchema& child : content->children) {
        if (child.release != nullptr) child.release(&child);
    }
    delete content;
    schema->private_data = nullptr;
    schema->release = nullptr;
}

void release_array(ArrowArray* array) {
    auto* content = static_cast<ArrayContent*>(array->private_data);
    for (ArrowArray& child : content->children) {
        // A child that was moved out has been marked as released by its new owner.
        if (child.release != nullptr) child.release(&child);
    }
    delete content;
    array->private_data = nullptr;
    array->release = nullptr;
}

void fill_schema(ArrowSchema* schema, std::string format, std::string name,
                 std::vector<ArrowSchema> children = {}, std::int64_t flags = 0) {
    auto content = std::make_unique<SchemaContent>();
    content->format = std::move(format);
    content->name = std::move(name);
    content->children = std::move(children);
    for (ArrowSchema& child : content->children) content->child_pointers.push_back(&child);
    *schema = ArrowSchema{};
    schema->format = content->format.c_str();
    schema->name = content->name.c_str();
    schema->flags = flags;
    schema->n_children = static_cast<std::int64_t>(content->children.size());
    schema->children = content->child_pointers.empty() ? nullptr : content->child_pointers.data();
    schema->release = release_schema;
    schema->private_data = content.release();
}

void fill_array(ArrowArray* array, std::unique_ptr<ArrayContent> content, std::int64_t length,
                std::int64_t null_count, std::int64_t n_buffers) {
    for (ArrowArray& child : content->children) content->child_pointers.push_back(&child);
    *array = ArrowArray{};
    array->length = length;
    array->null_count = null_count;
    array->n_buffers = n_buffers;
    array->buffers = content->buffers.data();
    array->n_children = static_cast<std::int64_t>(content->children.size());
    array->children = content->child_pointers.empty() ? nullptr : content->child_pointers.data();
    array->release = release_array;
    array->private_data = content.release();
}

// Consumers may read buffers of empty arrays; none of them is ever null.
const void* not_null(const void* pointer) {
    static const std::int64_t nothing[8] = {};
    return pointer != nullptr ? pointer : nothing;
}

ArrowArray integer_array(std::vector<std::int64_t>&& values) {
    auto content = std::make_unique<ArrayContent>();
    content->integers = std::move(values);
    content->buffers = {nullptr, not_null(content->integers.data()), nullptr};
    const auto length = static_cast<std::int64_t>(content->integers.size());
    ArrowArray array;
    fill_array(&array, std::move(content), length, 0, 2);
    return array;
}

ArrowArray byte_array(std::vector<std::int8_t>&& values) {
    auto content = std::make_unique<ArrayContent>();
    content->bytes = std::move(values);
    content->buffers = {nullptr, not_null(content->bytes.data()), nullptr};
    const auto length = static_cast<std::int64_t>(content->bytes.size());
    ArrowArray array;
    fill_array(&array, std::move(content), length, 0, 2);
    return array;
}

ArrowArray text_array(std::vector<std::int64_t>&& offsets, std::vector<char>&& text) {
    auto content = std::make_unique<ArrayContent>();
    content->offsets = std::move(offsets);
    content->text = std::move(text);
    content->buffers = {nullptr, content->offsets.data(), not_null(content->text.data())};
    const auto length = static_cast<std::int64_t>(content->offsets.size()) - 1;
    ArrowArray array;
    fill_array(&array, std::move(content), length, 0, 3);
    return array;
}

}  // namespace

StringColumn view_of(const ArrowSchema& schema, const ArrowArray& array) {
    const std::string format = schema.format == nullptr ? "" : schema.format;
    if ((format != "u" && format != "U") || schema.dictionary != nullptr) {
        throw std::invalid_argument("an Arrow array of type string or large_string is needed");
    }
    if (array.n_buffers != 3 || array.buffers == nullptr) {
        throw MalformedColumn("a string array has three buffers");
    }
    StringColumn column;
    column.length = array.length;
    column.offset = array.offset;
    column.validity =
        array.null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(array.buffers[0]);
    column.offsets = array.buffers[1];
    column.data = static_cast<const char*>(array.buffers[2]);
    column.is_large = format == "U";
    check_offsets(column);
    return column;
}

void export_strings(OwnedStrings&& strings, ArrowSchema* schema, ArrowArray* array) {
    auto content = std::make_unique<ArrayContent>();
    content->strings = std::move(strings);
    const OwnedStrings& kept = content->strings;
    content->buffers = {kept.validity_buffer() ? kept.validity_buffer().data() : nullptr,
                        not_null(kept.offsets_buffer().data()),
                        not_null(kept.data_buffer().data())};
    const std::int64_t length = kept.length();
    const std::int64_t null_count = kept.null_count();
    fill_schema(schema, kept.is_large() ? "U" : "u", "", {}, kNullable);
    fill_array(array, std::move(content), length, null_count, 3);
}

void export_edits(EditList&& edits, ArrowSchema* schema, ArrowArray* array) {
    const std::array<std::pair<const char*, const char*>, 6> fields{
        {{"l", "row"}, {"l", "start"}, {"l", "end"}, {"U", "old"}, {"U", "new"}, {"c", "rule"}}};
    std::vector<ArrowSchema> child_schemas(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        fill_schema(&child_schemas[i], fields[i].first, fields[i].second);
    }
    fill_schema(schema, "+s", "", std::move(child_schemas));
    auto content = std::make_unique<ArrayContent>();
    const std::int64_t length = edits.size();
    content->children.reserve(fields.size());
    content->children.push_back(integer_array(std::move(edits.row)));
    content->children.push_back(integer_array(std::move(edits.start)));
    content->children.push_back(integer_array(std::move(edits.end)));
    content->children.push_back(
        text_array(std::move(edits.old_offsets), std::move(edits.old_text)));
    content->children.push_back(
        text_array(std::move(edits.new_offsets), std::move(edits.new_text)));
    content->children.push_back(byte_array(std::move(edits.rule)));
    fill_array(array, std::move(content), length, 0, 1);
}

}  // namespace ietest::text
