#include "ui/views/device_choice.h"

#include "engine/backends/device_info.h"
#include "ui/language/language.h"

#include <QCoreApplication>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

QString nameOf(FormatSupport support)
{
    return support == FormatSupport::Native ? tr("native") : tr("emulated");
}

} // namespace

std::vector<DeviceChoice> deviceChoices()
{
    std::vector<DeviceChoice> choices;
    for (const DeviceInfo& device : listDevices()) {
        const QString about = device.available.ok
            ? tr("FP16 %1, BF16 %2").arg(nameOf(device.fp16), nameOf(device.bf16))
            : tr("Not available: %1").arg(inPresentLanguage(QString::fromStdString(device.available.reason)));
        choices.push_back({QString::fromStdString(device.backend),
            QString::fromStdString(device.name) + QLatin1Char('\n') + about, device.available.ok});
    }
    return choices;
}

} // namespace mantissa
