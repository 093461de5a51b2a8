/// On what a person can choose to train.
#pragma once

#include <QString>

#include <vector>

namespace mantissa {

struct DeviceChoice
{
    QString device; ///< "cpu", as settings and --device name it
    QString tip; ///< what it is, and how it computes 16 bits; or why it is not available
    bool isAvailable = true;
};

/// In the present language.
std::vector<DeviceChoice> deviceChoices();

} // namespace mantissa
