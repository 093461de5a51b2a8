/// One row of the setup panel. Private to it.
#pragma once

#include "ui/views/setup_panel.h"

#include <functional>
#include <optional>

class QLabel;

namespace mantissa {

struct SetupPanel::Field
{
    std::string path;
    QString tip;
    QWidget* control = nullptr; ///< what is focused and disabled
    QLabel* label = nullptr;
    std::function<void(const nlohmann::json&)> fill;
    std::function<std::optional<nlohmann::json>()> read; ///< no value: what is typed makes no sense yet
    nlohmann::json shown; ///< the value filled in
    bool isShared = true; ///< all lanes have it
    bool isTouched = false; ///< a person changed it
};

} // namespace mantissa
