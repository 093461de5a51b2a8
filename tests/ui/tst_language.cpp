// The window in two languages: all its texts are translated, and a switch changes them and nothing else.
#include "engine/core/phrase.h"
#include "engine/verify/shipped_experiments.h"
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "tests/ui/window_texts.h"
#include "ui/language/language.h"
#include "ui/language/text_pattern.h"
#include "ui/protocol/protocol_dialog.h"
#include "ui/session/app_paths.h"
#include "ui/session/shipped_texts.h"
#include "ui/views/events_view.h"
#include "ui/views/experiments_view.h"
#include "ui/views/findings_panel.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"
#include "ui/views/runs_view.h"

#include <QAction>
#include <QDialog>
#include <QDockWidget>
#include <QProcess>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <set>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr int patienceMs = 120'000;

struct Message
{
    QString context;
    QString source;
    QString comment;
    QStringList translations;
    bool isFinished = true;
};

QList<Message> messagesOf(const QString& file)
{
    QFile device(file);
    if (!device.open(QIODevice::ReadOnly)) {
        qFatal("cannot read %s", qPrintable(file));
    }
    QXmlStreamReader xml(&device);
    QList<Message> messages;
    QString context;
    while (!xml.atEnd()) {
        if (!xml.readNextStartElement()) {
            continue;
        }
        if (xml.name() == QLatin1String("name")) {
            context = xml.readElementText();
        } else if (xml.name() == QLatin1String("message")) {
            messages.append({context, {}, {}, {}, true});
        } else if (xml.name() == QLatin1String("source")) {
            messages.last().source = xml.readElementText();
        } else if (xml.name() == QLatin1String("comment")) {
            messages.last().comment = xml.readElementText();
        } else if (xml.name() == QLatin1String("translation")) {
            messages.last().isFinished = !xml.attributes().hasAttribute(QStringLiteral("type"));
            const QString text = xml.readElementText(QXmlStreamReader::IncludeChildElements).trimmed();
            messages.last().translations.append(text);
        }
    }
    return messages;
}

std::multiset<QString> matches(const QString& text, const QString& pattern)
{
    std::multiset<QString> found;
    auto all = QRegularExpression(pattern).globalMatch(text);
    while (all.hasNext()) {
        found.insert(all.next().captured());
    }
    return found;
}

QString translationFile()
{
    return QStringLiteral(MANTISSA_SOURCE_DIR "/resources/translations/mantissa_zh_CN.ts");
}

SessionState stateOf(const MainWindow& window)
{
    const auto status = window.controller()->status();
    return status ? status->state : SessionState::Preparing;
}

/// What is said there depends on how long steps took.
bool isAboutTime(const QString& place)
{
    return place.contains(QLatin1String("TimePanel")) || place.contains(QLatin1String("StatusLine"))
        || place.contains(QLatin1String("FindingsPanel"));
}

/// Sentences that were left in English where they would differ from window to window.
QString englishSentences(const QMap<QString, QString>& texts)
{
    static const QRegularExpression sentence(QStringLiteral("([A-Za-z]{2,} ){3}"));
    QStringList lines;
    for (auto text = texts.begin(); text != texts.end(); ++text) {
        if (isAboutTime(text.key()) && sentence.match(text.value()).hasMatch()) {
            lines << text.key() + QStringLiteral(": ") + text.value();
        }
    }
    return lines.join(QLatin1Char('\n'));
}

/// What one says and the other does not.
/// The lab's choice of a stored run: which are stored by then is a matter of time.
bool listsRuns(const QString& place)
{
    return place.startsWith(QLatin1String("/scalerLab/QSplitter0/QWidget0/QWidget0/QStackedWidget0/"));
}

