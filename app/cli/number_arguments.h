/// Arguments that begin with a minus sign and are numbers, not options: -1.5, -inf, -.5.
#pragma once

#include <string>
#include <vector>

namespace mantissa::cli {

/// The arguments in the order that CLI::App::parse() wants (last first, without the program's name). A number that the
/// parser would take for an option gets a space in front, which readers of numbers ignore.
std::vector<std::string> withoutNumbersLikeOptions(int argc, char** argv);

} // namespace mantissa::cli
