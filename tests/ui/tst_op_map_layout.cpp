// Where the op map puts things: the graphs of all presets under several policies, folded and not.
#include "engine/train/step_graph.h"
#include "tests/support/graph_lookup.h"
#include "tests/support/model_tasks.h"
#include "ui/graph/op_map_layout.h"
#include "ui/graph/op_map_words.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace mantissa;
using namespace mantissa::test;

namespace {

using Kind = MapBox::Kind;

LaneConfig laneFor(const std::string& model, const std::string& policy, std::int64_t accumulation)
{
    LaneConfig lane;
    lane.model = model == "layers"
        ? layerModel(R"(["flatten", {"residual": [{"kind": "linear", "features": 64}]}, "linear"])")
        : tinyModel(model);
    lane.model.depth = 2;
    lane.model.fusedAttention = accumulation == 1;
    lane.precision.policy = policy;
    lane.accumulation.steps = accumulation;
    lane.clip.order = ClipOrder::UnscaleThenClip;
    lane.clip.maxNorm = 1.0;
    return lane;
}

OpMap mapOf(const LaneConfig& lane)
{
    const ModelTask task = lane.model.kind == "gpt" ? tokenTask(2, 4, true) : imageTask(2);
    return {std::make_shared<const Graph>(buildStepGraph(lane, task).graph), lane.precision.overrides};
}

std::set<std::string> allBlocks(const OpMap& map)
{
    std::set<std::string> names;
    for (const MapBlock& block : map.blocks()) {
        names.insert(block.name);
    }
    return names;
}

NodeIndex indexOf(const OpMap& map, std::string_view name)
{
    return static_cast<NodeIndex>(&nodeNamed(map.graph(), name) - map.graph().nodes().data());
}

} // namespace

class TestOpMapLayout : public QObject
{
    Q_OBJECT

private slots:
    void everyNodeIsDrawnOnceWithoutOverlap_data();
    void everyNodeIsDrawnOnceWithoutOverlap();

    void edgesFollowTheStep_data() { everyNodeIsDrawnOnceWithoutOverlap_data(); }

    void edgesFollowTheStep();
    void residualBranchesRunOnRailsOfTheirOwn();
    void everyBoxIsReachedByArrowKeys();
    void backwardOpsStandBesideTheirForwardOp();
    void anEmptyGraphIsAnEmptyMap();
};

void TestOpMapLayout::everyNodeIsDrawnOnceWithoutOverlap_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("policy");
    QTest::addColumn<int>("accumulation");
    QTest::addColumn<bool>("folded");
    for (const char* model : {"mlp", "cnn", "resnet", "vit", "gpt", "layers"}) {
        for (const char* policy : {"fp32", "fp16", "cpu-bf16", "O2"}) {
            for (const int accumulation : {1, 2}) {
                for (const bool folded : {false, true}) {
                    QTest::addRow("%s %s x%d %s", model, policy, accumulation, folded ? "folded" : "open")
                        << model << policy << accumulation << folded;
                }
            }
        }
    }
}

void TestOpMapLayout::everyNodeIsDrawnOnceWithoutOverlap()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    QFETCH(int, accumulation);
    QFETCH(bool, folded);
    const OpMap map = mapOf(laneFor(model.toStdString(), policy.toStdString(), accumulation));
    const OpMapLayout layout = layOut(map, folded ? allBlocks(map) : std::set<std::string>(), {});
    std::map<std::size_t, int> nodesOfBox;
    for (NodeIndex node = 0; node < map.graph().nodes().size(); ++node) {
        const auto box = layout.boxOfNode[node];
        QVERIFY2(box, map.node(node).name.c_str());
        ++nodesOfBox[*box];
        if (!layout.boxes[*box].isBlock()) {
            QCOMPARE(layout.boxes[*box].index, node);
            QCOMPARE(layout.boxes[*box].kind == Kind::Cast, map.node(node).op == Op::Cast);
        }
    }
    for (std::size_t a = 0; a < layout.boxes.size(); ++a) {
        const MapBox& box = layout.boxes[a];
        QVERIFY(layout.bounds.contains(box.rect));
        QVERIFY(box.kind == Kind::BlockTitle || nodesOfBox[a] == 1 || (box.isBlock() && nodesOfBox[a] > 1));
        for (std::size_t b = a + 1; b < layout.boxes.size(); ++b) {
            const QRectF common = box.rect & layout.boxes[b].rect;
            QVERIFY2(common.width() <= 0 || common.height() <= 0,
                qPrintable(QStringLiteral("boxes %1 and %2").arg(a).arg(b)));
        }
    }
    QCOMPARE(layout.frames.size(), folded ? std::size_t {0} : map.blocks().size());
    const std::map<QString, std::size_t> blocks {
        {QStringLiteral("resnet"), 4}, {QStringLiteral("vit"), 2}, {QStringLiteral("gpt"), 2}};
    const auto expected = blocks.find(model);
    QCOMPARE(map.blocks().size(), expected == blocks.end() ? std::size_t {0} : expected->second);
}