QString differences(const QMap<QString, QString>& actual, const QMap<QString, QString>& expected)
{
    QStringList lines;
    for (auto text = expected.begin(); text != expected.end(); ++text) {
        if (!isAboutTime(text.key()) && !listsRuns(text.key()) && actual.value(text.key()) != text.value()) {
            lines << QStringLiteral("%1:\n    is        %2\n    should be %3")
                         .arg(text.key(), actual.value(text.key()), text.value());
        }
    }
    for (auto text = actual.begin(); text != actual.end(); ++text) {
        if (!isAboutTime(text.key()) && !listsRuns(text.key()) && !expected.contains(text.key())) {
            lines << QStringLiteral("%1:\n    is        %2\n    should not be").arg(text.key(), text.value());
        }
    }
    // QVERIFY2 cuts long texts.
    for (const QString& line : lines) {
        qWarning("%s", qPrintable(line));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

class TestLanguage : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanup();

    void patternsAreRecognised();
    void everyTextIsTranslated();
    void theSourcesHaveNoOtherTexts();
    void phrasesOfTheEngine();
    void codesAndNames();
    void theSwitchedWindowSaysWhatAFreshOneSays_data();
    void theSwitchedWindowSaysWhatAFreshOneSays();
    void theMenuSwitchesAndRemembers();
    void theSessionGoesOn();
    void findingsFollow();
    void reportsSpeakTheLanguageAndJsonEnglish();
    void shippedTextsFollow();
    void namesOfLanesFit();

private:
    std::unique_ptr<MainWindow> trainedWindow(int steps);
    static void openDialogs(MainWindow& window);

    std::vector<std::unique_ptr<QTemporaryDir>> m_folders;
};

void TestLanguage::initTestCase()
{
    useOwnHome();
    installLanguage(Language::English);
}

void TestLanguage::cleanup()
{
    changeLanguage(Language::English);
    m_folders.clear();
}

std::unique_ptr<MainWindow> TestLanguage::trainedWindow(int steps)
{
    m_folders.push_back(std::make_unique<QTemporaryDir>());
    auto window = openWindow(*m_folders.back());
    window->openFile(writeFileIn(*m_folders.back(), QStringLiteral("small.json"), smallExperimentText()));
    const auto isAt = [&](SessionState state) { return stateOf(*window) == state; };
    if (!QTest::qWaitFor([&] { return isAt(SessionState::Ready); }, patienceMs)) {
        return nullptr;
    }
    if (steps > 0) {
        window->controller()->runSteps(steps);
        const auto isThere = [&] {
            const auto status = window->controller()->status();
            return status->step >= steps && status->state != SessionState::Running;
        };
        if (!QTest::qWaitFor(isThere, patienceMs)) {
            return nullptr;
        }
    }
    return window;
}

/// All that can be open beside the window.
void TestLanguage::openDialogs(MainWindow& window)
{
    for (const char* name :
        {"watchpoints", "predict", "showProtocol", "scalerLab", "formatExplorer", "memoryPlanner"}) {
        window.actionNamed(QString::fromLatin1(name))->trigger();
    }
}

void TestLanguage::patternsAreRecognised()
{
    const TextPattern steps(QStringLiteral("Steps %1 to %2: %1"));
    const auto found = steps.match(QStringLiteral("Steps 3 to 5: 3"));
    QVERIFY(found);
    QCOMPARE(found->at(1), QStringLiteral("3"));
    QCOMPARE(found->at(2), QStringLiteral("5"));
    QVERIFY(!steps.match(QStringLiteral("Steps 3 to 5: 4")));
    QVERIFY(!steps.match(QStringLiteral("Steps 3 to 5")));
    QCOMPARE(TextPattern(QStringLiteral("%2/%1")).filled(*found), QStringLiteral("5/3"));

    const TextPattern phrase(QStringLiteral("{:.3g} of {}."), TextPattern::Places::Braces);
    const auto parts = phrase.match(QStringLiteral("0.5 of fc1.weight."));
    QVERIFY(parts);
    QCOMPARE(parts->at(0), QStringLiteral("0.5"));
    QCOMPARE(parts->at(1), QStringLiteral("fc1.weight"));
    QCOMPARE(TextPattern(QStringLiteral("{1}: {0:.3g}"), TextPattern::Places::Braces).filled(*parts),
        QStringLiteral("fc1.weight: 0.5"));
    QVERIFY(!TextPattern(QStringLiteral("no place")).hasPlaces());
}

void TestLanguage::everyTextIsTranslated()
{
    const QList<Message> messages = messagesOf(translationFile());
    QVERIFY(messages.size() > 1800);
    QStringList wrong;
    const auto complain = [&wrong](const Message& message, const char* what) {
        wrong << QStringLiteral("%1: \"%2\" -> \"%3\" (%4)")
                     .arg(QString::fromLatin1(what), message.source, message.translations.value(0), message.context);
    };
    for (const Message& message : messages) {
        const QString& source = message.source;
        const QString text = message.translations.value(0);
        if (!message.isFinished || text.isEmpty()) {
            complain(message, "not translated");
            continue;
        }
        if (matches(source, QStringLiteral("%\\d+|%n")) != matches(text, QStringLiteral("%\\d+|%n"))) {
            complain(message, "other places");
        }
        if (source.contains(QLatin1String(";;")) || source.contains(QLatin1String(" (*."))) {
            const QString filter = QStringLiteral("\\([^)]*\\*[^)]*\\)|;;");
            if (matches(source, filter) != matches(text, filter)) {
                complain(message, "another file filter");
            }
        }
        const QString key = QStringLiteral("&[A-Za-z]");
        const bool hasEntities = source.contains(QLatin1String("&lt;"));
        if (!hasEntities && matches(source, key).size() != matches(text, key).size()) {
            complain(message, "another access key");
        }
        // Places of fmt: each of the translation's is one of the source's, with its format.
        QStringList formats;
        auto places = QRegularExpression(QStringLiteral("\\{(:[^}]*)?\\}")).globalMatch(source);
        while (places.hasNext()) {
            formats << places.next().captured(1);
        }
        int next = 0;
        bool isNumbered = false;
        bool isCounted = false;
        places = QRegularExpression(QStringLiteral("\\{(\\d*)(:[^}]*)?\\}")).globalMatch(text);
        while (places.hasNext()) {
            const QRegularExpressionMatch place = places.next();
            isNumbered = isNumbered || !place.captured(1).isEmpty();
            isCounted = isCounted || place.captured(1).isEmpty();
            const int number = place.captured(1).isEmpty() ? next++ : place.captured(1).toInt();
            if (number >= formats.size() || formats[number] != place.captured(2)) {
                complain(message, "other places");
            }
        }
        if ((isNumbered && isCounted) || (isCounted && next != formats.size())) {
            complain(message, "other places");
        }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(QLatin1Char('\n'))));
}

