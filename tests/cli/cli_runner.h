/// Runs mantissa-cli and keeps what it said.
#pragma once

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace mantissa::tests {

struct CliResult
{
    int code = -1;
    QString out;
    QString err;

    [[nodiscard]] QJsonObject json() const { return QJsonDocument::fromJson(out.toUtf8()).object(); }
};

/// A folder of its own for each test program: files, and the user's data folder, so that no one's runs are touched.
class Cli
{
public:
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }

    QString write(const QString& name, const QString& text) const
    {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text.toUtf8()) < 0) {
            qFatal("cannot write a test's file");
        }
        return file.fileName();
    }

    void start(QProcess& process, const QStringList& arguments) const
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("XDG_DATA_HOME", path("data"));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_folder.path());
        process.start(QStringLiteral(MANTISSA_CLI), arguments);
    }

    [[nodiscard]] static CliResult finish(QProcess& process)
    {
        if (!process.waitForFinished(120000) || process.exitStatus() != QProcess::NormalExit) {
            qWarning("mantissa-cli did not end by itself");
            return {};
        }
        return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
    }

    [[nodiscard]] CliResult run(const QStringList& arguments) const
    {
        QProcess process;
        start(process, arguments);
        return finish(process);
    }

private:
    QTemporaryDir m_folder;
};

/// Two lanes that train in a few milliseconds; the FP16 lane's scale grows and is set by an event.
inline QString tinyExperiment()
{
    return R"({"mantissa": 1, "name": "tiny", "seed": 3, "steps": 12,
        "data": {"kind": "spirals", "samples": 80, "batch": 16}, "model": {"hidden": [8]},
        "optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9},
        "lanes": [{"name": "FP32"},
                  {"name": "FP16 AMP", "precision": {"policy": "fp16"}, "scaler": {"init_scale": 1024, "growth_interval": 4}}],
        "events": [{"step": 6, "lane": "FP16 AMP", "set": {"optimizer.lr": 0.05}}]})";
}

} // namespace mantissa::tests
