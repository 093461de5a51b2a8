/// libcsv's parser, for whoever reads tables.
#pragma once

#include "engine/core/error.h"

#include <csv.h>

#include <memory>

namespace mantissa {

struct FreeCsvParser
{
    void operator()(csv_parser* parser) const
    {
        csv_free(parser);
        delete parser;
    }
};

using CsvParser = std::unique_ptr<csv_parser, FreeCsvParser>;

/// With libcsv's flags. Throws Error (Internal).
inline CsvParser makeCsvParser(unsigned char flags)
{
    CsvParser parser(new csv_parser {});
    if (csv_init(parser.get(), flags) != 0) {
        throw Error(ErrorCode::Internal, "[csv] the parser cannot be set up");
    }
    csv_set_blk_size(parser.get(), 4096);
    return parser;
}

} // namespace mantissa