void TestLanguage::theSourcesHaveNoOtherTexts()
{
    const QString lupdate = QStringLiteral(MANTISSA_LUPDATE);
    if (!QFile::exists(lupdate)) {
        QSKIP("lupdate is not here");
    }
    const QTemporaryDir folder;
    const QString fresh = folder.filePath(QStringLiteral("fresh.ts"));
    QProcess process;
    process.setWorkingDirectory(QStringLiteral(MANTISSA_SOURCE_DIR));
    process.start(lupdate,
        {QStringLiteral("-I"), QStringLiteral("."), QStringLiteral("ui"), QStringLiteral("app/gui"),
            QStringLiteral("engine"), QStringLiteral("-tr-function-alias"),
            QStringLiteral("tr+=phrase,QT_TR_NOOP+=MANTISSA_PHRASE"), QStringLiteral("-ts"), fresh});
    QVERIFY(process.waitForFinished(patienceMs));
    const auto keysOf = [](const QString& file) {
        std::set<QString> keys;
        for (const Message& message : messagesOf(file)) {
            keys.insert(QStringLiteral("%1: \"%2\" %3").arg(message.context, message.source, message.comment));
        }
        return keys;
    };
    const std::set<QString> wanted = keysOf(fresh);
    const std::set<QString> present = keysOf(translationFile());
    QVERIFY(!wanted.empty());
    QStringList missing;
    for (const QString& key : wanted) {
        if (!present.contains(key)) {
            missing << key;
        }
    }
    QVERIFY2(missing.isEmpty(),
        qPrintable(
            QStringLiteral("run the target update_translations and translate:\n") + missing.join(QLatin1Char('\n'))));
    // What tr() asks for is found by the context; lupdate reads one of its own out of free functions.
    const QRegularExpression known(
        QStringLiteral("^(mantissa(::\\w+)?|std|QObject|CommandLine|MemoryPlanner|NumberFormat|"
                       "PytorchExport|ReferencePicture|StepBlock|Verdict): "));
    for (const QString& key : wanted) {
        QVERIFY2(known.match(key).hasMatch(), qPrintable(key));
    }
}

