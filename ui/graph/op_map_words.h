/// What the op map says: formats, nodes, blocks and whole graphs in words.
#pragma once

#include "ui/graph/op_map.h"

#include <QString>

namespace mantissa {

/// "FP16"
QString formatLabel(DType format);
/// "FP16, sums FP32"
QString formatLabel(const OpMap& map, NodeIndex node);
/// "FP32\u2192FP16"
QString castLabel(const OpMap& map, NodeIndex cast);
/// "20 in FP16, 18 in FP32"
QString formatsText(const FormatCount& count);

/// The node's name without what its row or block says already: "mlp.fc1" in blocks.0, "input" of a backward op.
QString shortName(const OpMap& map, NodeIndex node);
QString opName(const OpMap& map, NodeIndex node);
/// "[64, 256]", of the first output.
QString shapeText(const OpMap& map, NodeIndex node);

/// Name, kind, what it reads and writes, and why it runs in its format; plain text in lines.
QString nodeText(const OpMap& map, NodeIndex node);
QString blockText(const MapBlock& block);
/// A sentence for screen readers: "linear fc1 in FP16, sums FP32, [64, 256]".
QString nodeSentence(const OpMap& map, NodeIndex node);

} // namespace mantissa
