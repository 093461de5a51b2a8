// The rows of the setup panel, and which of them the present kinds make useless.
#include "engine/autocast/policy.h"
#include "ui/views/number_field.h"
#include "ui/views/setup_field.h"

#include <QLabel>

#include <algorithm>

namespace mantissa {

void SetupPanel::makeModelFields()
{
    addHeading(tr("Model"));
    QStringList kinds;
    for (const std::string& kind : modelKinds()) {
        if (kind != "layers") {
            // A list of layers is written in the file; the panel shows the kind where there is one.
            kinds << QString::fromStdString(kind);
        }
    }
    addCombo("model.kind", tr("Kind"),
        tr("Multilayer perceptron, convolutional nets (VGG-like, ResNet), transformers (for images, for text)"), kinds);
    addHidden("model.hidden", tr("Hidden"), tr("Widths of the hidden layers, separated by commas"));
    addNumber("model.width", tr("Width"),
        tr("Channels of the first stage, doubled in each further one; of a transformer: numbers in a token"), true, 1,
        16384, tr("a whole number from 1 to 16384"));
    addNumber("model.depth", tr("Depth"), tr("Convolutions or blocks of a stage; of a transformer: blocks"), true, 1,
        100, tr("a whole number from 1 to 100"));
    addNumber(
        "model.stages", tr("Stages"), tr("Each halves height and width"), true, 1, 6, tr("a whole number from 1 to 6"));
    addFlag("model.batch_norm", tr("Batch norm"), tr("After each convolution"));
    addNumber("model.heads", tr("Heads"), tr("Of attention; they divide the width"), true, 1, 1024,
        tr("a whole number from 1 to 1024"));
    addFlag("model.fused_attention", tr("Fused attention"),
        tr("One op; without it the scores are values of their own that can be seen"));
    addNumber("model.patch", tr("Patch"), tr("Side of the squares that an image is cut into"), true, 1, 1024,
        tr("a whole number from 1 to 1024"));
    addCombo("model.pooling", tr("Pooling"), tr("What the classifier reads"),
        {QStringLiteral("class_token"), QStringLiteral("mean_tokens")});
    addFlag("model.tied_head", tr("Tied head"), tr("The last layer shares the embedding's weight"));
    addCombo("model.activation", tr("Activation"), tr("Between the layers"),
        {QStringLiteral("relu"), QStringLiteral("gelu"), QStringLiteral("gelu_tanh"), QStringLiteral("silu"),
            QStringLiteral("tanh"), QStringLiteral("sigmoid")});
    addNumber("model.dropout", tr("Dropout"), tr("Share of activations set to zero while training"), false, 0, 0.999,
        tr("a share from 0 to below 1"));
    addFlag("model.checkpointing", tr("Checkpointing"),
        tr("The backward pass computes the activations of each block again instead of keeping them: the same results "
           "with less memory and more time"));
    addPath("model.weights", tr("Weights"),
        tr("A .safetensors file that training starts from, with PyTorch's names; empty: weights are drawn"),
        [this](const QString& before) { return chooseWeights(before); });
    addNumber("model.init_gain", tr("Init gain"), tr("Multiplies PyTorch's default initial weights"), false, 1e-30,
        1e30, tr("a number above 0"));
}

void SetupPanel::makeDataFields()
{
    addHeading(tr("Data"));
    QStringList kinds;
    for (const std::string& kind : dataKinds()) {
        kinds << QString::fromStdString(kind);
    }
    addCombo("data.kind", tr("Set"),
        tr("What to learn: digits that ship, sets that are generated (points, a function, sequences), or files of "
           "yours"),
        kinds);
    addNumber("data.batch", tr("Batch"), tr("Samples per step"), true, 1, 1e6, tr("a whole number, 1 or more"));
    addPath("data.path", tr("Path"), tr("Your file (csv, text) or the folder of your files (images)"),
        [this](const QString& before) { return chooseData(before); });
    addCombo("data.header", tr("Header"), tr("Whether the table's first row names its columns"),
        {QStringLiteral("auto"), QStringLiteral("yes"), QStringLiteral("no")});
    addText(
        "data.target", tr("Target"), tr("The column to predict, by its name or its number from 1; empty: the last"));
    addFlag("data.standardise", tr("Standardise"),
        tr("Columns of numbers to mean 0 and deviation 1, over the training samples"));
    addNumber("data.context", tr("Context"), tr("Characters that a sample has, and the model sees at most"), true, 1,
        8192, tr("a whole number from 1 to 8192"));
    addNumber("data.stride", tr("Stride"),
        tr("Characters from the beginning of a sample to that of the next; 0: the context, so that none overlap"), true,
        0, 8192, tr("a whole number from 0 to 8192"));
    addNumber(
        "data.samples", tr("Samples"), tr("Size of a generated set"), true, 1, 1e7, tr("a whole number, 1 or more"));
    addNumber("data.noise", tr("Noise"), tr("Of a generated set"), false, 0, 1e6, tr("0 or more"));
    addNumber("data.classes", tr("Classes"), tr("Arms of the spirals"), true, 2, 1000, tr("a whole number, 2 or more"));
    addNumber(
        "data.features", tr("Features"), tr("Inputs of the regression"), true, 1, 1e5, tr("a whole number, 1 or more"));
    addNumber("data.modulus", tr("Modulus"), tr("The sums are taken modulo this number; the set has its square"), true,
        2, 1000, tr("a whole number from 2 to 1000"));
    addNumber("data.length", tr("Length"), tr("Symbols in a word; of brackets an even number"), true, 2, 1024,
        tr("a whole number from 2 to 1024"));
    addNumber("data.symbols", tr("Symbols"), tr("Kinds of symbols in the words"), true, 2, 1000,
        tr("a whole number from 2 to 1000"));
    addNumber("data.validation_share", tr("Held out"), tr("Share of the samples that is kept back to judge the lanes"),
        false, 0, 0.9, tr("a share from 0 to 0.9"));
    addNumber("data.prefetch", tr("Prefetch"),
        tr("Batches that a thread of its own holds ready; 0: each step loads its own"), true, 0, 64,
        tr("a whole number from 0 to 64"));
    addNumber("data.throttle_ms", tr("Throttle"),
        tr("Milliseconds that loading a batch takes longer, to see what a slow pipeline does"), false, 0, 10'000,
        tr("a number from 0 to 10000"));
}

void SetupPanel::makeTrainingFields()
{
    addHeading(tr("Training"));
    addNumber("steps", tr("Steps"), tr("Optimizer steps until a lane is finished"), true, 1, 1e9,
        tr("a whole number, 1 or more"));
    addNumber("seed", tr("Seed"), tr("Decides initial weights, batches and dropout"), true, 0, 9e15,
        tr("a whole number, 0 or more"));
    addNumber("accumulation.steps", tr("Accumulate"),
        tr("Micro-batches in a step: their gradients are averaged before the weights are updated"), true, 1, 4096,
        tr("a whole number from 1 to 4096"));
    addFlag("accumulation.guard", tr("Guard"), tr("Drop a micro-batch whose loss is not finite"));
    addCombo("loss", tr("Loss"), tr("What is minimised"),
        {QStringLiteral("cross_entropy"), QStringLiteral("mse"), QStringLiteral("bce_with_logits")});
    addCombo("loss_form", tr("Loss form"),
        tr("Of cross entropy: one op in FP32, or parts whose results have formats of their own"),
        {QStringLiteral("fused"), QStringLiteral("log_softmax"), QStringLiteral("log_of_softmax")});
    addNumber("label_smoothing", tr("Smoothing"),
        tr("Share of the target that all classes get alike, instead of the label alone"), false, 0, 0.999,
        tr("a share from 0 to below 1"));
    addNumber("loss_weight", tr("Loss weight"), tr("Multiplies the loss; small values push gradients toward underflow"),
        false, 1e-30, 1e30, tr("a number above 0"));
    addNumber("evaluation.every", tr("Judge every"),
        tr("Steps between two looks at the held-out samples; 0: only when a lane ends"), true, 0, 1e9,
        tr("a whole number, 0 or more"));
    QStringList policies {QStringLiteral("lane")};
    for (const std::string& policy : policyNames()) {
        policies << QString::fromStdString(policy);
    }
    addCombo(
        "evaluation.policy", tr("Judge in"), tr("The precision in which a lane is judged; lane: its own"), policies);
}

void SetupPanel::makeOptimizerFields()
{
    addHeading(tr("Optimizer"));
    addCombo("optimizer.kind", tr("Kind"), tr("The update rule"),
        {QStringLiteral("sgd"), QStringLiteral("adam"), QStringLiteral("adamw")});
    addNumber("optimizer.lr", tr("Rate"),
        tr("Learning rate of all lanes; each lane's card changes its own while it trains"), false, 0, 1e30,
        tr("0 or more"));
    addNumber(
        "optimizer.momentum", tr("Momentum"), tr("Of SGD"), false, 0, 0.9999999, tr("a number from 0 to below 1"));
    addNumber("optimizer.beta1", tr("Beta 1"), tr("Of Adam"), false, 0, 0.9999999, tr("a number from 0 to below 1"));
    addNumber("optimizer.beta2", tr("Beta 2"), tr("Of Adam"), false, 0, 0.9999999, tr("a number from 0 to below 1"));
    addNumber("optimizer.epsilon", tr("Epsilon"), tr("Of Adam"), false, 0, 1e30, tr("0 or more"));
    addNumber(
        "optimizer.weight_decay", tr("Weight decay"), tr("Pulls weights toward zero"), false, 0, 1e30, tr("0 or more"));
    addCombo("schedule.kind", tr("Schedule"), tr("How the rate moves over the steps"),
        {QStringLiteral("constant"), QStringLiteral("warmup"), QStringLiteral("cosine"), QStringLiteral("step")});
    addNumber("schedule.warmup_steps", tr("Warm-up"), tr("Steps over which the rate rises to its full value"), true, 0,
        1e9, tr("a whole number, 0 or more"));
}

void SetupPanel::makeRankFields()
{
    addHeading(tr("Ranks"));
    addNumber("parallel.ranks", tr("Ranks"),
        tr("Workers that share each batch and average their gradients, as DistributedDataParallel does; 1: none of "
           "this"),
        true, 1, 64, tr("a whole number from 1 to 64"));
    addHidden("parallel.shards", tr("Shares"),
        tr("Samples of each batch that every rank gets, separated by commas; empty: all the same"));
    addCombo("parallel.communication", tr("Exchange in"), tr("The format in which gradients travel and are summed"),
        {QStringLiteral("fp32"), QStringLiteral("fp16"), QStringLiteral("bf16")});
    addCombo("parallel.divide", tr("Divide"), tr("By the number of ranks: before the sum, as DDP does, or after it"),
        {QStringLiteral("before"), QStringLiteral("after")});
    addCombo("parallel.gradients", tr("Gradients"),
        tr("Averaged over the ranks; or local, a mistake to show: the ranks drift apart"),
        {QStringLiteral("averaged"), QStringLiteral("local")});
    addCombo("parallel.scaler", tr("Scalers"),
        tr("Each rank's judges what it sees; or synchronised: all learn what any rank found"),
        {QStringLiteral("independent"), QStringLiteral("synchronised")});
    addFlag("parallel.every_micro_batch", tr("Exchange each micro-batch"),
        tr("Without no_sync(): gradients are averaged after each micro-batch, not only after the last"));
    addCombo("parallel.batch_norm", tr("Batch norm"), tr("Statistics of each rank's share, or over all ranks"),
        {QStringLiteral("local"), QStringLiteral("synchronised")});
}

void SetupPanel::updateRelevance()
{
    const bool isSgd = present("optimizer.kind") == "sgd";
    const auto use = [this](const std::string& path, bool isUsed, const QString& whyNot) {
        Field* const field = find(path);
        field->control->setEnabled(isUsed);
        const QString words = isUsed ? field->tip : whyNot;
        if (auto* number = qobject_cast<NumberField*>(field->control)) {
            number->setHint(words);
        } else {
            field->control->setToolTip(words);
        }
        field->label->setToolTip(words);
    };
    updateModelRelevance(use);
    const DataKind& set = dataKind(present("data.kind"));
    const QString setName = QString::fromStdString(present("data.kind"));
    use("data.path", set.path != DataPath::None, tr("No effect: %1 needs no files.").arg(setName));
    for (const char* setting : {"samples", "noise", "classes", "features", "header", "target", "standardise", "context",
             "stride", "modulus", "length", "symbols"}) {
        use(std::string("data.") + setting, set.reads(setting), tr("No effect on the set %1.").arg(setName));
    }
    for (const char* path : {"loss_form", "label_smoothing"}) {
        use(path, present("loss") == "cross_entropy", tr("No effect: only cross entropy has it."));
    }
    const auto ranks = find("parallel.ranks")->read();
    const bool hasRanks = !ranks || *ranks != 1; // or lanes differ
    for (const char* path :
        {"shards", "communication", "divide", "gradients", "scaler", "every_micro_batch", "batch_norm"}) {
        use(std::string("parallel.") + path, hasRanks, tr("No effect: there is one rank."));
    }
    use("optimizer.momentum", isSgd, tr("No effect: Adam has betas instead."));
    for (const char* path : {"optimizer.beta1", "optimizer.beta2", "optimizer.epsilon"}) {
        use(path, !isSgd, tr("No effect: SGD has none."));
    }
}

void SetupPanel::updateModelRelevance(
    const std::function<void(const std::string& path, bool isUsed, const QString& whyNot)>& use) const
{
    const std::string kind = present("model.kind");

    struct Use
    {
        const char* path;
        std::vector<std::string> kinds;
    };

    const std::vector<Use> uses {{"model.hidden", {"mlp", "cnn"}}, {"model.width", {"cnn", "resnet", "vit", "gpt"}},
        {"model.depth", {"cnn", "resnet", "vit", "gpt"}}, {"model.stages", {"cnn", "resnet"}},
        {"model.batch_norm", {"cnn"}}, {"model.heads", {"vit", "gpt"}}, {"model.fused_attention", {"vit", "gpt"}},
        {"model.patch", {"vit"}}, {"model.pooling", {"vit"}}, {"model.tied_head", {"gpt"}},
        {"model.checkpointing", {"cnn", "resnet", "vit", "gpt", "layers"}},
        {"model.activation", {"mlp", "cnn", "resnet", "vit", "gpt"}}, {"model.dropout", {"mlp", "cnn", "vit", "gpt"}}};
    for (const Use& row : uses) {
        const bool isUsed = std::find(row.kinds.begin(), row.kinds.end(), kind) != row.kinds.end();
        use(row.path, isUsed,
            kind == "layers" ? tr("No effect: the file lists this model's layers.")
                             : tr("No effect on a model of the kind %1.").arg(QString::fromStdString(kind)));
    }
}

} // namespace mantissa