void TestLanguage::phrasesOfTheEngine()
{
    QCOMPARE(phrase("{} steps, with one seed.", 300), std::string("300 steps, with one seed."));
    changeLanguage(Language::Chinese);
    QCOMPARE(QString::fromStdString(phrase("{} steps, with one seed.", 300)), QStringLiteral("300 步，一个种子。"));
    // Places in another order.
    QCOMPARE(QString::fromStdString(phrase("No: {} ended after {} of {} steps{}{}", "AMP", 7, 300, ".", "")),
        QStringLiteral("否：AMP 在 300 步中的第 7 步之后结束."));
    QCOMPARE(inPresentLanguage(QStringLiteral("The loss is not finite; first in fc1.out (linear).")),
        QStringLiteral("损失非有限；最先出现在 fc1.out (linear)。"));
    const PhraseTranslator before = setPhraseTranslator(nullptr);
    QCOMPARE(phrase("{} steps, with one seed.", 300), std::string("300 steps, with one seed."));
    setPhraseTranslator(before);
}

void TestLanguage::codesAndNames()
{
    QCOMPARE(languageFromCode(QStringLiteral("zh_cn")), Language::Chinese);
    QCOMPARE(languageFromCode(languageCode(Language::English)), Language::English);
    QCOMPARE(languageFromCode(QStringLiteral("system")), Language::System);
    QVERIFY(!languageFromCode(QStringLiteral("fr")));
    QCOMPARE(languageName(Language::Chinese), QStringLiteral("简体中文"));
}

void TestLanguage::theSwitchedWindowSaysWhatAFreshOneSays_data()
{
    QTest::addColumn<int>("steps");
    QTest::newRow("before training") << 0;
    QTest::newRow("paused") << 30;
    QTest::newRow("finished") << 60;
}

void TestLanguage::theSwitchedWindowSaysWhatAFreshOneSays()
{
    QFETCH(const int, steps);
    // What is hidden may catch up when it is looked at.
    const auto visit = [](MainWindow& window) {
        for (auto* dock : window.findChildren<QDockWidget*>()) {
            dock->show();
            dock->raise();
            QTest::qWait(20);
        }
        for (auto* tabs : window.findChildren<QTabWidget*>()) {
            for (int tab = 0; tab < tabs->count(); ++tab) {
                tabs->setCurrentIndex(tab);
                QTest::qWait(120);
            }
        }
        window.runsView()->refresh();
        QTest::qWait(1500); // answers of other threads, and texts that are refreshed a few times a second
    };
    auto switched = trainedWindow(steps);
    QVERIFY(switched);
    openDialogs(*switched);
    visit(*switched);
    visit(*switched);
    const auto english = textsOf(switched.get());
    changeLanguage(Language::Chinese);
    visit(*switched);
    const auto chinese = textsOf(switched.get());
    changeLanguage(Language::English);
    visit(*switched);
    const auto backAgain = textsOf(switched.get());
    switched.reset();

    changeLanguage(Language::Chinese);
    auto fresh = trainedWindow(steps);
    QVERIFY(fresh);
    openDialogs(*fresh);
    visit(*fresh);
    visit(*fresh);
    const QString toChinese = differences(chinese, textsOf(fresh.get()));
    const QString toEnglish = differences(backAgain, english);
    fresh.reset();
    QVERIFY2(toChinese.isEmpty(), qPrintable(toChinese));
    QVERIFY2(toEnglish.isEmpty(), qPrintable(toEnglish));
    QVERIFY2(englishSentences(chinese).isEmpty(), qPrintable(englishSentences(chinese)));
    QVERIFY(chinese.size() > 500);
}

void TestLanguage::theMenuSwitchesAndRemembers()
{
    m_folders.push_back(std::make_unique<QTemporaryDir>());
    MainWindow window({m_folders.back()->filePath(QStringLiteral("runs.db")).toStdString(), true});
    QAction* chinese = window.actionNamed(QStringLiteral("language_zh_CN"));
    QVERIFY(chinese);
    chinese->trigger();
    QCOMPARE(chinese->text(), QStringLiteral("简体中文"));
    QVERIFY(chinese->isChecked());
    QVERIFY(isChinese());
    QCOMPARE(storedLanguage(), Language::Chinese);
    QCOMPARE(window.actionNamed(QStringLiteral("open"))->text(), QStringLiteral("打开(&O)…"));
    window.actionNamed(QStringLiteral("language_en"))->trigger();
    QCOMPARE(storedLanguage(), Language::English);
    QCOMPARE(window.actionNamed(QStringLiteral("open"))->text(), QStringLiteral("&Open…"));
}

