// mpirun -n R mantissa-cli on R GPUs of the host layer: gradients by NCCL between real processes, the bits of ranks of
// one process, and the end of a run whose rank is killed.
#include "tests/cli/mpi_runner.h"

#include <QDir>
#include <QFile>

#include <csignal>

using namespace mantissa::tests;

namespace {

constexpr int patienceMs = 120'000; // for a loaded machine; nothing here takes so long

QString experiment(int steps)
{
    return QStringLiteral(R"({"mantissa": 1, "name": "ranks", "seed": 5, "steps": %1,
        "data": {"kind": "spirals", "samples": 160, "batch": 16},
        "model": {"kind": "mlp", "hidden": [12], "activation": "relu"}, "optimizer": {"kind": "adamw", "lr": 0.01},
        "precision": {"policy": "fp16"}, "scaler": {"init_scale": 65536, "growth_interval": 3},
        "lanes": [{"name": "FP32", "parallel": {"communication": "fp32"}},
            {"name": "FP16", "parallel": {"communication": "fp16", "divide": "after"}},
            {"name": "BF16", "parallel": {"communication": "bf16"}}]})")
        .arg(steps);
}

} // namespace

class TstCudaMpi : public QObject
{
    Q_OBJECT

private:
    Cli m_cli;

    void start(QProcess& process, int ranks, int gpus, const QStringList& arguments) const
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("MANTISSA_HOST_GPUS", QString::number(gpus));
        // The time to save what there is when a rank is lost.
        environment.insert("OMPI_MCA_odls_base_sigkill_timeout", "20");
        startRanks(process, m_cli, ranks, MANTISSA_CLI, arguments, std::move(environment));
    }

    [[nodiscard]] CliResult run(int ranks, int gpus, const QStringList& arguments) const
    {
        QProcess process;
        start(process, ranks, gpus, arguments);
        process.closeWriteChannel();
        return Cli::finish(process);
    }

    [[nodiscard]] static QStringList hashesOf(const CliResult& result)
    {
        QStringList hashes;
        for (const QJsonValue run : result.json().value("runs").toArray()) {
            hashes.append(run["weights_hash"].toString());
        }
        return hashes;
    }

private slots:

    void initTestCase()
    {
        qputenv("MANTISSA_CUDA_PLUGIN", MANTISSA_CUDA_ON_HOST);
        qputenv("MANTISSA_CUDNN", "none");
        qputenv("MANTISSA_NCCL", MANTISSA_NCCL_ON_HOST);
    }

    void trainsAsRanksOfOneProcess_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("gpus");
        QTest::addColumn<QString>("words");
        QTest::newRow("2 on 2") << 2 << 2 << "FP16: gradients go from GPU to GPU by NCCL 2";
        QTest::newRow("4 on 4") << 4 << 4 << "BF16: gradients go from GPU to GPU by NCCL 2";
        QTest::newRow("2 on 1") << 2 << 1 << "through the host (ranks 0 and 1 share a GPU";
    }

    void trainsAsRanksOfOneProcess()
    {
        QFETCH(const int, ranks);
        QFETCH(const int, gpus);
        QFETCH(const QString, words);
        const QString file = m_cli.write("ranks.json", experiment(8));
        const CliResult alone = m_cli.run({"run", file, "--device", "cuda", "--no-db", "--json", "--set",
            QStringLiteral("parallel.ranks=%1").arg(ranks)});
        QVERIFY2(alone.code == 0, qPrintable(alone.err));
        const CliResult together = run(ranks, gpus, {"run", file, "--device", "cuda", "--no-db", "--json"});
        QVERIFY2(together.code == 0, qPrintable(together.err));
        QCOMPARE(hashesOf(together).size(), 3);
        QCOMPARE(hashesOf(together), hashesOf(alone));
        QVERIFY2(together.err.contains(words), qPrintable(together.err));
        QVERIFY2(!alone.err.contains("gradients go"), qPrintable(alone.err)); // nothing to say of threads
    }

    void aKilledRankEndsTheRunAndLeavesACheckpoint()
    {
        const QString file = m_cli.write("endless.json", experiment(100'000'000));
        const QString metrics = m_cli.path("endless.metrics");
        const QString folder = m_cli.path("checkpoints");
        QProcess process;
        start(
            process, 2, 2, {"run", file, "--device", "cuda", "--no-db", "--metrics", metrics, "--checkpoints", folder});
        process.closeWriteChannel();
        const auto linesOf = [](const QString& name) {
            QFile lines(name);
            return lines.open(QIODevice::ReadOnly) ? lines.readAll().count('\n') : 0;
        };
        QTRY_VERIFY_WITH_TIMEOUT(linesOf(metrics) > 15, patienceMs);
        const pid_t second = processOf(1, file);
        QVERIFY(second > 0);
        ::kill(second, SIGKILL);
        const CliResult result = Cli::finish(process);
        QVERIFY(result.code != 0);
        const QRegularExpression expected("rank 1 \\(process \\d+ on .*\\) is gone: its process ended in mid-run");
        QVERIFY2(expected.match(result.err).hasMatch(), qPrintable(result.err));
        for (const char* const lane : {"FP32", "FP16", "BF16"}) {
            const QDir kept(folder + '/' + lane);
            QVERIFY2(!kept.entryList({"*.safetensors"}, QDir::Files).isEmpty(), qPrintable(result.err));
        }
        // From there it goes on, over two processes as over two ranks of one.
        const QDir kept(folder + "/FP16");
        const QString newest = kept.entryList({"*.safetensors"}, QDir::Files, QDir::Name).last();
        const QString steps = QString::number(newest.mid(5, 8).toInt() + 3);
        const QStringList arguments {"resume", kept.filePath(newest), "--steps", steps, "--device", "cuda", "--no-db",
            "--no-checkpoints", "--json"};
        const CliResult alone = m_cli.run(arguments);
        QVERIFY2(alone.code == 0, qPrintable(alone.err));
        const CliResult together = run(2, 2, arguments);
        QVERIFY2(together.code == 0, qPrintable(together.err));
        QCOMPARE(hashesOf(together), hashesOf(alone));
        QVERIFY2(together.err.contains("by NCCL"), qPrintable(together.err));
    }

    void devicesSayWhatCarriesGradients()
    {
        const CliResult table = m_cli.run({"devices"});
        QVERIFY2(table.out.contains("cuda: gradients of several processes go from GPU to GPU by NCCL 2."),
            qPrintable(table.out));
        const QJsonArray devices = m_cli.run({"devices", "--json"}).json().value("devices").toArray();
        QVERIFY(devices[0]["exchange"].toString().startsWith("by NCCL 2."));
        qputenv("MANTISSA_NCCL", "/nowhere/libnccl.so.2");
        const CliResult without = m_cli.run({"devices"});
        qputenv("MANTISSA_NCCL", MANTISSA_NCCL_ON_HOST);
        QVERIFY2(without.out.contains("GPU to GPU through the host (NCCL missing (/nowhere/libnccl.so.2))"),
            qPrintable(without.out));
    }
};

QTEST_GUILESS_MAIN(TstCudaMpi)
#include "tst_cuda_mpi.moc"
