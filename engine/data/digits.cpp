// The handwritten digits that ship: origin and licence in resources/data/README.md.
#include "engine/data/embedded.h"
#include "engine/data/image_dataset.h"
#include "engine/data/sources.h"

namespace mantissa {

Dataset loadDigits(const DataRequest& /*request*/)
{
    const auto parse = [](std::span<const unsigned char> bytes, IdxContents contents, const std::string& name) {
        return NamedIdx {.array = parseIdx(bytes, contents, name), .name = name};
    };
    constexpr float brightest = 16;
    return imageDataset(parse(digitImages(), IdxContents::Images, "digits.images.idx"),
        parse(digitLabels(), IdxContents::Labels, "digits.labels.idx"), brightest,
        {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
}

} // namespace mantissa
