// The gallery: every experiment shows what it says, and would not say so if its effect were gone.
#include "engine/train/session.h"
#include "engine/verify/judge.h"

#include <QDir>
#include <QtTest>

#include <algorithm>

using namespace mantissa;

namespace {

std::vector<LaneOutcome> train(const Experiment& experiment)
{
    OutcomeCollector collector;
    SessionOptions options;
    options.observers = {&collector};
    options.sampling = samplingFor(experiment);
    Session session(experiment, options);
    session.run();
    session.waitUntilIdle();
    return collector.outcomes();
}

bool areAllMet(const std::vector<Judgement>& judgements)
{
    return std::ranges::all_of(judgements, &Judgement::isMet);
}

/// A lane's outcome follows from its settings alone, so this is what a run would give in which lane i had the settings
/// of lane source[i].
std::vector<LaneOutcome> withSettingsOf(
    const std::vector<LaneOutcome>& outcomes, const std::vector<std::size_t>& source)
{
    std::vector<LaneOutcome> result;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        result.push_back(outcomes[source[i]]);
        result.back().lane = outcomes[i].lane;
    }
    return result;
}

std::string text(const Judgement& judgement)
{
    const auto side = [](const MetricValue& value) {
        const auto* number = std::get_if<double>(&value);
        return number != nullptr ? QString::number(*number).toStdString() : std::get<std::string>(value);
    };
    return judgement.that + ": " + side(judgement.left) + " " + std::string(nameOf(judgement.op)) + " "
        + side(judgement.right);
}

} // namespace

class TestGallery : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase()
    {
        const QDir folder(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/gallery"));
        for (const QString& name : folder.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
            m_files.append(folder.filePath(name));
        }
        QVERIFY(m_files.size() > 20);
    }

    void readsWell_data() { addFiles(); }

    void readsWell()
    {
        QFETCH(const QString, file);
        const Experiment experiment = loadExperiment(file.toStdString());
        QVERIFY(experiment.claim.has_value());
        const QString id = QString::fromStdString(experiment.claim->id);
        QVERIFY(QFileInfo(file).fileName().startsWith(id.toLower() + '_'));
        QVERIFY(QString::fromStdString(experiment.name).startsWith(id + ": "));
        const QString words = QString::fromStdString(experiment.text);
        for (const char* part : {"**Before you press Space:**", "**What to look at**", "**What to do in PyTorch.**"}) {
            QVERIFY2(words.contains(part), part);
        }
        QVERIFY(experiment.lanes.size() >= 2);
        QVERIFY(experiment.expect.size() >= 3);
    }

    void showsWhatItSays_data() { addFiles(); }

    void showsWhatItSays()
    {
        QFETCH(const QString, file);
        const Experiment experiment = loadExperiment(file.toStdString());
        const std::vector<LaneOutcome> outcomes = train(experiment);
        QCOMPARE(outcomes.size(), experiment.lanes.size());
        for (const Judgement& judgement : judgeAll(experiment, outcomes)) {
            QVERIFY2(judgement.isMet, text(judgement).c_str());
        }
        // Without what sets the lanes apart, an expectation fails: all like the first, all like the last, each like its
        // neighbour.
        std::vector<std::size_t> source(outcomes.size(), 0);
        QVERIFY(!areAllMet(judgeAll(experiment, withSettingsOf(outcomes, source))));
        std::ranges::fill(source, outcomes.size() - 1);
        QVERIFY(!areAllMet(judgeAll(experiment, withSettingsOf(outcomes, source))));
        for (std::size_t i = 0; i < source.size(); ++i) {
            source[i] = (i + 1) % source.size();
        }
        QVERIFY(!areAllMet(judgeAll(experiment, withSettingsOf(outcomes, source))));
    }

private:
    void addFiles()
    {
        QTest::addColumn<QString>("file");
        for (const QString& file : m_files) {
            QTest::newRow(qPrintable(QFileInfo(file).completeBaseName())) << file;
        }
    }

    QStringList m_files;
};

QTEST_APPLESS_MAIN(TestGallery)
#include "tst_gallery.moc"