void TestLanguage::theSessionGoesOn()
{
    auto window = trainedWindow(30);
    QVERIFY(window);
    const auto before = window->controller()->status();
    const int events = window->eventsView()->model()->rowCount();
    const auto selected = window->laneList()->selected();
    changeLanguage(Language::Chinese);
    QCOMPARE(window->controller()->status(), before);
    QCOMPARE(window->eventsView()->model()->rowCount(), events);
    QCOMPARE(window->laneList()->selected(), selected);
    // Numbers are written as before.
    QCOMPARE(QLocale().toString(1234.5), QLocale::system().toString(1234.5));
    window->controller()->runSteps(30);
    QTRY_COMPARE_WITH_TIMEOUT(stateOf(*window), SessionState::Finished, patienceMs);
    const auto after = window->controller()->status();
    changeLanguage(Language::English);
    auto whole = trainedWindow(60);
    QVERIFY(whole);
    for (std::size_t lane = 0; lane < 2; ++lane) {
        QCOMPARE(
            after->lanes[lane].summary->weightsHash, whole->controller()->status()->lanes[lane].summary->weightsHash);
    }
}

void TestLanguage::findingsFollow()
{
    m_folders.push_back(std::make_unique<QTemporaryDir>());
    auto window = openWindow(*m_folders.back());
    auto document = nlohmann::json::parse(smallExperimentText());
    document["clip"] = {{"order", "clip-then-unscale"}, {"max_norm", 1}};
    window->openFile(writeFileIn(*m_folders.back(), QStringLiteral("small.json"), document.dump()));
    QTRY_COMPARE_WITH_TIMEOUT(stateOf(*window), SessionState::Ready, patienceMs);
    window->controller()->run();
    QTRY_COMPARE_WITH_TIMEOUT(stateOf(*window), SessionState::Finished, patienceMs);
    window->laneList()->select(window->laneList()->lanes()[1]);
    window->actionNamed(QStringLiteral("showFindings"))->trigger();
    FindingsPanel* findings = window->findings();
    const QString english = QStringLiteral("Unscale first, then clip");
    QTRY_VERIFY_WITH_TIMEOUT(findings->text().contains(english), patienceMs);
    changeLanguage(Language::Chinese);
    QTRY_VERIFY_WITH_TIMEOUT(findings->text().contains(QStringLiteral("先反缩放，再裁剪（clip.order")), patienceMs);
    QVERIFY(!findings->text().contains(english));
    changeLanguage(Language::English);
    QTRY_VERIFY_WITH_TIMEOUT(findings->text().contains(english), patienceMs);
}

void TestLanguage::reportsSpeakTheLanguageAndJsonEnglish()
{
    const QTemporaryDir folder;
    changeLanguage(Language::Chinese);
    ProtocolDialog dialog(smallExperiment(), "auto", false);
    dialog.show();
    for (auto* box : dialog.findChildren<QSpinBox*>()) {
        box->setValue(box->minimum());
    }
    QSignalSpy ended(&dialog, &ProtocolDialog::ended);
    dialog.start();
    QTRY_VERIFY_WITH_TIMEOUT(ended.count() == 1, patienceMs);
    QVERIFY(dialog.result());
    const auto saved = [&](const QString& name) {
        dialog.saveTo(folder.filePath(name));
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    };
    const QRegularExpression chinese(QStringLiteral("\\p{Han}"));
    const QString page = saved(QStringLiteral("report.html"));
    QVERIFY(page.contains(QStringLiteral("问题与回答")));
    QVERIFY(page.contains(QStringLiteral("lang=\"zh-CN\"")));
    QVERIFY(!page.contains(QStringLiteral("Loss curves equal")));
    QVERIFY(saved(QStringLiteral("report.pdf")).startsWith(QStringLiteral("%PDF")));
    const QString json = saved(QStringLiteral("report.json"));
    QVERIFY(json.contains(QStringLiteral("Loss curves equal within noise?")));
    QVERIFY(!json.contains(chinese));
    // What is shown is said again, too.
    const auto answers = [&] { return textsOf(&dialog).values().join(QLatin1Char('\n')); };
    QVERIFY(answers().contains(QStringLiteral("损失曲线在噪声范围内相同吗")));
    changeLanguage(Language::English);
    QVERIFY(answers().contains(QStringLiteral("Loss curves equal within noise?")));
    QVERIFY2(!answers().contains(chinese), qPrintable(answers()));
    QVERIFY(!saved(QStringLiteral("report.html")).contains(chinese));
}

