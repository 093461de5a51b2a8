// The Chinese of the shipped experiments: nothing is left out, and numbers, code and Markdown are what they were.
#include "engine/train/experiment.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace mantissa;
using Json = nlohmann::ordered_json;

namespace {

const QRegularExpression number(QStringLiteral("\\d+(?:[.,]\\d+)*(?:e[-+]?\\d+)?"));
const QRegularExpression codeSpan(QStringLiteral("`[^`]+`"));
const QRegularExpression marked(QStringLiteral("(\\*{1,2})([^*]+)\\1"));
const QRegularExpression chinese(QStringLiteral("\\p{Han}"));

QStringList found(const QRegularExpression& pattern, const QString& text)
{
    QStringList result;
    for (QRegularExpressionMatchIterator matches = pattern.globalMatch(text); matches.hasNext();) {
        result.append(matches.next().captured());
    }
    return result;
}

/// The numbers and the pieces of code that a translation lacks.
QStringList lost(const QString& original, const QString& translation)
{
    QStringList result;
    for (const QRegularExpression& pattern : {number, codeSpan}) {
        const QStringList kept = found(pattern, translation);
        for (const QString& wanted : found(pattern, original)) {
            if (!kept.contains(wanted)) {
                result.append(wanted);
            }
        }
    }
    return result;
}

/// Each line as what it is: an item of a list with its number, a paragraph, or empty.
QStringList shapeOf(const QString& text)
{
    static const QRegularExpression item(QStringLiteral("^\\d+\\. "));
    QStringList shape;
    for (const QString& line : text.split(QLatin1Char('\n'))) {
        const QRegularExpressionMatch match = item.match(line);
        if (match.hasMatch()) {
            shape.append(match.captured());
        } else {
            shape.append(line.isEmpty() ? QString() : QStringLiteral("paragraph"));
        }
    }
    return shape;
}

/// Whether asterisks between these two characters begin or end a mark. CommonMark 0.30, section 6.2: next to
/// punctuation inside they do only if there is a space or punctuation outside. Chinese has no space behind a full stop
/// of its own.
bool isMark(QChar inside, QChar outside)
{
    return !inside.isSpace() && (!inside.isPunct() || outside.isSpace() || outside.isPunct());
}

/// What would be shown with its asterisks.
QStringList brokenMarks(QString text)
{
    text.replace(codeSpan, QStringLiteral("'")); // code begins and ends with punctuation
    text = QStringLiteral(" ") + text + QStringLiteral(" ");
    QStringList result;
    for (QRegularExpressionMatchIterator matches = marked.globalMatch(text); matches.hasNext();) {
        const QRegularExpressionMatch match = matches.next();
        const QString inside = match.captured(2);
        if (!isMark(inside.front(), text.at(match.capturedStart() - 1))
            || !isMark(inside.back(), text.at(match.capturedEnd()))) {
            result.append(match.captured());
        }
    }
    text.remove(marked);
    return result + found(QRegularExpression(QStringLiteral(".{0,9}\\*.{0,9}")), text);
}

/// Whether the text speaks of a lane: *lane*, or *lane.* where an item begins with it.
bool names(const QString& text, const QString& lane, const QString& fullStop)
{
    return text.contains(QStringLiteral("*%1*").arg(lane))
        || text.contains(QStringLiteral("*%1%2*").arg(lane, fullStop));
}

QString textOf(const Json& object, const char* key)
{
    return QString::fromStdString(object.value(key, std::string()));
}

QStringList textsOf(const Json& object, const char* key)
{
    QStringList result;
    for (const std::string& text : object.value(key, std::vector<std::string>())) {
        result.append(QString::fromStdString(text));
    }
    return result;
}

} // namespace

