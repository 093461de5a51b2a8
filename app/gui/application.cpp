#include "app/gui/application.h"

#include "app/gui/screenshot.h"
#include "engine/store/run_store.h"
#include "ui/language/language.h"
#include "ui/session/app_paths.h"
#include "ui/views/main_window.h"

#include <QApplication>
#include <QCommandLineParser>

namespace mantissa {

namespace {

QSize parseSize(const QString& text)
{
    const QStringList parts = text.split(QLatin1Char('x'));
    if (parts.size() == 2) {
        const QSize size(parts[0].toInt(), parts[1].toInt());
        if (size.width() > 0 && size.height() > 0) {
            return size;
        }
    }
    throw UsageError {QStringLiteral("--size %1: give width x height, as in 1280x800").arg(text)};
}

} // namespace

LaunchOptions parseCommandLine(const QApplication& application)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QApplication::translate("CommandLine", "Trains FP32, FP16 and BF16 side by side and shows what differs."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        QStringLiteral("FILE"), QStringLiteral("Experiment, lesson or checkpoint to open"), QStringLiteral("[FILE]"));
    const QCommandLineOption database(
        QStringLiteral("db"), QStringLiteral("Store runs in this file."), QStringLiteral("FILE"));
    const QCommandLineOption noDatabase(QStringLiteral("no-db"), QStringLiteral("Store no runs."));
    const QCommandLineOption screenshot(QStringLiteral("screenshot"),
        QStringLiteral("Write a picture of the window and exit; needs no display."), QStringLiteral("FILE"));
    const QCommandLineOption size(QStringLiteral("size"), QStringLiteral("Window size of the picture."),
        QStringLiteral("WxH"), QStringLiteral("1280x800"));
    const QCommandLineOption theme(QStringLiteral("theme"), QStringLiteral("light or dark."), QStringLiteral("NAME"));
    const QCommandLineOption language(
        QStringLiteral("language"), QStringLiteral("system, en or zh_CN, this time."), QStringLiteral("CODE"));
    const QCommandLineOption experiment(
        QStringLiteral("experiment"), QStringLiteral("Experiment to open."), QStringLiteral("FILE"));
    const QCommandLineOption runSteps(QStringLiteral("run-steps"),
        QStringLiteral("Train so many steps before the picture."), QStringLiteral("N"), QStringLiteral("0"));
    const QCommandLineOption keepRunning(
        QStringLiteral("keep-running"), QStringLiteral("Take the picture while training goes on."));
    const QCommandLineOption presenter(QStringLiteral("presenter"), QStringLiteral("Begin in the presenter layout."));
    const QCommandLineOption trigger(QStringLiteral("trigger"),
        QStringLiteral("Trigger an action of the window before the picture."), QStringLiteral("ACTION"));
    parser.addOptions({database, noDatabase, screenshot, size, theme, language, experiment, runSteps, keepRunning,
        presenter, trigger});
    parser.process(application);

    LaunchOptions options;
    options.experiment = parser.value(experiment);
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1 || (!files.isEmpty() && !options.experiment.isEmpty())) {
        throw UsageError {QStringLiteral("give one experiment file")};
    }
    if (!files.isEmpty()) {
        options.experiment = files.first();
    }
    options.screenshot = parser.value(screenshot);
    options.size = parseSize(parser.value(size));
    options.theme = parser.value(theme);
    if (!options.theme.isEmpty() && options.theme != QLatin1String("light") && options.theme != QLatin1String("dark")) {
        throw UsageError {QStringLiteral("--theme %1: light or dark").arg(options.theme)};
    }
    if (parser.isSet(language)) {
        options.language = languageFromCode(parser.value(language));
        if (!options.language) {
            throw UsageError {QStringLiteral("--language %1: system, en or zh_CN").arg(parser.value(language))};
        }
    }
    bool isNumber = false;
    options.runSteps = parser.value(runSteps).toLongLong(&isNumber);
    if (!isNumber || options.runSteps < 0) {
        throw UsageError {QStringLiteral("--run-steps %1: give a number of steps").arg(parser.value(runSteps))};
    }
    options.keepRunning = parser.isSet(keepRunning);
    options.presenter = parser.isSet(presenter);
    options.triggers = parser.values(trigger);
    if (parser.isSet(database)) {
        options.database = parser.value(database).toStdString();
    } else if (!parser.isSet(noDatabase) && options.screenshot.isEmpty()) {
        options.database = RunStore::defaultPath();
    }
    return options;
}

int launch(const LaunchOptions& options)
{
    const bool isPicture = !options.screenshot.isEmpty();
    // A picture is to be the same for everyone who takes it.
    installLanguage(options.language.value_or(isPicture ? Language::English : storedLanguage()));
    MainWindow window({options.database, !isPicture});
    if (!options.theme.isEmpty()) {
        window.setTheme(options.theme == QLatin1String("dark") ? MainWindow::Theme::Dark : MainWindow::Theme::Light);
    }
    if (isPicture) {
        window.resize(options.size);
    }
    window.show();
    if (options.presenter) {
        window.setPresenting(true);
    }
    window.openFirst(options.experiment);
    if (options.experiment.isEmpty() && !isPicture) {
        window.showStart();
    }
    if (isPicture) {
        return takeScreenshot(window, options);
    }
    return QApplication::exec();
}

} // namespace mantissa