void TestOpMapLayout::edgesFollowTheStep()
{
    QFETCH(QString, model);
    QFETCH(QString, policy);
    QFETCH(int, accumulation);
    QFETCH(bool, folded);
    const OpMap map = mapOf(laneFor(model.toStdString(), policy.toStdString(), accumulation));
    const OpMapLayout layout = layOut(map, folded ? allBlocks(map) : std::set<std::string>(), {});
    std::set<std::pair<std::size_t, std::size_t>> drawn;
    for (const MapEdge& edge : layout.edges) {
        const QRectF& from = layout.boxes[edge.from].rect;
        const QRectF& to = layout.boxes[edge.to].rect;
        const QPointF offset = to.center() - from.center();
        QVERIFY(edge.line.size() >= 2);
        QVERIFY(from.adjusted(-1, -1, 1, 1).contains(edge.line.first()));
        QVERIFY(to.adjusted(-1, -1, 1, 1).contains(edge.line.last()));
        // Activations go down; gradients go up beside them, within a row to the right.
        const bool isSideways = offset.x() > 0 && std::abs(offset.y()) <= 1;
        QVERIFY(edge.isBackward ? offset.y() < -1 || isSideways : offset.y() > 1);
        drawn.emplace(edge.from, edge.to);
    }
    // What the graph passes on is an edge, or hidden in a block.
    for (NodeIndex node = 0; node < map.graph().nodes().size(); ++node) {
        const bool isBackward = map.node(node).phase == Phase::Backward;
        for (const NodeIndex producer : map.producersOf(node)) {
            const bool isSame = (map.node(producer).phase == Phase::Backward) == isBackward;
            const bool isWeightCast = map.node(producer).phase == Phase::WeightCast;
            if (!isSame || isWeightCast || map.rowOf(producer).isUpdate != map.rowOf(node).isUpdate) {
                continue;
            }
            const std::size_t from = *layout.boxOfNode[producer];
            const std::size_t to = *layout.boxOfNode[node];
            QVERIFY2(from == to || drawn.contains({from, to}), map.node(node).name.c_str());
        }
    }
}

void TestOpMapLayout::residualBranchesRunOnRailsOfTheirOwn()
{
    const OpMap map = mapOf(laneFor("vit", "fp16", 1));
    const OpMapLayout layout = layOut(map, {}, {});
    const auto edgeInto = [&](const char* from, const char* to) {
        const std::size_t source = *layout.boxOfNode[indexOf(map, from)];
        const std::size_t target = *layout.boxOfNode[indexOf(map, to)];
        return std::ranges::find_if(
            layout.edges, [&](const MapEdge& edge) { return edge.from == source && edge.to == target; });
    };
    const auto residual = edgeInto("blocks.0.add1", "blocks.0.add2");
    QVERIFY(residual != layout.edges.end());
    for (const MapBox& box : layout.boxes) {
        const QRectF inner = box.rect.adjusted(1, 1, -1, -1);
        for (qsizetype i = 1; i < residual->line.size(); ++i) {
            const QRectF part = QRectF(residual->line[i - 1], residual->line[i]).normalized();
            QVERIFY(!part.adjusted(-0.1, -0.1, 0.1, 0.1).intersects(inner));
        }
    }
    const auto chain = edgeInto("blocks.0.mlp.fc1", "blocks.0.mlp.act");
    QVERIFY(chain != layout.edges.end());
    QCOMPARE(chain->line.size(), 2);
}

void TestOpMapLayout::everyBoxIsReachedByArrowKeys()
{
    using enum OpMapLayout::Direction;
    for (const char* model : {"resnet", "vit"}) {
        const OpMap map = mapOf(laneFor(model, "fp16", 1));
        const OpMapLayout layout = layOut(map, {}, {});
        std::set<std::size_t> reached {0};
        std::vector<std::size_t> open {0};
        while (!open.empty()) {
            const std::size_t box = open.back();
            open.pop_back();
            for (const auto direction : {Up, Down, Left, Right}) {
                if (const auto next = layout.neighbour(box, direction); next && reached.insert(*next).second) {
                    open.push_back(*next);
                }
            }
        }
        for (std::size_t box = 0; box < layout.boxes.size(); ++box) {
            const MapBox& missed = layout.boxes[box];
            QVERIFY2(reached.contains(box) || missed.isBlock(), map.node(missed.index).name.c_str());
        }
    }
}

void TestOpMapLayout::backwardOpsStandBesideTheirForwardOp()
{
    const OpMap map = mapOf(laneFor("mlp", "fp16", 1));
    const OpMapLayout layout = layOut(map, {}, {});
    for (const MapRow& row : map.rows()) {
        const QRectF& forward = layout.boxes[*layout.boxOfNode[row.op]].rect;
        for (const NodeIndex node : row.backward) {
            const QRectF& backward = layout.boxes[*layout.boxOfNode[node]].rect;
            QCOMPARE(backward.center().y(), forward.center().y());
            QVERIFY(backward.left() > forward.right());
        }
    }
    const MapRow& first = map.rowOf(indexOf(map, "fc1"));
    QCOMPARE(first.weightCasts.size(), std::size_t {2});
    QCOMPARE(first.inputCasts.size(), std::size_t {1});
    QCOMPARE(castLabel(map, first.weightCasts[0]), QStringLiteral("FP32\u2192FP16"));
    QCOMPARE(formatLabel(map, first.op), QStringLiteral("FP16, sums FP32"));
}

void TestOpMapLayout::anEmptyGraphIsAnEmptyMap()
{
    const OpMap map(std::make_shared<const Graph>(), {});
    QVERIFY(map.rows().empty());
    QVERIFY(layOut(map, {}, {}).boxes.empty());
}

QTEST_APPLESS_MAIN(TestOpMapLayout)
#include "tst_op_map_layout.moc"