class TestTranslations : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase()
    {
        QFile file(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/translations/zh_CN.json"));
        QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.errorString()));
        m_bytes = file.readAll().toStdString();
        m_catalog = Json::parse(m_bytes, nullptr, false);
        QVERIFY2(m_catalog.is_object(), "the catalog is a JSON object");
        for (const QString& prefix : {QString(), QStringLiteral("gallery/")}) {
            const QDir folder(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/") + prefix);
            for (const QString& name : folder.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
                m_keys.append(prefix + QFileInfo(name).completeBaseName());
            }
        }
        QVERIFY(m_keys.size() > 20);
    }

    /// Two spaces of indentation, text unescaped. A key that is there twice would not come back either.
    void isWrittenAsWeWriteJson() { QVERIFY(m_catalog.dump(2) + "\n" == m_bytes); }

    void hasNoEntryTooMany()
    {
        for (const auto& entry : m_catalog.items()) {
            const QString key = QString::fromStdString(entry.key());
            QVERIFY2(m_keys.contains(key) || key.startsWith(QStringLiteral("lessons/")), entry.key().c_str());
        }
    }

    /// As many steps, and a text wherever the English has one.
    void lessonsHaveEveryPart()
    {
        const QDir folder(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/lessons"));
        const QStringList files = folder.entryList({QStringLiteral("*.json")}, QDir::Files);
        QVERIFY(files.size() >= 3);
        for (const QString& name : files) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            const Json lesson = Json::parse(file.readAll().toStdString());
            const Json entry = entryOf(QStringLiteral("lessons/") + QFileInfo(name).completeBaseName());
            QVERIFY2(entry.contains("steps"), qPrintable(name));
            QVERIFY(textOf(entry, "name").contains(chinese) && textOf(entry, "text").contains(chinese));
            QCOMPARE(entry["steps"].size(), lesson["steps"].size());
            for (std::size_t i = 0; i < lesson["steps"].size(); ++i) {
                for (const char* part : {"title", "predict", "do", "see", "ask"}) {
                    const QString english = textOf(lesson["steps"][i], part);
                    const QString translation = textOf(entry["steps"][i], part);
                    QVERIFY2(english.isEmpty() == !translation.contains(chinese), qPrintable(translation));
                    QCOMPARE(brokenMarks(translation), QStringList());
                    QVERIFY2(lost(english, translation).isEmpty(), qPrintable(translation));
                }
            }
        }
    }

    void hasEveryPart_data() { addExperiments(); }

    void hasEveryPart()
    {
        QFETCH(const QString, key);
        QVERIFY2(m_catalog.contains(key.toStdString()), "the experiment has no translation");
        const Experiment experiment = load(key);
        const Json entry = entryOf(key);
        QCOMPARE(entry.contains("says"), experiment.claim.has_value());
        QCOMPARE(textsOf(entry, "that").size(), static_cast<qsizetype>(experiment.expect.size()));
        if (experiment.claim.has_value()) {
            QVERIFY(textOf(entry, "name").startsWith(QString::fromStdString(experiment.claim->id) + ": "));
        }
        QStringList texts = textsOf(entry, "that");
        texts << textOf(entry, "name") << textOf(entry, "text");
        if (entry.contains("says")) {
            texts << textOf(entry, "says");
        }
        for (const QString& text : texts) {
            QVERIFY2(text.contains(chinese), qPrintable(text));
        }
    }

    void namesEveryLane_data() { addExperiments(); }

    void namesEveryLane()
    {
        QFETCH(const QString, key);
        const Experiment experiment = load(key);
        const QString original = QString::fromStdString(experiment.text);
        const Json entry = entryOf(key);
        const QString translation = textOf(entry, "text");
        const Json lanes = entry.value("lanes", Json::object());
        QCOMPARE(lanes.size(), experiment.lanes.size());
        std::set<std::string> different;
        for (const LaneConfig& lane : experiment.lanes) {
            const QString english = QString::fromStdString(lane.name);
            const QString name = textOf(lanes, lane.name.c_str());
            QVERIFY2(!name.trimmed().isEmpty(), qPrintable(english));
            QVERIFY2(different.insert(name.toStdString()).second, qPrintable(name + " stands for two lanes"));
            if (names(original, english, QStringLiteral("."))) {
                QVERIFY2(names(translation, name, QStringLiteral("\u3002")), qPrintable(name + " is not in the text"));
            }
        }
    }

    void keepsNumbersAndCode_data() { addExperiments(); }

    void keepsNumbersAndCode()
    {
        QFETCH(const QString, key);
        const Experiment experiment = load(key);
        const Json entry = entryOf(key);
        std::vector<std::pair<std::string, QString>> texts {
            {experiment.name, textOf(entry, "name")}, {experiment.text, textOf(entry, "text")}};
        if (experiment.claim.has_value()) {
            texts.emplace_back(experiment.claim->says, textOf(entry, "says"));
        }
        const QStringList that = textsOf(entry, "that");
        QCOMPARE(that.size(), static_cast<qsizetype>(experiment.expect.size()));
        for (qsizetype i = 0; i < that.size(); ++i) {
            texts.emplace_back(experiment.expect[static_cast<std::size_t>(i)].at("that").get<std::string>(), that[i]);
        }
        const Json lanes = entry.value("lanes", Json::object());
        for (const LaneConfig& lane : experiment.lanes) {
            texts.emplace_back(lane.name, textOf(lanes, lane.name.c_str()));
        }
        for (const auto& [original, translation] : texts) {
            const QStringList missing = lost(QString::fromStdString(original), translation);
            QVERIFY2(missing.isEmpty(), qPrintable(missing.join(QStringLiteral(", ")) + " is not in: " + translation));
        }
    }

    void keepsTheMarkdown_data() { addExperiments(); }

    void keepsTheMarkdown()
    {
        QFETCH(const QString, key);
        const QString original = QString::fromStdString(load(key).text);
        const QString translation = textOf(entryOf(key), "text");
        QCOMPARE(shapeOf(translation), shapeOf(original));
        QCOMPARE(brokenMarks(translation), QStringList());
        const QString strong = QStringLiteral("**");
        QString originalWords = original;
        QString translatedWords = translation;
        QCOMPARE(translatedWords.remove(codeSpan).count(strong), originalWords.remove(codeSpan).count(strong));
    }

private:
    void addExperiments()
    {
        QTest::addColumn<QString>("key");
        for (const QString& key : m_keys) {
            QTest::newRow(qPrintable(key)) << key;
        }
    }

    static Experiment load(const QString& key)
    {
        return loadExperiment((QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/") + key + ".json").toStdString());
    }

    [[nodiscard]] Json entryOf(const QString& key) const { return m_catalog.value(key.toStdString(), Json::object()); }

    std::string m_bytes;
    Json m_catalog;
    QStringList m_keys;
};

QTEST_APPLESS_MAIN(TestTranslations)
#include "tst_translations.moc"