void TestLanguage::shippedTextsFollow()
{
    m_folders.push_back(std::make_unique<QTemporaryDir>());
    const QTemporaryDir& folder = *m_folders.back();
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("translations")));
    writeFileIn(folder, QStringLiteral("default.json"), smallExperimentText());
    writeFileIn(folder, QStringLiteral("translations/zh_CN.json"),
        R"({"default": {"name": "小实验", "text": "看 **这里**。", "lanes": {"FP32": "甲", "FP16 AMP": "乙"}}})");
    const QByteArray before = qgetenv("MANTISSA_EXPERIMENTS");
    qputenv("MANTISSA_EXPERIMENTS", folder.path().toUtf8());
    auto window = openWindow(folder);
    window->openFirst();
    QTRY_COMPARE_WITH_TIMEOUT(stateOf(*window), SessionState::Ready, patienceMs);
    QVERIFY(window->experimentsView()->text().contains(QStringLiteral("Look at this")));
    changeLanguage(Language::Chinese);
    QVERIFY(window->experimentsView()->text().contains(QStringLiteral("看 这里")));
    QVERIFY(window->windowTitle().startsWith(QStringLiteral("小实验")));
    // The lanes that are open keep their names.
    QCOMPARE(window->controller()->document().lanes()[0].name, std::string("FP32"));
    window->openFile(folder.filePath(QStringLiteral("default.json")));
    QTRY_COMPARE_WITH_TIMEOUT(stateOf(*window), SessionState::Ready, patienceMs);
    QCOMPARE(QString::fromStdString(window->controller()->document().lanes()[1].name), QStringLiteral("乙"));
    changeLanguage(Language::English);
    QVERIFY(window->windowTitle().startsWith(QStringLiteral("Small")));
    QVERIFY(window->experimentsView()->text().contains(QStringLiteral("Look at this")));
    if (before.isEmpty()) {
        qunsetenv("MANTISSA_EXPERIMENTS");
    } else {
        qputenv("MANTISSA_EXPERIMENTS", before);
    }
}

void TestLanguage::namesOfLanesFit()
{
    const auto document = nlohmann::json::parse(R"({"name": "N", "claim": {"says": "S"},
        "lanes": [{"name": "a"}, {"name": "b"}], "events": [{"lane": "b", "step": 1}],
        "expect": [{"that": "T", "left": {"lane": "a"}, "right": {"lane": "b"}}]})");
    const auto texts = nlohmann::json::parse(
        R"({"name": "n", "says": "s", "that": ["t"], "lanes": {"a": "A", "b": 7}, "text": 3, "more": []})");
    const auto translated = withTexts(document, texts);
    QCOMPARE(translated.dump(),
        nlohmann::json::parse(R"({"name": "n", "claim": {"says": "s"}, "lanes": [{"name": "A"}, {"name": "b"}],
            "events": [{"lane": "b", "step": 1}],
            "expect": [{"that": "t", "left": {"lane": "A"}, "right": {"lane": "b"}}]})")
            .dump());
    // Texts for other expectations are not those of these.
    QCOMPARE(withTexts(document, {{"that", {"one", "two"}}}).dump(), document.dump());

    // Every shipped experiment opens in Chinese, with as many lanes and under names of their own.
    changeLanguage(Language::Chinese);
    for (const std::filesystem::path& file : shippedExperiments()) {
        const Experiment english = loadExperiment(file);
        const Experiment chinese = loadInPresentLanguage(file);
        QCOMPARE(chinese.lanes.size(), english.lanes.size());
        QCOMPARE(chinese.expect.size(), english.expect.size());
        QCOMPARE(chinese.directory, english.directory);
    }
}

QTEST_MAIN(TestLanguage)
#include "tst_language.moc"
#include "ui/views/runs_view.h"
