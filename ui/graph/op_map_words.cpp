#include "ui/graph/op_map_words.h"

#include "engine/graph/op_def.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

QString valueText(const Value& value)
{
    return QStringLiteral("%1: %2 %3")
        .arg(QString::fromStdString(value.name), formatLabel(value.type.dtype),
            QString::fromStdString(value.type.shape.text()));
}

/// One line per value; an update has one per parameter, more than anyone reads.
QString valueList(const Graph& graph, const std::vector<ValueId>& ids)
{
    constexpr std::size_t most = 6;
    QStringList lines;
    for (const ValueId id : ids) {
        if (lines.size() == static_cast<qsizetype>(most) && ids.size() > most + 1) {
            lines += tr("and %1 more").arg(ids.size() - most);
            break;
        }
        lines += valueText(graph.value(id));
    }
    return lines.join(QStringLiteral("\n    "));
}

QString reasonText(const OpMap& map, NodeIndex index)
{
    const Node& node = map.node(index);
    if (map.isRecomputed(index)) {
        return tr("computed again as in the forward pass, whose activations were not kept (checkpointing)");
    }
    if (!node.reason.empty()) {
        const QString reason = QString::fromStdString(node.reason);
        return node.op == Op::Cast ? tr("cast for the %1").arg(reason) : reason;
    }
    switch (node.phase) {
    case Phase::Backward:
        return tr("a backward op runs in the format of its forward op, %1")
            .arg(QString::fromStdString(map.node(map.rowOf(index).op).name));
    case Phase::Unscale:
    case Phase::Check:
    case Phase::Clip:
    case Phase::Optimizer:
        return tr("the update works on gradients and master weights");
    default:
        return tr("not autocast's choice");
    }
}

} // namespace

QString formatLabel(DType format)
{
    return QString::fromLatin1(nameOf(format).data(), static_cast<qsizetype>(nameOf(format).size())).toUpper();
}

QString formatLabel(const OpMap& map, NodeIndex node)
{
    const QString format = formatLabel(map.formatOf(node));
    const auto sums = map.notableSumFormat(node);
    return sums ? tr("%1, sums %2").arg(format, formatLabel(*sums)) : format;
}

QString castLabel(const OpMap& map, NodeIndex cast)
{
    const DType from = map.graph().value(map.node(cast).inputs.front()).type.dtype;
    return QStringLiteral("%1\u2192%2").arg(formatLabel(from), formatLabel(map.formatOf(cast)));
}

QString formatsText(const FormatCount& count)
{
    QStringList parts;
    for (const DType format : {DType::Float16, DType::BFloat16, DType::Float32}) {
        if (const auto found = count.ops.find(format); found != count.ops.end()) {
            parts += tr("%1 in %2").arg(found->second).arg(formatLabel(format));
        }
    }
    return parts.join(QStringLiteral(", "));
}

QString shortName(const OpMap& map, NodeIndex index)
{
    QString name = QString::fromStdString(map.node(index).name);
    const MapRow& row = map.rowOf(index);
    if (map.node(index).phase == Phase::Backward) {
        const QString mark = QStringLiteral(".backward.");
        const qsizetype at = name.indexOf(mark);
        if (map.isRecomputed(index)) {
            return tr("again");
        }
        return at < 0 ? name : name.mid(at + mark.size());
    }
    if (row.block) {
        const QString block = QString::fromStdString(map.blocks()[*row.block].name) + QLatin1Char('.');
        if (name.startsWith(block)) {
            return name.mid(block.size());
        }
    }
    return name;
}

QString opName(const OpMap& map, NodeIndex node)
{
    const std::string_view name = opDef(map.node(node).op).name;
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

QString shapeText(const OpMap& map, NodeIndex node)
{
    const std::vector<ValueId>& outputs = map.node(node).outputs;
    return outputs.empty() ? QString() : QString::fromStdString(map.graph().value(outputs.front()).type.shape.text());
}

QString nodeText(const OpMap& map, NodeIndex index)
{
    const Node& node = map.node(index);
    QStringList lines {QStringLiteral("%1: %2").arg(QString::fromStdString(node.name), opName(map, index))};
    lines += node.op == Op::Cast ? castLabel(map, index) : tr("runs in %1").arg(formatLabel(map, index));
    lines += tr("reads %1").arg(valueList(map.graph(), node.inputs));
    lines += tr("writes %1").arg(valueList(map.graph(), node.outputs));
    lines += tr("why: %1").arg(reasonText(map, index));
    if (map.isOverridden(index)) {
        lines += tr("An override has changed this; the menu (Enter) takes it back.");
    }
    return lines.join(QLatin1Char('\n'));
}

QString blockText(const MapBlock& block)
{
    return tr("%1: %2 ops, %3; %4 casts. Backward: %5 ops, %6 casts. Enter or a double click opens and closes it.")
        .arg(QString::fromStdString(block.name))
        .arg(block.forward.total())
        .arg(formatsText(block.forward))
        .arg(block.forward.casts)
        .arg(block.backward.total())
        .arg(block.backward.casts);
}

QString nodeSentence(const OpMap& map, NodeIndex index)
{
    const QString name = QString::fromStdString(map.node(index).name);
    if (map.node(index).op == Op::Cast) {
        return tr("cast %1, %2").arg(name, castLabel(map, index));
    }
    const QString sentence
        = tr("%1 %2 in %3, %4").arg(opName(map, index), name, formatLabel(map, index), shapeText(map, index));
    return map.isOverridden(index) ? tr("%1, changed by an override").arg(sentence) : sentence;
}

} // namespace mantissa
